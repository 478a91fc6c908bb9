"""Experiments 4, 5 and 9: distances of computations, and what trying seeds costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from lockstep import spec
from lockstep.engine.opening import open_model
from lockstep.sampling.categorical import draw
from lockstep.sampling.distance import Measures, Values, measure, values
from lockstep.sampling.experiments import Distances
from lockstep.sampling.forced import Text, forced
from lockstep.sampling.ladder import ALONE, HONEST, Ladder, Signed, observe, sampled, support_of
from lockstep.sampling.parameters import Parameters
from lockstep.sampling.recast import recast
from lockstep.sampling.seed import Origin, derive_seed

RUNGS = {4: ("other_model",), 5: ("int8", "int4", "smaller")}
"""The rungs of an experiment, beside the honest ones."""
MEASURES = {4: (*Measures._fields, "sampled"), 5: ("mae", "kl")}
BEGINNINGS = (1, 2, 3)

_UNIT = 10**12
_FEW = Parameters("1", 8)
"""Of experiment 9: few tokens, so that few seeds are enough."""


def laddered(folder: Path, scratch: Path) -> Iterator[Distances]:
    """Measure how far honest computations, fewer bits and other models are from a reference."""
    ladder = observe(folder, scratch, lambda what, done, whole: None)
    measured = {one.rung.name: _measured(ladder, one) for one in ladder.rungs}
    honest = [one.rung.name for one in ladder.rungs[:HONEST]]
    for experiment, rungs in RUNGS.items():
        for role, names in (("honest", honest), *((name, [name]) for name in rungs)):
            for measured_by in MEASURES[experiment]:
                found = tuple(value for name in names for value in measured[name][measured_by])
                yield Distances(experiment, role, measured_by, ", ".join(names), found)


def _measured(ladder: Ladder, rung: Signed) -> dict[str, list[int]]:
    """Give what a rung is measured to be at each token, by measure."""
    found: dict[str, list[int]] = {name: [] for name in MEASURES[4]}
    for text, own, rows in zip(ladder.texts, rung.supports, ladder.recomputed, strict=True):
        for token, pairs, row in zip(text.tokens, own, rows, strict=True):
            signed, recomputed = values(pairs), values(row)
            for name, value in measure(signed, recomputed)._asdict().items():
                found[name].append(value)
            found["sampled"].append(_at(str(token), signed, recomputed))
    return found


def _at(token: str, signed: Values, recomputed: Values) -> int:
    """Give the difference at one token, in 10^-12 nat; what was not signed as [DIST-2] says."""
    real = recomputed[token]
    stated = signed.get(token, min(real, *signed.values()))
    return abs(stated - real) // _UNIT


def grinding(folder: Path, scratch: Path, trials: int) -> Iterator[Distances]:
    """Count the seeds that are tried until a stream gives what fewer bits have drawn.

    Args:
        folder: of the model whose log-probabilities are signed, at the tokens of its 4 bits.
        scratch: a folder for these.
        trials: beginnings of each length.
    """
    model = open_model(folder).model
    other = open_model(recast(folder, scratch / "cheap", "int4")).model
    longest = max(BEGINNINGS)
    texts = sampled(other, _FEW, trials, longest)
    signed = forced(model, texts, ALONE)
    weights = [[support_of(row, _FEW).weights(_FEW) for row in own] for own in signed]
    for length in BEGINNINGS:
        found = tuple(
            _attempts(text, own[:length]) for text, own in zip(texts, weights, strict=True)
        )
        of = f"beginnings of {length} tokens that 4 bits have drawn"
        yield Distances(9, f"attempts_{length}", "attempts", of, found)


def _attempts(text: Text, weights: Sequence[dict[str, int]]) -> int:
    """Count seeds, from 0, up to and with the first that gives a beginning [EXP-9]."""
    wanted = [str(token) for token in text.tokens[: len(weights)]]
    most: int = spec.load("sampling-experiments.json")["attempts_most"]
    # No seed gives a token of weight 0.
    if not all(own.get(token) for own, token in zip(weights, wanted, strict=True)):
        return most
    for tried in range(most):
        origin = Origin(tried, text.id)
        if all(
            draw(own, derive_seed(origin, 0, at)) == token
            for at, (own, token) in enumerate(zip(weights, wanted, strict=True))
        ):
            return tried + 1
    return most
