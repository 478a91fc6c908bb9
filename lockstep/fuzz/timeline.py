"""A run told over again from its log: the machine's numbers before and after each event.

Whatever a boundary predicate asks for is here; nothing of it is computed by a model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lockstep.engine.events import Event
from lockstep.errors import LockstepError
from lockstep.lifecycle import Machine, Pool, Request, State, Step
from lockstep.lifecycle.state import empty
from lockstep.schedule.workload import Workload


class Rows(NamedTuple):
    """What a chunk or a decode adds to its step's batch.

    Attributes:
        number: the request's number.
        first: position of the first row.
        width: rows.
        decoding: whether the request was DECODING before.
        hit: blocks that a cache_hit granted it, where nothing was computed since; else 0.
    """

    number: int
    first: int
    width: int
    decoding: bool
    hit: int


@dataclass
class History:
    """What came before an event, as far as predicates ask for it.

    Attributes:
        publishers: of each block that was published, the request and the entry of its table.
        admissions: of each request, the event that let it in last, `admit` or `resume`.
        preemptions: of each request, how often it was preempted.
        preempted_in: of each preempted request, the step of the last time.
        hits: of each request, the blocks that it was granted and has not computed after.
    """

    publishers: dict[int, tuple[int, int]] = field(default_factory=dict)
    admissions: dict[int, str] = field(default_factory=dict)
    preemptions: Counter[int] = field(default_factory=Counter)
    preempted_in: dict[int, int] = field(default_factory=dict)
    hits: dict[int, int] = field(default_factory=dict)


class Moment(NamedTuple):
    """An event with the machine's state before and after it."""

    event: Event
    number: int
    before: State
    after: State

    @property
    def was(self) -> Request:
        """The event's request before it."""
        return self.before.requests[self.number]

    @property
    def became(self) -> Request:
        """The event's request after it."""
        return self.after.requests[self.number]

    @property
    def size(self) -> int:
        """The pool's block size."""
        return self.before.pool.block_size


class StepEnd(NamedTuple):
    """A step after its last event: its batch, and the machine's state."""

    rows: tuple[Rows, ...]
    state: State

    @property
    def width(self) -> int:
        """The rows of the batch."""
        return sum(rows.width for rows in self.rows)


def timeline(
    workload: Workload, pool: Pool, events: Sequence[Event], steps: int
) -> Iterator[tuple[Moment | StepEnd, History]]:
    """Tell a run over again; what is told of the past changes under the one who looks.

    A log that the machine does not take, which only a failing engine writes, ends where it does
    not.

    Args:
        workload: what was asked for.
        pool: the pool's constants.
        events: of the whole run, in order.
        steps: that ended.
    """
    machine, state, history = Machine(), empty(pool), History()
    place = 0
    for step in range(steps):
        for request in workload.submission:
            if request.arrival == step:
                state = machine.submit(state, len(request.prompt), request.max_new)
        rows: list[Rows] = []
        while place < len(events) and events[place].step == step:
            event, number = events[place], workload.numbers[events[place].request]
            place += 1
            moved = Step(number, event.event, event.tokens, event.blocks, event.published)
            try:
                after = machine.step(state, moved)
            except LockstepError:
                return
            moment = Moment(event, number, state, after)
            if event.event in ("chunk", "decode"):
                rows.append(_rows(moment, history))
            yield moment, history
            _note(moment, history)
            state = after
        yield StepEnd(tuple(rows), state), history


def _rows(moment: Moment, history: History) -> Rows:
    was, now = moment.was, moment.became
    width = now.computed - was.computed
    hit = history.hits.get(moment.number, 0)
    return Rows(moment.number, was.computed, width, was.state == "DECODING", hit)


def _note(moment: Moment, history: History) -> None:
    """Let an event become part of the past."""
    event, number = moment.event.event, moment.number
    if event in ("admit", "resume"):
        history.admissions[number] = event
    elif event == "cache_hit":
        history.hits[number] = len(moment.event.blocks)
    elif event in ("chunk", "decode", "preempt_rc"):
        history.hits.pop(number, None)
    if event == "preempt_rc":
        history.preemptions[number] += 1
        history.preempted_in[number] = moment.event.step
    table = moment.became.table
    for block in moment.event.published:
        history.publishers[block] = (number, table.index(block))
