"""Where a line may be drawn on a ladder, and which rungs lie beyond it (DIST-16 to 18)."""

from collections.abc import Sequence
from typing import NamedTuple

from lockstep_verify.derive.distance_measures import GATES, beyond

_LARGEST = (1 << 53) - 1
_POSITIONS_LEAST = 32
_TEXTS_LEAST = 4

Statistics = Sequence[Sequence[int]]
"""Of one rung: for each text, its statistic at each gate."""


class Placement(NamedTuple):
    """What follows if so many rungs are accepted [DIST-16].

    Attributes:
        accepts: how many, from the first.
        thresholds: for each gate.
        outcomes: of the rungs, in order.
        held_out_beyond: pairs of an accepted rung and a text that was held out and is beyond.
    """

    accepts: int
    thresholds: list[int]
    outcomes: list[str]
    held_out_beyond: int


def place(rungs: Sequence[Statistics], accepts: int) -> Placement:
    """Give the placement of rungs, of which the first so many are accepted."""
    calibrating = [text for rung in rungs[:accepts] for text in rung[::2]]
    thresholds = [
        min(_LARGEST, (margin * max(text[gate] for text in calibrating) + 999) // 1000)
        for gate, (_, _, margin) in enumerate(GATES)
    ]
    outcomes = []
    held_out_beyond = 0
    for index, rung in enumerate(rungs):
        texts = rung[1::2] if index < accepts else rung
        outside = sum(beyond(text, thresholds) for text in texts)
        if index < accepts:
            held_out_beyond += outside
            outcomes.append("not_held" if outside else "held")
        elif outside == len(texts):
            outcomes.append("separated")
        else:
            outcomes.append("overlapping" if outside else "not_separated")
    return Placement(accepts, thresholds, outcomes, held_out_beyond)


def verdict(lengths: Sequence[int], chosen: Placement) -> str:
    """Give the verdict on texts of such lengths [DIST-18]."""
    if len(lengths) < _TEXTS_LEAST or min(lengths) < _POSITIONS_LEAST:
        return "not_decided"
    accepted, others = chosen.outcomes[: chosen.accepts], chosen.outcomes[chosen.accepts :]
    told_apart = set(accepted) == {"held"} and set(others) == {"separated"}
    return "separated" if told_apart else "overlapping"
