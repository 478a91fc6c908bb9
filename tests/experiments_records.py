"""Experiments that are made up: every role and order, as `shown`."""

from __future__ import annotations

from typing import Any

from lockstep import spec
from lockstep.certificate.statement import experiments_subjects
from lockstep.certificate.statement import statement as wrap
from lockstep.claims.sampling_experiments import digest, predicate
from lockstep.sampling.experiments import Distances, Experiments, Series
from lockstep.sampling.parameters import resolve

PRODUCER = dict.fromkeys(("name", "version", "python", "machine", "command"), "test")
_LOW, _HIGH = (1, 2, 3, 4, 5), (10, 20, 30, 40, 50)
_LADDER = {"honest": 0, "int8": 1, "int4": 2, "smaller": 3}


def series(positions: int = 10) -> list[Series]:
    return [
        Series(
            one["experiment"], one["role"], "made up",
            None if one["experiment"] == 6 else resolve("1", 20),
            tuple(one["wanted"] == "some" and at % 3 == 0 for at in range(positions)),
        )
        for one in spec.load("sampling-experiments.json")["roles"]
    ]  # fmt: skip


def distances() -> list[Distances]:
    found: dict[tuple[int, str, str], tuple[int, ...]] = {}
    for one in spec.load("sampling-experiments.json")["orders"]:
        number, measure = one["experiment"], one["measure"]
        for rank, role in enumerate((one["left"], one["right"])):
            step = _LADDER.get(role, rank) if number == 5 else int(role[-1:].isdigit() and role[-1])
            values = tuple(value + 100 * step for value in _LOW)
            if number == 4:
                values = _HIGH if rank and measure != "sampled" else _LOW
            found[number, role, measure] = values
    return [Distances(number, role, measure, "made up", values)
            for (number, role, measure), values in found.items()]  # fmt: skip


def experiments(
    given: list[Series] | None = None, measured: list[Distances] | None = None
) -> Experiments:
    return Experiments(
        "ab" * 32,
        "float32",
        256,
        tuple(series() if given is None else given),
        tuple(distances() if measured is None else measured),
    )


def statement(seen: Experiments | None = None) -> dict[str, Any]:
    folded = predicate(seen or experiments(), issued_at="2026-11-30T00:00:00Z", producer=PRODUCER)
    return wrap("sampling-experiments", experiments_subjects(folded, digest(folded)), folded)
