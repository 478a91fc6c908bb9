"""The actions by which a request computes: evictions for the blocks that it needs, then itself."""

from collections.abc import Iterator

from lockstep.lifecycle import State
from lockstep.lifecycle.state import ceil_div
from lockstep.schedule.policy import View
from lockstep.schedule.schedule import Action


def compute(
    view: View, number: int, tokens: int, *, highest: bool, evict_highest: bool
) -> Iterator[Action]:
    """Give a request's chunk, or its decode where `tokens` are all that it has left.

    What a reservation owes is free or evictable, so that blocks are always found.

    Args:
        view: the run.
        number: an active request that has not computed in this step.
        tokens: tokens to compute, from one to all that are left.
        highest: whether it takes the free blocks of the highest numbers, named, instead of
            leaving the choice open.
        evict_highest: likewise for the blocks evicted.
    """
    needed = blocks_needed(view.state, number, tokens)
    while len(view.state.free) < needed:
        yield evict(view, number, evict_highest)
    request = view.state.requests[number]
    name = view.request(number).id
    blocks = view.state.free[::-1][:needed] if highest else ()
    if tokens < request.known - request.computed:
        yield Action("chunk", name, tokens, blocks)
    else:
        yield Action("decode", name, blocks=blocks)


def evict(view: View, number: int, highest: bool) -> Action:
    """Give an eviction for a request; there is an evictable block."""
    blocks = view.state.evictable[-1:] if highest else ()
    return Action("evict", view.request(number).id, blocks=blocks)


def blocks_needed(state: State, number: int, tokens: int) -> int:
    """Give the blocks that a request takes with so many tokens [LIFE-12] [LIFE-13]."""
    request, pool = state.requests[number], state.pool
    if tokens == request.known - request.computed:
        return request.owed(pool)
    return max(0, ceil_div(request.computed + tokens, pool.block_size) - len(request.table))


def admissible(state: State, max_batch: int) -> int | None:
    """Give the number of the queue's head where there is room for it, else None."""
    active = sum(request.active for request in state.requests)
    if not state.queue or active >= max_batch:
        return None
    head = state.queue[0]
    return head if state.requests[head].need(state.pool) <= state.slack else None


def admission(view: View, number: int) -> Action:
    """Give the admit or resume of the queue's head."""
    queued = view.state.requests[number].state == "QUEUED"
    return Action("admit" if queued else "resume", view.request(number).id)


def preemptible(view: View, number: int) -> bool:
    """Whether a request may be preempted: it has a computed token, and may still emit."""
    request = view.state.requests[number]
    return request.active and request.computed >= 1 and not view.ended(number)
