"""The guards of the lifecycle's events, clause by clause [LIFE-10] to [LIFE-17].

A guard speaks of resources and of the request's own numbers. It names a state only where the
rule does: for admit, resume and finish.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from lockstep.lifecycle.state import Request, State, Step, ceil_div


class Clause(NamedTuple):
    """A clause of a guard: whether it holds, what it asks for, and what stands there."""

    holds: bool
    expected: str
    got: object


Weakened = frozenset[str]
"""Names of weakenings of the spec that are in force [LIFE-21]; none of them in the rules proper."""


def taken(state: State, step: Step, weakened: Weakened) -> int:
    """Give k, the number of blocks that a chunk or a decode takes [LIFE-12] [LIFE-13]."""
    request = state.requests[step.request]
    size, held = state.pool.block_size, len(request.table)
    if step.event == "chunk":
        return max(0, ceil_div(request.computed + step.tokens, size) - held)
    if "lazy_reservation" in weakened:
        return max(0, ceil_div(request.known, size) - held)
    return request.owed(state.pool)


def clauses(state: State, step: Step, weakened: Weakened = frozenset()) -> Iterator[Clause]:
    """Give the clauses of a step's guard, in the order of its rule, data clauses last.

    `state.requests[step.request]` and an event of the relation are taken for granted.
    """
    yield from _GUARDS[step.event](state, step, state.requests[step.request], weakened)
    yield from _unused(step)


def _active(request: Request) -> Clause:
    return Clause(request.active, "an active request", request.state)


def _each(blocks: Sequence[int], among: Sequence[int], what: str) -> Clause:
    fine = set(blocks) <= set(among) and len(set(blocks)) == len(blocks)
    return Clause(fine, f"distinct blocks, each {what}", list(blocks))


def _admission(state: State, step: Step, request: Request, weakened: Weakened) -> Iterator[Clause]:
    wanted = "QUEUED" if step.event == "admit" else "PREEMPTED"
    yield Clause(state.queue[:1] == (step.request,), "the head of the queue", list(state.queue))
    yield Clause(request.state == wanted, f"a request that is {wanted}", request.state)
    if "unreserved_admission" not in weakened:
        need = request.need(state.pool)
        yield Clause(need <= state.slack, f"a slack of {need} blocks", state.slack)


def _cache_hit(state: State, step: Step, request: Request, weakened: Weakened) -> Iterator[Clause]:
    granted = len(step.blocks) * state.pool.block_size
    offered = tuple(block for block, cached in enumerate(state.cached) if cached)
    yield _active(request)
    yield Clause(request.computed == 0, "no computed token", request.computed)
    yield Clause(bool(step.blocks), "one or more blocks", "none")
    yield _each(step.blocks, offered, "cached")
    yield Clause(granted < request.known, f"fewer than {request.known} granted tokens", granted)


def _chunk(state: State, step: Step, request: Request, weakened: Weakened) -> Iterator[Clause]:
    left = request.known - request.computed
    yield _active(request)
    yield Clause(1 <= step.tokens < left, f"1 to {left - 1} tokens", step.tokens)
    yield from _taking(state, step, weakened)


def _decode(state: State, step: Step, request: Request, weakened: Weakened) -> Iterator[Clause]:
    if "decode_while_waiting" not in weakened:
        yield _active(request)
    yield Clause(
        request.outputs < request.max_new, f"fewer than {request.max_new} outputs", request.outputs
    )
    yield from _taking(state, step, weakened)


def _taking(state: State, step: Step, weakened: Weakened) -> Iterator[Clause]:
    count = taken(state, step, weakened)
    yield Clause(len(step.blocks) == count, f"{count} blocks to take", len(step.blocks))
    if step.blocks:
        yield _each(step.blocks, state.free, "free")
    yield from _publishing(state, step, weakened)


def _publishing(state: State, step: Step, weakened: Weakened) -> Iterator[Clause]:
    request = state.requests[step.request]
    computed = request.computed + step.tokens if step.event == "chunk" else request.known
    table = request.table + step.blocks
    complete = len(table) if "early_publishing" in weakened else computed // state.pool.block_size
    open_blocks = [block for block in table[:complete] if not state.cached[block]]
    yield _each(step.published, open_blocks, "complete, its own and not yet cached")


def _evict(state: State, step: Step, request: Request, weakened: Weakened) -> Iterator[Clause]:
    owed = request.owed(state.pool)
    yield _active(request)
    yield Clause(len(state.free) < owed, f"fewer than {owed} free blocks", len(state.free))
    yield Clause(len(step.blocks) == 1, "one block", len(step.blocks))
    yield _each(step.blocks, state.evictable, "cached and unreferenced")


def _preempt(state: State, step: Step, request: Request, weakened: Weakened) -> Iterator[Clause]:
    yield _active(request)
    if "victim_without_tokens" not in weakened:
        yield Clause(request.computed >= 1, "a computed token", request.computed)
    yield Clause(
        request.outputs < request.max_new, f"fewer than {request.max_new} outputs", request.outputs
    )


def _finish(state: State, step: Step, request: Request, weakened: Weakened) -> Iterator[Clause]:
    yield Clause(request.state == "DECODING", "a request that is DECODING", request.state)


def _unused(step: Step) -> Iterator[Clause]:
    """Refuse choices that the event has no use for, so that each step is written in one way."""
    if step.event != "chunk":
        yield Clause(step.tokens == 0, "no count of tokens", step.tokens)
    if step.event not in ("chunk", "decode", "cache_hit", "evict"):
        yield Clause(not step.blocks, "no blocks", list(step.blocks))
    if step.event not in ("chunk", "decode"):
        yield Clause(not step.published, "no published blocks", list(step.published))


_GUARDS: dict[str, Callable[[State, Step, Request, Weakened], Iterator[Clause]]] = {
    "admit": _admission,
    "resume": _admission,
    "cache_hit": _cache_hit,
    "chunk": _chunk,
    "decode": _decode,
    "evict": _evict,
    "preempt_rc": _preempt,
    "finish": _finish,
}
