"""Where a line may be drawn on a ladder, and what lies beyond it [DIST-16] to [DIST-18]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lockstep import spec
from lockstep.sampling.distance import MOST, beyond

Statistics = Sequence[Sequence[int]]
"""Of one rung: for each text the statistic of each gate."""


class Placement(NamedTuple):
    """What follows if the first rungs are accepted.

    Attributes:
        accepts: how many are.
        thresholds: of each gate.
        outcomes: of each rung.
        held_out_beyond: pairs of an accepted rung and a held-out text that are beyond.
    """

    accepts: int
    thresholds: tuple[int, ...]
    outcomes: tuple[str, ...]
    held_out_beyond: int


def placement(rungs: Sequence[Statistics], accepts: int) -> Placement:
    """Draw the line after so many rungs; texts at even places calibrate, the others are held out.

    Args:
        rungs: in order.
        accepts: 1 or more, and fewer than there are.
    """
    gates = spec.load("distance-calibration.json")["gates"]
    calibrating = [text for rung in rungs[:accepts] for text in rung[::2]]
    thresholds = tuple(
        min(MOST, -(-gate["margin_permille"] * max(found) // 1000))
        for gate, found in zip(gates, zip(*calibrating, strict=True), strict=True)
    )
    accepted = [_beyond(rung[1::2], thresholds) for rung in rungs[:accepts]]
    others = [(_beyond(rung, thresholds), len(rung)) for rung in rungs[accepts:]]
    outcomes = ["not_held" if count else "held" for count in accepted]
    for count, whole in others:
        partly = "overlapping" if count else "not_separated"
        outcomes.append("separated" if count == whole else partly)
    return Placement(accepts, thresholds, tuple(outcomes), sum(accepted))


def verdict(lengths: Sequence[int], chosen: Placement) -> str:
    """Give a calibration's verdict; too few texts, or too short ones, decide nothing [DIST-18].

    Args:
        lengths: tokens of each text.
        chosen: the placement that was chosen.
    """
    data = spec.load("distance-calibration.json")
    if len(lengths) < data["texts_least"] or min(lengths) < data["positions_least"]:
        return "not_decided"
    wanted = ["held"] * chosen.accepts
    wanted += ["separated"] * (len(chosen.outcomes) - chosen.accepts)
    return "separated" if list(chosen.outcomes) == wanted else "overlapping"


def _beyond(texts: Statistics, thresholds: Sequence[int]) -> int:
    return sum(beyond(text, thresholds) for text in texts)
