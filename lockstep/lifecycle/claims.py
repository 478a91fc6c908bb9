"""The invariant of the machine and what follows from it, as predicates [LIFE-18] [LIFE-19]."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from lockstep.lifecycle.machine import Machine, not_exclusive
from lockstep.lifecycle.state import Request, State, Step, ceil_div


def references_match_holders(state: State) -> bool:
    """Each block's references is the number of tables that hold it, none of them twice."""
    held = Counter(block for request in state.requests for block in request.table)
    distinct = all(len(set(r.table)) == len(r.table) for r in state.requests)
    return distinct and all(n == held[block] for block, n in enumerate(state.references))


def exclusive_writer(state: State) -> bool:
    """An open block has at most one holder; a cached one is complete in each holder."""
    size = state.pool.block_size
    alone = all(state.cached[b] or n <= 1 for b, n in enumerate(state.references))
    return alone and all(
        (entry + 1) * size <= request.computed
        for request in state.requests
        for entry, block in enumerate(request.table)
        if state.cached[block]
    )


def idle_holds_nothing(state: State) -> bool:
    """Who is not active holds no blocks and has nothing computed; who waits may still emit."""
    return all(
        not request.table
        and request.computed == 0
        and (not request.waiting or request.outputs < request.max_new)
        and (request.state != "QUEUED" or request.outputs == 0)
        for request in state.requests
        if not request.active
    )


def admitted_computed_nothing(state: State) -> bool:
    """An admitted request has an empty table, nothing computed, and may still emit."""
    return all(
        not request.table and request.computed == 0 and request.outputs < request.max_new
        for request in _in(state, "ADMITTED")
    )


def prefilling_is_partial(state: State) -> bool:
    """A prefill holds the blocks of what it computed, some known tokens and not all."""
    return all(
        0 < request.computed < request.known
        and request.outputs < request.max_new
        and len(request.table) == ceil_div(request.computed, state.pool.block_size)
        for request in _in(state, "PREFILLING")
    )


def decoding_owes_nothing(state: State) -> bool:
    """A decoding request holds all of its need, and all but its last output is computed."""
    return all(
        len(request.table) == request.need(state.pool)
        and request.computed == request.known - 1
        and 1 <= request.outputs <= request.max_new
        for request in _in(state, "DECODING")
    )


def reservations_are_covered(state: State) -> bool:
    """Free and evictable blocks suffice for all that is owed."""
    return state.slack >= 0


def queue_is_waiting(state: State) -> bool:
    """The queue holds exactly the waiting requests, each once."""
    waiting = [number for number, request in enumerate(state.requests) if request.waiting]
    return sorted(state.queue) == waiting


INVARIANT: tuple[Callable[[State], bool], ...] = (
    references_match_holders,
    exclusive_writer,
    idle_holds_nothing,
    admitted_computed_nothing,
    prefilling_is_partial,
    decoding_owes_nothing,
    reservations_are_covered,
    queue_is_waiting,
)
"""The clauses of [LIFE-18], in its order; each is named as there."""


def broken(state: State) -> tuple[str, ...]:
    """Give the names of the invariant's clauses that do not hold in a state."""
    return tuple(clause.__name__ for clause in INVARIANT if not clause(state))


def only_cells(machine: Machine, state: State, step: Step) -> bool:
    """Whether a step whose guard holds has a cell [LIFE-19]."""
    cell = machine.relation.next_state(state.requests[step.request].state, step.event)
    return cell is not None or machine.refusal(state, step) is not None


def exclusive_write(state: State, step: Step) -> bool:
    """Whether every block that a step writes is its request's alone [LIFE-14]."""
    return not not_exclusive(state, step)


def enabled(machine: Machine, state: State, number: int, event: str) -> bool:
    """Whether some choice of blocks and tokens lets a request's event take place [LIFE-22].

    Said by closed conditions, without a search among the choices, and for the rules as they
    stand or with an admission that is weakened.
    """
    request, pool = state.requests[number], state.pool
    if machine.relation.next_state(request.state, event) is None:
        return False
    free, owed = len(state.free), request.owed(pool)
    may_emit = request.outputs < request.max_new
    room = len(request.table) * pool.block_size
    reserved = request.need(pool) <= state.slack or "unreserved_admission" in machine.weakened
    return {
        "admit": state.queue[:1] == (number,) and reserved,
        "resume": state.queue[:1] == (number,) and reserved,
        "cache_hit": request.computed == 0
        and any(state.cached)
        and pool.block_size < request.known,
        "chunk": request.computed + 1 < request.known and (request.computed < room or free >= 1),
        "decode": may_emit and owed <= free,
        "evict": free < owed and bool(state.evictable),
        "preempt_rc": request.computed >= 1 and may_emit,
        "finish": True,
    }[event]


def stuck(machine: Machine, state: State) -> bool:
    """Whether a request is unfinished and nothing but a preemption can happen [LIFE-19]."""
    unfinished = any(r.state not in machine.relation.terminal for r in state.requests)
    return unfinished and not any(
        enabled(machine, state, number, event)
        for number in range(len(state.requests))
        for event in machine.relation.events
        if event != "preempt_rc"
    )


def distance(state: State) -> tuple[int, int, int]:
    """Give the three numbers that each event but preempt_rc lowers, first to last [LIFE-19]."""
    left = [request for request in state.requests if request.state != "FINISHED"]
    emissions = sum(r.max_new - r.outputs + (r.state != "FINISHED") for r in state.requests)
    computing = sum(r.known - r.computed + r.waiting for r in left)
    return emissions, computing, sum(state.cached)


def _in(state: State, name: str) -> list[Request]:
    return [request for request in state.requests if request.state == name]
