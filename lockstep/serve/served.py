"""One execution of a server: what arrives, its steps, and what each request is told of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from lockstep.certificate.write import write_file
from lockstep.engine.execute import StepView
from lockstep.engine.live import LiveExecution
from lockstep.engine.model import Model
from lockstep.engine.record import PARTIAL, WORKLOAD, write_run
from lockstep.lifecycle import Pool
from lockstep.limits import (
    EXECUTION_EVENTS,
    EXECUTION_EVENTS_MOST,
    EXECUTION_REQUESTS,
    EXECUTION_REQUESTS_MOST,
)
from lockstep.schedule.policy import take_step
from lockstep.schedule.schedule import Action, Schedule
from lockstep.schedule.workload import write_workload
from lockstep.serve.figures import Figures
from lockstep.serve.policy import Driving, Served
from lockstep.serve.scores import Row, score
from lockstep.serve.ticket import Scored, Ticket, Update

Updates = list[tuple[Ticket, Update]]


class ServedExecution:
    """An execution that a server's requests make, from its first one to its end [SERVE-2].

    Args:
        number: of the execution, from 1.
        model: what computes.
        pool: the pool's constants.
        driving: how it is driven.
        first: the request that it begins with.
        figures: where to count.
        recorded: whether its schedule is kept.

    Attributes:
        live: tickets of the requests that are not finished, by id.

    Raises:
        LockstepError: as `LiveExecution`.
    """

    def __init__(
        self,
        number: int,
        model: Model,
        pool: Pool,
        driving: Driving,
        first: Ticket,
        figures: Figures,
        recorded: bool,
    ) -> None:
        self.number = number
        self.live: dict[str, Ticket] = {}
        self._execution = LiveExecution(model, first.request, pool, self)
        self._policy = Served(driving, number)
        self._figures = figures
        self._driving = driving
        self._recorded = recorded
        self._steps: list[tuple[Action, ...]] = []
        self._open: list[Action] = []
        self._events = 0
        self._updates: Updates = []
        self._enter(first, 0)

    @property
    def idle(self) -> bool:
        """Whether every request is finished."""
        return not self.live

    @property
    def waiting(self) -> int:
        """Requests of the execution that wait for a reservation."""
        return len(self._execution.ledger.state.queue)

    @property
    def long(self) -> bool:
        """Whether a new execution is to begin at the next occasion [SERVE-7]."""
        requests = len(self._execution.workload.requests)
        return requests >= EXECUTION_REQUESTS or self._events >= EXECUTION_EVENTS

    @property
    def full(self) -> bool:
        """Whether nothing more may arrive [SERVE-7]."""
        requests = len(self._execution.workload.requests)
        return requests >= EXECUTION_REQUESTS_MOST or self._events >= EXECUTION_EVENTS_MOST

    @property
    def room(self) -> int:
        """How many requests may arrive with the open step [SERVE-4]."""
        view = self._execution.view
        states = view.state.requests
        if any(states[number].state == "QUEUED" for number in view.state.queue):
            return 0
        going = sum(not view.ended(number) for number in map(view.number, self.live)
                    if number is not None)  # fmt: skip
        return max(0, self._driving.max_batch - going)

    def arrive(self, ticket: Ticket) -> None:
        """Take a request in; errors as `LiveExecution.arrive`."""
        self._enter(ticket, self._execution.arrive(ticket.request))

    def step(self) -> Updates:
        """Take a step, and give what it told of whom.

        Raises:
            LockstepError: as `take_step` and `Execution.end_step`; the execution is broken then.
        """
        self._updates, self._open = [], []
        take_step(self._policy, self._execution.view, self._act)
        self._count_requests()
        self._execution.end_step()
        if self._recorded:
            self._steps.append(tuple(self._open))
        if self.idle:
            self._count_requests()
        return self._updates

    def after_step(self, view: StepView) -> None:
        """See a step: count it, and tell tickets what they wait for."""
        self._count_events(view)
        self._prompt_scores()
        emitting = [item for item in view.work if item.emits]
        tickets = [self._ticket(item.number) for item in emitting]
        # Read once: a ticket may be dropped at any time, by another thread.
        heard = [not ticket.dropped for ticket in tickets]
        wanted = [
            Row(row, token, ticket.top)
            for ticket, hears, row, token in zip(
                tickets, heard, view.logits, view.tokens, strict=True
            )
            if ticket.top is not None and hears
        ]
        scored = iter(score(self._execution.model.backend, wanted))
        for item, ticket, hears, token in zip(emitting, tickets, heard, view.tokens, strict=True):
            self._figures.generated_tokens += 1
            own = next(scored) if ticket.top is not None and hears else None
            self._emitted(item.number, ticket, hears, token, own)

    def write(self, folder: Path, broken: bool) -> None:
        """Write what was executed [SERVE-6].

        A broken execution leaves its workload and the steps, the one that failed the last of them.

        Raises:
            OSError: a file cannot be written.
        """
        execution = self._execution
        schedule = Schedule(execution.ledger.state.pool, tuple(self._steps))
        if not broken:
            write_run(folder, execution.workload, schedule, execution)
            return
        folder.mkdir(parents=True, exist_ok=True)
        write_workload(folder / WORKLOAD, execution.workload)
        steps = (*schedule.steps, tuple(self._open))
        write_file(folder / PARTIAL, replace(schedule, steps=steps).encode())

    def _enter(self, ticket: Ticket, number: int) -> None:
        ticket.execution = self.number
        self.live[ticket.request.id] = ticket
        if ticket.prompt_top is not None:
            self._execution.score(number)
            self._policy.without_lookup.add(ticket.request.id)

    def _act(self, action: Action) -> object:
        self._open.append(action)
        return self._execution.act(action)

    def _ticket(self, number: int) -> Ticket:
        return self.live[self._execution.ledger.request(number).id]

    def _count_requests(self) -> None:
        state, figures = self._execution.ledger.state, self._figures
        figures.running = sum(request.active for request in state.requests)
        figures.blocks_used = sum(holders > 0 for holders in state.references)
        figures.blocks_cached = len(state.evictable)

    def _count_events(self, view: StepView) -> None:
        figures = self._figures
        figures.steps += 1
        self._events += len(view.events)
        if view.work:
            figures.batch(len(view.work))
        for event in view.events:
            ticket = self.live[event.request]
            if event.event in ("cache_hit", "chunk", "decode") and not ticket.looked_up:
                ticket.looked_up = True
                ticket.cached = len(event.blocks) * self._execution.ledger.pool.size
                ticket.cached *= event.event == "cache_hit"
                figures.cached_tokens += ticket.cached
                figures.prompt_tokens += len(ticket.request.prompt)
            figures.preemptions += event.event == "preempt_rc"
            figures.evictions += event.event == "evict"
            if event.event == "finish":
                del self.live[event.request]
        for item in view.work:
            ticket = self._ticket(item.number)
            ticket.width = max(ticket.width, len(view.work))

    def _prompt_scores(self) -> None:
        rows = [row for row in self._execution.prompt_rows if not self._ticket(row.number).dropped]
        wanted = []
        for row in rows:
            ticket = self._ticket(row.number)
            token = ticket.request.prompt[row.position + 1]
            wanted.append(Row(row.logits, token, ticket.prompt_top or 0))
        found = score(self._execution.model.backend, wanted)
        for row, scored in zip(rows, found, strict=True):
            self._ticket(row.number).prompt_scores[row.position + 1] = scored

    def _emitted(
        self, number: int, ticket: Ticket, hears: bool, token: int, scored: Scored | None
    ) -> None:
        """Tell a ticket of its token, and of its end where this is its last one."""
        ledger = self._execution.ledger
        reason = None
        if ledger.ended(number):
            reason = "eos" if ledger.stopped(number) else "length"
            self._figures.outcomes[reason if hears else "dropped"] += 1
        if not hears:
            return
        prompt = None
        if ticket.prompt_top is not None and ledger.state.requests[number].outputs == 1:
            places = range(len(ticket.request.prompt))
            prompt = tuple(ticket.prompt_scores.get(place) for place in places)
            ticket.prompt_scores.clear()
        self._updates.append((ticket, Update(token, scored, prompt, reason)))
