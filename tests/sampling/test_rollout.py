"""What blocks acting on verdicts: each condition by itself, and none."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from lockstep import spec
from lockstep.sampling.rollout import conditions, least

MODEL = {"sha256": "ab" * 32}
SEEN: dict[str, Any] = {
    "model": MODEL,
    "verdict": "shown",
    "experiments": [{"experiment": number, "outcome": "shown"} for number in range(1, 10)],
    "counts": {"replay_positions": 100_000, "replay_differing": 0},
}
HELD: dict[str, Any] = {"model": MODEL, "verdict": "separated"}


def blocking(
    seen: dict[str, Any], held: dict[str, Any], served: str | None = MODEL["sha256"]
) -> list[str]:
    return [one.name for one in conditions(seen, held, 100_000, served) if one.blocks]


def test_nothing_blocks() -> None:
    assert least() == 100_000
    assert blocking(SEEN, HELD) == []
    names = [one.name for one in conditions(SEEN, HELD, 1, None)]
    assert names == spec.load("sampling-experiments.json")["rollout"]["conditions"]


@pytest.mark.parametrize(
    ("path", "value", "names"),
    [
        (("verdict",), "diverged", ["experiments_diverged"]),
        (("counts", "replay_differing"), 1, ["replay_differing"]),
        (("counts", "replay_positions"), 99_999, ["replay_positions_few"]),
        (("experiments", 3, "outcome"), "not_run", ["experiment_not_shown"]),
        (("experiments", 4, "outcome"), "not_run", []),
        (("model", "sha256"), "cd" * 32, ["other_model"]),
    ],
)
def test_each_condition_blocks(path: tuple[Any, ...], value: Any, names: list[str]) -> None:
    seen = deepcopy(SEEN)
    place: Any = seen
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    assert blocking(seen, HELD) == names


@pytest.mark.parametrize("served", [None, "cd" * 32])
def test_certificates_of_a_model_that_is_not_served_block(served: str | None) -> None:
    """Two certificates of one model say nothing of another one."""
    assert blocking(SEEN, HELD, served) == ["other_model"]
    assert blocking(SEEN, {**HELD, "model": {"sha256": "cd" * 32}}, served) == ["other_model"]


@pytest.mark.parametrize("verdict", ["overlapping", "not_decided"])
def test_a_calibration_that_separates_nothing_blocks(verdict: str) -> None:
    assert blocking(SEEN, {**HELD, "verdict": verdict}) == ["calibration_not_separated"]
