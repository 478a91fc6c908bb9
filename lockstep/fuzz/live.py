"""Running a case once, as far as it goes, and what ends a run before its time [FUZZ-6]."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from lockstep.engine.execute import Execution
from lockstep.engine.model import Model
from lockstep.engine.run import Run
from lockstep.errors import LockstepError
from lockstep.fuzz.case import Case, Driven
from lockstep.fuzz.failure import Failure
from lockstep.lifecycle import claims
from lockstep.lifecycle.state import ceil_div
from lockstep.limits import FUZZ_STEPS
from lockstep.schedule.policy import take_step
from lockstep.schedule.schedule import Action, Schedule, require_requests

LACKS = (
    "LIBRARY_MISSING",
    "DEVICE_MISSING",
    "MEMORY_SHORT",
    "SEQUENCE_TOO_LONG",
    "TOKEN_OUT_OF_RANGE",
)
"""Refusals that say that a case cannot be run with this model or on this machine."""

SCHEDULE_ILLEGAL = (
    "REQUEST_NEVER_FITS",
    "REQUEST_UNKNOWN",
    "NOT_ARRIVED",
    "STEP_ORDER",
    "REQUEST_ENDED",
    "REQUEST_NOT_ENDED",
    "PREFIX_NOT_HELD",
    "EVENT_NOT_ALLOWED",
)
"""Refusals that a schedule may deserve, but not a policy, which asks for what is legal alone."""


@dataclass
class Lived:
    """A run as far as it went.

    Attributes:
        steps: what was done in each step that ended.
        failure: what ended the run before its time, None where nothing did.
        refused: the code by which the engine rightly refused the case, or an action of its own
            steps that is not legal where it stands; empty where it did not.
        run: what has come of it; None where nothing began.
    """

    steps: list[tuple[Action, ...]] = field(default_factory=list)
    failure: Failure | None = None
    refused: str = ""
    run: Run | None = None


def live(model: Model, case: Case) -> Lived:
    """Run a case once, as far as it goes."""
    lived = Lived()
    executions: list[Execution] = []
    with _faults(lived, case):
        execution = Execution(model, case.workload, case.pool)
        executions.append(execution)
        schedule = case.schedule
        if isinstance(case.by, Driven):
            _drive(execution, case.by, lived)
        elif schedule is not None:
            _follow(execution, schedule, lived)
        if lived.failure is None:
            lived.failure = _stuck(execution)
    if executions:
        lived.run = executions[0].run()
    return lived


def _drive(execution: Execution, driven: Driven, lived: Lived) -> None:
    """Let a policy take steps until every request is finished."""
    policy = driven.policy()
    while execution.unfinished:
        if len(lived.steps) == FUZZ_STEPS:
            left = ", ".join(execution.unfinished)
            where = f"/steps/{FUZZ_STEPS}"
            lived.failure = Failure("starved", "", "steps", where, f"unfinished: {left}")
            return
        try:
            lived.steps.append(take_step(policy, execution.view, execution.act))
        except LockstepError as fault:
            if fault.code != "POLICY_STUCK":
                raise
            lived.failure = _stuck(execution) or Failure(
                "stuck", "POLICY_STUCK", "policy", fault.pointer, str(fault.got)
            )
            return
        execution.end_step()


def _follow(execution: Execution, schedule: Schedule, lived: Lived) -> None:
    """Take the steps of a schedule, and then empty ones until every request has arrived."""
    require_requests(schedule, execution.workload)
    for actions in schedule.steps:
        for action in actions:
            execution.act(action)
        execution.end_step()
        lived.steps.append(actions)
    while execution.view.arriving:
        execution.end_step()
        lived.steps.append(())


def _stuck(execution: Execution) -> Failure | None:
    """Give the failure of a state in which nothing but a preemption can happen [LIFE-19]."""
    ledger = execution.ledger
    if execution.view.arriving or not claims.stuck(ledger.machine, ledger.state):
        return None
    left = ", ".join(execution.unfinished)
    return Failure(
        "stuck", "POLICY_STUCK", "machine", f"/steps/{ledger.step}", f"unfinished: {left}"
    )


@contextmanager
def _faults(lived: Lived, case: Case) -> Iterator[None]:
    """Note what an engine refuses or stumbles over; that a request never fits is no failure."""
    try:
        yield
    except LockstepError as fault:
        if fault.code in LACKS:
            raise
        never_fits = fault.code == "REQUEST_NEVER_FITS" and not fits(case) and not lived.steps
        if never_fits or (not isinstance(case.by, Driven) and fault.code in SCHEDULE_ILLEGAL):
            lived.refused = fault.code
            return
        lived.failure = Failure("refused", fault.code, "refusal", fault.pointer, str(fault))
    except (ArithmeticError, AssertionError, LookupError, TypeError, ValueError) as fault:
        # A mutated engine stumbles in ways of its own; the run ends, the campaign does not.
        where = f"/steps/{len(lived.steps)}"
        lived.failure = Failure("refused", type(fault).__name__, "fault", where, str(fault))


def fits(case: Case) -> bool:
    """Whether the pool holds each request's need [LIFE-6], so that none may be refused for it."""
    return all(
        ceil_div(len(request.prompt) + request.max_new, case.pool.block_size) <= case.pool.blocks
        for request in case.workload.requests
    )
