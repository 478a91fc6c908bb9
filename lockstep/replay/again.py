"""Executing again what a certificate says was executed [RPL-9]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lockstep.engine.environment import binding_of, not_comparable, plain
from lockstep.engine.execute import execute
from lockstep.engine.opening import Opened, open_stated
from lockstep.engine.record import parse_trajectory
from lockstep.engine.run import Run
from lockstep.engine.trajectory import Trajectory, first_difference
from lockstep.errors import LockstepError
from lockstep.replay.observe import stated_model
from lockstep.schedule.schedule import parse_schedule
from lockstep.schedule.workload import parse_workload


@dataclass(frozen=True)
class Again:
    """What came of executing again.

    Attributes:
        outcome: `same`, `differs` or `not_comparable`.
        steps: of the schedule.
        step: the first step that differs.
        part: the first of its parts that differs [ENG-18], or `outputs`.
        expected: the certificate's digest there.
        got: the digest here.
        reason: the settings that differ, where nothing was executed.
    """

    outcome: str
    steps: int
    step: int = 0
    part: str = ""
    expected: str = ""
    got: str = ""
    reason: str = ""


def replay(predicate: Mapping[str, Any], folder: Path | None = None) -> Again:
    """Execute what a predicate says was executed, if it is comparable here.

    Args:
        predicate: in the form of its schema.
        folder: where the model lies; None for one that has a recipe.

    Raises:
        LockstepError: as `open_stated` and `require_model`; what `execute` refuses.
    """
    resolved = {entry["name"]: entry["value"] for entry in predicate["environment"]["resolved"]}
    opened = open_stated(predicate["model"], resolved["backend"], resolved["dtype"], folder)
    require_model(predicate["model"], opened)
    stated = _trajectory(predicate)
    steps = len(stated.steps)
    here = {name: plain(value) for name, value in opened.model.backend.binding().items()}
    reason = not_comparable(binding_of(predicate["environment"]), here)
    if reason:
        return Again("not_comparable", steps, reason=reason)
    workload = parse_workload(predicate["workload"])
    schedule = parse_schedule(predicate["schedule"])
    run = execute(opened.model, workload, schedule)
    difference = first_difference(stated, run.trajectory)
    if difference is None:
        return _outputs(predicate, run, steps)
    expected, got = (_part(side, *difference) for side in (stated, run.trajectory))
    return Again("differs", steps, difference.step, difference.part, expected, got)


def require_model(stated: Mapping[str, Any], opened: Opened) -> None:
    """Compare what a certificate says of its model with the model that was opened [RPL-1].

    Raises:
        LockstepError: SUBJECT_MISMATCH, at the first member that differs.
    """
    for name, got in stated_model(opened).items():
        # A model that is read from a folder has no recipe, whatever it was made by.
        if name != "recipe" and stated[name] != got:
            raise LockstepError("SUBJECT_MISMATCH", f"/predicate/model/{name}", stated[name], got)


def _trajectory(predicate: Mapping[str, Any]) -> Trajectory:
    pool = predicate["schedule"]["pool"]
    return parse_trajectory({"pool": pool, "steps": predicate["trajectory"]["steps"]})


def _part(trajectory: Trajectory, step: int, part: str) -> str:
    if step >= len(trajectory.steps) or part not in trajectory.steps[step]._fields:
        return trajectory.sha256
    digest: bytes = getattr(trajectory.steps[step], part)
    return digest.hex()


def _outputs(predicate: Mapping[str, Any], run: Run, steps: int) -> Again:
    """Compare tokens and digests of outputs, which equal trajectories leave to be edited."""
    for output in predicate["outputs"]:
        mine = run.outputs.get(output["request"])
        stated = (tuple(output["tokens"]), tuple(output["logit_digests"]), output["reason"])
        if mine is None or stated != (mine.tokens, mine.logit_digests, mine.reason):
            expected = f"output of {output['request']}"
            return Again("differs", steps, steps - 1, "outputs", expected, "another output")
    return Again("same", steps)
