"""Judging a case: six kinds of failures, the first that shows [FUZZ-6].

Every judgement is about the engine against itself: its rules, its other runs, and the request
alone. None asks what the right tokens are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from lockstep.engine.model import Model
from lockstep.engine.run import Output, Run
from lockstep.engine.trajectory import first_difference
from lockstep.fuzz.case import Case, Driven
from lockstep.fuzz.failure import Failure, Kind
from lockstep.fuzz.live import Lived, live
from lockstep.lifecycle import Pool, relation
from lockstep.lifecycle.state import ceil_div
from lockstep.schedule.policies import CANONICAL
from lockstep.schedule.schedule import Schedule
from lockstep.schedule.workload import Request, Workload


@dataclass(frozen=True)
class Examined:
    """A case's runs and what is wrong in them.

    Attributes:
        case: what was run.
        failure: the first failure, None where nothing is wrong.
        first: the run that coverage is taken from.
        twice_equal: whether the second run was like the first; None where it was not made.
        alone_equal: whether outputs were those of the requests alone; None where nothing ran, or
            where it was not compared to the end.
    """

    case: Case
    failure: Failure | None
    first: Lived
    twice_equal: bool | None
    alone_equal: bool | None

    @property
    def schedule(self) -> Schedule:
        """The steps that the first run took."""
        return Schedule(self.case.pool, tuple(self.first.steps))


def judge(model: Model, case: Case) -> Failure | None:
    """Give the first failure of a case, None where it shows nothing wrong.

    Of a case of steps an action that is not legal where it stands ends the run, and what came
    before is judged; it is no failure by itself.

    Raises:
        LockstepError: one of `lockstep.fuzz.live.LACKS`: the case cannot be run here.
    """
    return examine(model, case).failure


def examine(model: Model, case: Case) -> Examined:
    """Run a case twice, and its requests alone, and judge them; errors as `judge`."""
    first = live(model, case)
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
    return Examined(case, failure, first, twice, by_itself)


def alone(model: Model, request: Request, block_size: int) -> tuple[Output | None, Failure | None]:
    """Give a request's reference C(r) [SCHED-21], or what went wrong with it."""
    by_itself = replace(request, arrival=0)
    blocks = ceil_div(len(request.prompt) + request.max_new, block_size)
    case = Case(Workload((by_itself,)), Pool(blocks, block_size), Driven(settings=CANONICAL))
    lived = live(model, case)
    if lived.failure is not None or lived.run is None:
        return None, lived.failure
    return lived.run.outputs[request.id], None


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
