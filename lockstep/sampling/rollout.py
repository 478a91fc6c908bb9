"""What stands between a finding and acting on it [EXP-17]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from lockstep import spec


class Condition(NamedTuple):
    """A condition of acting on verdicts.

    Attributes:
        name: of the specification.
        blocks: whether it does not hold.
        found: what there is, in words.
    """

    name: str
    blocks: bool
    found: str


def conditions(
    experiments: Mapping[str, Any],
    calibration: Mapping[str, Any],
    positions_least: int,
    served: str | None,
) -> tuple[Condition, ...]:
    """Give each condition, in the order of the specification.

    Args:
        experiments: predicate of a certificate of kind `sampling-experiments`.
        calibration: of one of kind `distance-calibration`.
        positions_least: replayed positions that are demanded.
        served: the digest of the model that is served; None where nobody has named it.
    """
    rollout = spec.load("sampling-experiments.json")["rollout"]
    counts = experiments["counts"]
    wanted = rollout["experiments"]
    missed = [
        f"{one['experiment']} {one['outcome']}"
        for one in experiments["experiments"]
        if one["experiment"] in wanted and one["outcome"] != "shown"
    ]
    of_both = [one["model"]["sha256"] for one in (experiments, calibration)]
    others = sum(one != served for one in of_both)
    positions, differing = counts["replay_positions"], counts["replay_differing"]
    found = {
        "experiments_diverged": (
            experiments["verdict"] == "diverged", f"the experiments are {experiments['verdict']}",
        ),
        "replay_differing": (differing > 0, f"{differing} replayed positions differ"),
        "replay_positions_few": (
            positions < positions_least, f"{positions} positions replayed of {positions_least}",
        ),
        "experiment_not_shown": (
            bool(missed), ", ".join(missed) or "those that are wanted are shown",
        ),
        "calibration_not_separated": (
            calibration["verdict"] != "separated", f"the calibration is {calibration['verdict']}",
        ),
        "other_model": (
            served is None or others > 0,
            "the model that is served is not named" if served is None
            else f"{others} of {len(of_both)} certificates are of another model than is served",
        ),
    }  # fmt: skip
    return tuple(Condition(name, *found[name]) for name in rollout["conditions"])


def least() -> int:
    """Give the replayed positions that are demanded at least."""
    positions: int = spec.load("sampling-experiments.json")["rollout"]["positions_least"]
    return positions
