"""Running a case and judging what came of it: six kinds of failures, the first that shows [FUZZ-6].

Every judgement is about the engine against itself: its rules, its other runs, and the request
alone. None asks what the right tokens are.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from lockstep.engine.execute import Execution, Observer, StepView
from lockstep.engine.model import Model
from lockstep.engine.run import Output, Run
from lockstep.engine.trajectory import first_difference
from lockstep.errors import LockstepError
from lockstep.fuzz.case import Case, Driven
from lockstep.fuzz.failure import Failure, Kind
from lockstep.lifecycle import Pool, claims, relation
from lockstep.lifecycle.state import ceil_div
from lockstep.limits import FUZZ_STEPS
from lockstep.schedule.policies import CANONICAL
from lockstep.schedule.policy import take_step
from lockstep.schedule.schedule import Action, Schedule, require_requests
from lockstep.schedule.workload import Request, Workload

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


@dataclass(frozen=True)
class Examined:
    """A case's runs and what is wrong in them.

    Attributes:
        case: what was run.
        failure: the first failure, None where nothing is wrong.
        first: the run that coverage is taken from.
        views: the steps of the first run, as an observer saw them.
        twice_equal: whether the second run was like the first; None where it was not made.
        alone_equal: whether outputs were those of the requests alone; None where nothing ran, or
            where it was not compared to the end.
    """

    case: Case
    failure: Failure | None
    first: Lived
    views: tuple[StepView, ...]
    twice_equal: bool | None
    alone_equal: bool | None

    @property
    def schedule(self) -> Schedule:
        """The steps that the first run took."""
        return Schedule(self.case.pool, tuple(self.first.steps))


class _Watch:
    """Keeps the steps of an execution."""

    def __init__(self) -> None:
        self.views: list[StepView] = []

    def after_step(self, view: StepView) -> None:
        self.views.append(view)


def judge(model: Model, case: Case) -> Failure | None:
    """Give the first failure of a case, None where it shows nothing wrong.

    Of a case of steps an action that is not legal where it stands ends the run, and what came
    before is judged; it is no failure by itself.

    Raises:
        LockstepError: one of `LACKS`: the case cannot be run here.
    """
    return examine(model, case).failure


def examine(model: Model, case: Case) -> Examined:
    """Run a case twice, and its requests alone, and judge them; errors as `judge`."""
    watch = _Watch()
    first = live(model, case, watch)
    failure, twice, by_itself = first.failure, None, None
    if failure is None:
        failure = _illegal(first)
    if failure is None and first.run is not None:
        failure = _again(first, live(model, case))
        twice = failure is None
        if failure is None:
            failure = _alone(model, case, first.run)
            differs = failure is not None and failure.kind == "differs_alone"
            by_itself = None if failure is not None and not differs else not differs
    return Examined(case, failure, first, tuple(watch.views), twice, by_itself)


def live(model: Model, case: Case, observer: Observer | None = None) -> Lived:
    """Run a case once, as far as it goes."""
    lived = Lived()
    executions: list[Execution] = []
    with _faults(lived, case):
        execution = Execution(model, case.workload, case.pool, observer)
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


def alone(model: Model, request: Request, block_size: int) -> tuple[Output | None, Failure | None]:
    """Give a request's reference C(r) [SCHED-21], or what went wrong with it."""
    by_itself = replace(request, arrival=0)
    blocks = ceil_div(len(request.prompt) + request.max_new, block_size)
    case = Case(Workload((by_itself,)), Pool(blocks, block_size), Driven(settings=CANONICAL))
    lived = live(model, case)
    if lived.failure is not None or lived.run is None:
        return None, lived.failure
    return lived.run.outputs[request.id], None


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


def _illegal(lived: Lived) -> Failure | None:
    """Give the failure of a log that the relation does not have [LIFE-1]."""
    held = relation()
    for name, log in lived.run.logs().items() if lived.run else ():
        state = held.initial
        for place, event in enumerate(log):
            after = held.next_state(state, event)
            if after is None:
                told = f"{event} in {state}, event {place} of {name}"
                return Failure("illegal", "", "relation", f"/logs/{name}/{place}", told)
            state = after
    return None


def _again(first: Lived, second: Lived) -> Failure | None:
    """Compare two runs of one case, step by step, and then their outputs."""
    kind: Kind = "differs_again"
    if second.failure is not None:
        return Failure(kind, second.failure.code, second.failure.kind, second.failure.where)
    if first.run is None or second.run is None:
        return None
    difference = first_difference(first.run.trajectory, second.run.trajectory)
    if difference is not None:
        return Failure(kind, "", difference.part, f"/steps/{difference.step}")
    for place, (one, other) in enumerate(zip(first.steps, second.steps, strict=True)):
        if one != other:
            return Failure(kind, "", "schedule", f"/steps/{place}")
    if first.run.outputs != second.run.outputs:
        return Failure(kind, "", "outputs", "/outputs")
    return None


def _alone(model: Model, case: Case, run: Run) -> Failure | None:
    """Compare what each request has emitted with what it emits by itself."""
    for request in case.workload.requests:
        got = run.outputs[request.id]
        if not got.tokens and got.reason == "unfinished":
            continue
        expected, failure = alone(model, request, case.pool.block_size)
        if failure is not None:
            return replace(failure, where=f"/alone/{request.id}{failure.where}")
        if expected is not None and (difference := _first(request.id, expected, got)):
            return difference
    return None


def _first(name: str, expected: Output, got: Output) -> Failure | None:
    """Give the first place where a request's output is not that of the request alone."""
    sides = zip(
        expected.logit_digests, expected.tokens, got.logit_digests, got.tokens, strict=False
    )
    for place, (digest, token, other_digest, other_token) in enumerate(sides):
        where = f"/outputs/{name}/{place}"
        # Logits come first: a token that differs is what follows from them.
        if digest != other_digest:
            told = f"logits {digest[:16]} alone, {other_digest[:16]} here"
            return Failure("differs_alone", "", "logits", where, told)
        if token != other_token:
            told = f"token {token} alone, {other_token} here"
            return Failure("differs_alone", "", "tokens", where, told)
    ends = (expected.reason, len(expected.tokens)), (got.reason, len(got.tokens))
    finished = got.reason != "unfinished"
    if len(got.tokens) > len(expected.tokens) or (finished and ends[0] != ends[1]):
        told = f"{ends[0]} alone, {ends[1]} here"
        return Failure("differs_alone", "", "ending", f"/outputs/{name}", told)
    return None
