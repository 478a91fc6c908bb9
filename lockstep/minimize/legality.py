"""Whether a case of steps is legal, by the rules alone [FIND-6].

What an engine under a mutation does is no measure of what may be asked of it. So the rules are
held against a case here, without a model, in a process that no mutation is installed in.
"""

from __future__ import annotations

from collections import Counter

from lockstep import spec
from lockstep.engine.ledger import Ledger
from lockstep.errors import LockstepError
from lockstep.fuzz.case import Case
from lockstep.lifecycle import Machine, claims
from lockstep.minimize.dimensions import steps_of
from lockstep.schedule.schedule import Schedule, parse_schedule, require_fit
from lockstep.schedule.simulate import END, MODEL

NEVER_FITTING = "never_fitting_accepted"
"""The weakening that leaves out [SCHED-11] too."""


class Rules:
    """The rules that cases of one finding are held against.

    Args:
        mutation: the operator under which the finding was made. Where the spec has a weakening
            of this name that breaks `no_deadlock` [LIFE-21], the weakened rules are the ones.

    Attributes:
        weakening: the weakening in force; empty for the rules as they stand.
    """

    def __init__(self, mutation: str | None = None) -> None:
        weakenings = spec.load("lifecycle.json")["weakenings"]
        names = {entry["name"] for entry in weakenings if entry["breaks"] == "no_deadlock"}
        self.weakening = mutation if mutation in names else ""
        self.machine = Machine(weakened=frozenset(filter(None, [self.weakening])))

    def refusal(self, case: Case) -> str:
        """Give the code by which the rules refuse a case, empty where it is legal."""
        return self._follow(case)[0]

    def stuck(self, case: Case) -> bool:
        """Whether a legal case ends where nothing but a preemption can happen [LIFE-19]."""
        code, ledger = self._follow(case)
        return not code and ledger is not None and claims.stuck(self.machine, ledger.state)

    def _follow(self, case: Case) -> tuple[str, Ledger | None]:
        schedule = Schedule(case.pool, steps_of(case))
        ledger = _Ledger(case.pool, MODEL, frozenset({END}), self.machine)
        try:
            parse_schedule(schedule.document())
            if self.weakening != NEVER_FITTING:
                require_fit(case.workload, case.pool)
            _require_arrivals(case, schedule)
            _run(case, schedule, ledger)
        except LockstepError as fault:
            return fault.code, None
        return "", ledger


class _Ledger(Ledger):
    """A ledger that is not held against the invariant, which weakened rules break."""

    def check(self) -> None:
        """Look at nothing."""


def _require_arrivals(case: Case, schedule: Schedule) -> None:
    """Refuse an action of a request that there is not, or not yet [SCHED-13]."""
    arrivals = {request.id: request.arrival for request in case.workload.requests}
    for step, actions in enumerate(schedule.steps):
        for index, action in enumerate(actions):
            where = f"/steps/{step}/{index}"
            if action.request not in arrivals:
                raise LockstepError("REQUEST_UNKNOWN", where, "a request", action.request)
            if arrivals[action.request] > step:
                raise LockstepError("NOT_ARRIVED", where, "an arrival", f"step {step}")


def _run(case: Case, schedule: Schedule, ledger: Ledger) -> None:
    """Take all actions with stand-in tokens, then empty steps until all have arrived."""
    ends, emitted = _ends(schedule), 0
    submission = list(case.workload.submission)
    for step, actions in enumerate((*schedule.steps, ())):
        # After the last step nothing happens any more but that the others arrive.
        while submission and (submission[0].arrival <= step or step == len(schedule.steps)):
            ledger.submit(submission.pop(0))
        for index, action in enumerate(actions):
            ledger.apply(action, f"/steps/{step}/{index}")
        tokens = []
        for work in ledger.work:
            if work.emits:
                emitted += 1
                outputs = ledger.state.requests[work.number].outputs
                ended = ends.get(ledger.request(work.number).id) == outputs
                tokens.append(END if ended else END + emitted)
        ledger.complete(tokens)


def _ends(schedule: Schedule) -> dict[str, int]:
    """Give the tokens that each request has emitted at its first finish [SCHED-19]."""
    emitted: Counter[str] = Counter()
    ends: dict[str, int] = {}
    for actions in schedule.steps:
        for action in actions:
            emitted[action.request] += action.event == "decode"
            if action.event == "finish":
                ends.setdefault(action.request, emitted[action.request])
    return ends
