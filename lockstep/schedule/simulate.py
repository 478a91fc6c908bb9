"""Schedules without a model: the engine's bookkeeping under stand-in tokens [SCHED-19]."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from lockstep.engine.events import Event
from lockstep.engine.ledger import Ledger
from lockstep.engine.view import LedgerView
from lockstep.errors import LockstepError
from lockstep.lifecycle import Pool, relation
from lockstep.lifecycle.relation import observed_n_grams
from lockstep.limits import SCHEDULE_STEPS, TOKEN_ID
from lockstep.schedule.document import place
from lockstep.schedule.policy import Policy, take_step
from lockstep.schedule.schedule import (
    Action,
    Schedule,
    require_complete,
    require_fit,
    require_requests,
)
from lockstep.schedule.workload import Workload

END = TOKEN_ID + 1
"""The stand-in for an end of sequence; those of other tokens lie above it."""

MODEL = b"stand-in"
"""What prefix hashes begin with in the place of a model's digest."""


class Simulation(LedgerView):
    """A run whose tokens are stand-ins, and the view that a policy has of it.

    Args:
        workload: all requests.
        pool: the pool's constants.
        ends: of requests that end early, the number of tokens at which they do.
        source: names the schedule in errors.

    Attributes:
        workload: as given.
        events: what took effect so far.

    Raises:
        LockstepError: REQUEST_NEVER_FITS.
    """

    def __init__(
        self,
        workload: Workload,
        pool: Pool,
        ends: Mapping[str, int] | None = None,
        source: str = "",
    ) -> None:
        require_fit(workload, pool, source)
        super().__init__(Ledger(pool, MODEL, frozenset({END})), workload)
        self.events: list[Event] = []
        self._ends = {} if ends is None else ends
        self._source = source
        self._emitted = 0
        self._step_begins = 0
        self._submit()

    def act(self, action: Action) -> Event:
        """Let an action of the open step take effect; errors as `Ledger.apply`, at its place."""
        pointer = f"/steps/{self.step}/{len(self.events) - self._step_begins}"
        event = self._ledger.apply(action, place(self._source, pointer))
        self.events.append(event)
        return event

    def end_step(self) -> None:
        """End the open step: its decodes emit stand-ins, and the next requests arrive."""
        emitting = [work.number for work in self._ledger.work if work.emits]
        self._ledger.complete([self._stand_in(number) for number in emitting])
        self._step_begins = len(self.events)
        self._submit()

    def logs(self) -> dict[str, tuple[str, ...]]:
        """Give each request's events by name, in the order in which they took effect."""
        logs: dict[str, list[str]] = {request.id: [] for request in self.workload.requests}
        for event in self.events:
            logs[event.request].append(event.event)
        return {name: tuple(events) for name, events in logs.items()}

    @property
    def counts(self) -> dict[str, int]:
        """The events that took effect, by name in the relation's order."""
        counts = Counter(event.event for event in self.events)
        return {name: counts[name] for name in relation().events}

    def n_grams(self, n: int) -> Counter[tuple[str, ...]]:
        """Count the n-grams of events that the requests show [LIFE-3]."""
        return sum((observed_n_grams(log, n) for log in self.logs().values()), Counter())

    def _stand_in(self, number: int) -> int:
        """Give a token that no vocabulary and no other emission has, or the end of sequence."""
        self._emitted += 1
        outputs = self.state.requests[number].outputs
        ends = self._ends.get(self.request(number).id) == outputs
        return END if ends else END + self._emitted

    def _submit(self) -> None:
        for request in self.arriving:
            if request.arrival == self.step:
                self._ledger.submit(request)


@dataclass(frozen=True)
class Simulated:
    """A schedule and the events that it brought about."""

    schedule: Schedule
    run: Simulation


def simulate(
    workload: Workload, pool: Pool, policy: Policy, ends: Mapping[str, int] | None = None
) -> Simulated:
    """Let a policy make the schedule of a workload, without a model.

    Args:
        workload: all requests.
        pool: the pool's constants.
        policy: a fresh one.
        ends: of requests that end early, the number of tokens at which they do.

    Raises:
        LockstepError: REQUEST_NEVER_FITS; POLICY_STUCK; LIMIT_SIZE, the policy goes on for more
            steps than a schedule may have; an action that is not legal, at `/steps/S/A`.
    """
    run = Simulation(workload, pool, ends)
    steps: list[tuple[Action, ...]] = []
    while run.unfinished:
        if len(steps) == SCHEDULE_STEPS:
            raise LockstepError("LIMIT_SIZE", "/steps", f"at most {SCHEDULE_STEPS} steps")
        steps.append(take_step(policy, run, run.act))
        run.end_step()
    return Simulated(Schedule(pool, tuple(steps)), run)


def check(
    workload: Workload, schedule: Schedule, *, partial: bool = False, source: str = ""
) -> Simulation:
    """Hold a schedule against the rules, without a model [SCHED-19].

    Args:
        workload: all requests.
        schedule: what happens in each step.
        partial: whether requests may be left unfinished.
        source: names the schedule in errors.

    Raises:
        LockstepError: REQUEST_NEVER_FITS, REQUEST_UNKNOWN, NOT_ARRIVED; STEP_ORDER, REQUEST_ENDED,
            REQUEST_NOT_ENDED, PREFIX_NOT_HELD or EVENT_NOT_ALLOWED at `/steps/S/A`;
            SCHEDULE_UNFINISHED.
    """
    require_requests(schedule, workload, source)
    run = Simulation(workload, schedule.pool, _ends(schedule), source)
    for actions in schedule.steps:
        for action in actions:
            run.act(action)
        run.end_step()
    if not partial:
        require_complete(schedule, workload, source)
    return run


def _ends(schedule: Schedule) -> dict[str, int]:
    """Give the tokens that each request has emitted at its finish."""
    emitted: Counter[str] = Counter()
    ends: dict[str, int] = {}
    for actions in schedule.steps:
        for action in actions:
            emitted[action.request] += action.event == "decode"
            if action.event == "finish":
                ends.setdefault(action.request, emitted[action.request])
    return ends
