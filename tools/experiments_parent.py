"""Write a parent of the conformance vectors of kind sampling-experiments.

Usage: python tools/experiments_parent.py NAME > spec/cases/documents/NAME.json

NAME is sampling-experiments or sampling-experiments-diverged.

Nothing was sampled or computed: bits and numbers are made up, and folded by the claim of the kind.
The documents are reviewed and committed; they are made anew where the rules or the data of the kind
change.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from engine_parent import chosen, placed
from fault_parent import written
from server_parent import ISSUED_AT, PRODUCER

from lockstep import spec
from lockstep.sampling.experiments import Distances, Experiments, Series
from lockstep.sampling.parameters import Parameters

if TYPE_CHECKING:
    from collections.abc import Iterator

KIND = "sampling-experiments"
REPETITION = 6
NUCLEUS = Parameters("0.7", 20, "0.95", "0.05")
POSITIONS = (1, 4, 5, 16, 33, 40)
"""Lengths of series: with digits that are whole, and with bits to spare."""

LEVELS = {"honest": 1, "int8": 10, "int4": 100, "smaller": 1000, "other_model": 5000}
TRIALS = {"attempts_1": (1, 2, 65536), "attempts_2": (40, 3, 65536), "attempts_3": (65536, 300, 7)}
SPREAD = (7, 3, 9, 1, 5, 3)
"""Numbers of an entry, unordered and with two that are equal; their median is 3."""


def series() -> Iterator[Series]:
    """Give a series of each role, and of experiment 1 one more under other parameters."""
    for at, rule in enumerate(spec.load(f"{KIND}.json")["roles"]):
        number, role, some = rule["experiment"], rule["role"], rule["wanted"] == "some"
        positions = POSITIONS[at % len(POSITIONS)]
        bits = tuple(some and (i % 3 == 0 or i == positions - 1) for i in range(positions))
        parameters = None if number == REPETITION else Parameters("1")
        yield Series(number, role, "made up", parameters, bits)
        if number == 1:
            yield Series(number, role, "made up", NUCLEUS, (False,) * (4 + at))


def distances() -> Iterator[Distances]:
    """Give an entry of each role and measure, and of the honest ones of experiment 5 one more."""
    seen = set()
    for rule in spec.load(f"{KIND}.json")["orders"]:
        for side in ("left", "right"):
            number, role, measure = rule["experiment"], rule[side], rule["measure"]
            if (number, role, measure) in seen:
                continue
            seen.add((number, role, measure))
            values = TRIALS.get(role) or tuple(LEVELS[role] * one for one in SPREAD)
            if measure == "sampled":
                # At one token another model is as near as an honest computation.
                values = (*values, 1)
            yield Distances(number, role, measure, "made up", values)
            if (number, role) == (5, "honest"):
                yield Distances(number, role, measure, "another schedule", (0,))


def whole() -> Experiments:
    """Give experiments of which each is shown."""
    return Experiments("7" * 64, "float32", 256, tuple(series()), tuple(distances()))


def diverged() -> Experiments:
    """Give a replay that differs, an order that does not hold, and much that was not run."""
    one = Parameters("1")
    held = (
        Series(1, "replay", "texts", one, (False,) * 7),
        Series(8, "replay", "served", one, (False, False, True, False, True)),
        Series(3, "invariant", "shapes", one, (False,) * 3),
        Series(3, "other_shapes", "shapes", one, (False,) * 3),
    )
    tried = (
        Distances(9, "attempts_1", "attempts", "one", (4, 6)),
        Distances(9, "attempts_2", "attempts", "two", (4, 9)),
        Distances(9, "attempts_3", "attempts", "three", (5, 9)),
    )
    return Experiments("7" * 64, "float32", 256, held, tried)


MAKERS = {KIND: whole, f"{KIND}-diverged": diverged}


def document(name: str) -> dict[str, Any]:
    """Fold, and put placeholders where the vectors' builder fills in digests."""
    from lockstep.claims.sampling_experiments import predicate

    made = predicate(MAKERS[name](), issued_at=ISSUED_AT, producer=PRODUCER)
    return placed(KIND, made, ("spec", "model", "observations"))


if __name__ == "__main__":
    sys.stdout.write(written(document(chosen(MAKERS))) + "\n")
