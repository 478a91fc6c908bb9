"""Running a case and telling what is wrong with it, a policy's steps recorded [FIND-7]."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lockstep.engine.opening import open_model
from lockstep.engine.tiny import TinyModel
from lockstep.fuzz.case import Driven, parse_case
from lockstep.fuzz.failure import Failure
from lockstep.fuzz.judge import Examined, examine
from lockstep.minimize.worker import TOKEN_DEPENDENT, Engine, Shown
from lockstep.replay.observe import stated_model
from lockstep.schedule.policy import Policy, View
from lockstep.schedule.schedule import Action


class Subject:
    """The model of a process.

    Args:
        engine: what it is opened by.

    Raises:
        LockstepError: as `open_model`.
    """

    def __init__(self, engine: Engine) -> None:
        recipe = TinyModel() if engine.recipe is None else TinyModel(**engine.recipe)
        source = recipe if engine.folder is None else Path(engine.folder)
        self._opened = open_model(source, engine.backend, engine.dtype)

    def stated(self) -> dict[str, Any]:
        """Give what a certificate says of model and environment."""
        return {"model": stated_model(self._opened), "environment": self._opened.environment()}

    def show(self, document: dict[str, Any]) -> Shown:
        """Run the case of a document, and judge it.

        A case of steps is legal, which was looked at before; so an action that the engine refuses
        is a failure, save where that depends on the tokens that the model emits.

        Raises:
            LockstepError: as `parse_case` and `lockstep.fuzz.judge.judge`.
        """
        case = parse_case(document)
        recorded: list[list[Action]] = []
        if isinstance(case.by, Driven):
            case = replace(case, by=_Recorded(**vars(case.by), steps=recorded))
        examined = examine(self._opened.model, case)
        failure = examined.failure
        if isinstance(case.by, Driven):
            case = replace(case, by=tuple(map(tuple, _done(examined, recorded))))
        elif failure is None:
            failure = _refused(examined)
        run = examined.first.run
        return Shown(
            None if failure is None else failure.document(),
            "" if run is None else run.trajectory.sha256,
            case.document(),
        )


def _refused(examined: Examined) -> Failure | None:
    code = examined.first.refused
    if not code or code in TOKEN_DEPENDENT:
        return None
    where = f"/steps/{len(examined.first.steps)}"
    return Failure("refused", code, "refusal", where, "a legal action")


def _done(examined: Examined, recorded: list[list[Action]]) -> list[list[Action]]:
    """Give the steps of the first run, with those actions of the open one that were given."""
    ended = [list(step) for step in examined.first.steps]
    rest = recorded[len(ended) : len(ended) + 1]
    return ended + [step for step in rest if step]


@dataclass(frozen=True)
class _Recorded(Driven):
    """A policy whose first run is recorded."""

    steps: list[list[Action]] = field(default_factory=list, compare=False)

    def policy(self) -> Policy:
        """Give a fresh policy; the first one notes what it gives."""
        policy = super().policy()
        return policy if self.steps else _Recorder(policy, self.steps)


class _Recorder:
    """Notes the actions that a policy gives, step by step."""

    def __init__(self, policy: Policy, steps: list[list[Action]]) -> None:
        self._policy = policy
        self._steps = steps
        self._steps.append([])

    def next_action(self, view: View) -> Action | None:
        """Give the policy's next action."""
        action = self._policy.next_action(view)
        if action is None:
            self._steps.append([])
        else:
            self._steps[-1].append(action)
        return action
