"""The boundary predicates, by the names of the specification [FUZZ-8]."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lockstep.engine.events import Event
from lockstep.fuzz.case import Case
from lockstep.fuzz.timeline import History, Moment, StepEnd, timeline
from lockstep.lifecycle import Request
from lockstep.schedule.workloads import SPLIT

AT_EVENT: dict[str, Callable[[Moment, History], bool]] = {
    "prompt_below_block": lambda m, h: (
        _is(m, "admit") and m.size > 1 and m.was.prompt % m.size == m.size - 1
    ),
    "prompt_at_block": lambda m, h: _is(m, "admit") and m.was.prompt % m.size == 0,
    "prompt_above_block": lambda m, h: (
        _is(m, "admit") and m.was.prompt > m.size > 1 and m.was.prompt % m.size == 1
    ),
    "need_is_pool": lambda m, h: (
        _is(m, "admit") and m.was.need(m.before.pool) == m.before.pool.blocks
    ),
    "slack_used_up": lambda m, h: _is(m, "admit", "resume") and m.after.slack == 0,
    "hit_one_block": lambda m, h: _is(m, "cache_hit") and len(m.event.blocks) == 1,
    "hit_to_last_token": lambda m, h: (
        _is(m, "cache_hit") and m.became.computed == m.became.known - 1
    ),
    "hit_after_resume": lambda m, h: _is(m, "cache_hit") and h.admissions.get(m.number) == "resume",
    "hit_emitted_block": lambda m, h: (
        _is(m, "cache_hit") and any(_emitted(m, h, block) for block in m.event.blocks)
    ),
    "chunk_one_token": lambda m, h: _is(m, "chunk") and m.event.tokens == 1,
    "chunk_to_block_edge": lambda m, h: (
        _is(m, "chunk") and m.size > 1 and m.became.computed % m.size == 0
    ),
    "chunk_past_block_edge": lambda m, h: (
        _is(m, "chunk") and m.size > 1 and m.became.computed % m.size == 1 and m.event.tokens > 1
    ),
    "chunk_leaves_one": lambda m, h: _is(m, "chunk") and m.became.computed == m.became.known - 1,
    "ends_at_split": lambda m, h: _is(m, "chunk", "decode") and m.became.computed % SPLIT == 0,
    "crosses_split": lambda m, h: (
        _is(m, "chunk", "decode") and m.was.computed // SPLIT < (m.became.computed - 1) // SPLIT
    ),
    "decode_at_split": lambda m, h: (
        _is(m, "decode")
        and m.was.computed == m.was.known - 1
        and m.was.computed > 0
        and m.was.computed % SPLIT == 0
    ),
    "decode_fills_block": lambda m, h: (
        _is(m, "decode") and m.size > 1 and m.became.computed % m.size == 0
    ),
    "content_twice": lambda m, h: _is(m, "chunk", "decode") and _unpublished(m),
    "evicts_last_cached": lambda m, h: _is(m, "evict") and not any(m.after.cached),
    "evicts_own_block": lambda m, h: (
        _is(m, "evict") and h.publishers.get(m.event.blocks[0], (-1, 0))[0] == m.number
    ),
    "pool_full": lambda m, h: all(m.after.references) and not all(m.before.references),
    "preempt_before_output": lambda m, h: _is(m, "preempt_rc") and m.was.outputs == 0,
    "preempt_at_first_output": lambda m, h: (
        _is(m, "preempt_rc") and m.was.outputs == 1 and m.was.state == "DECODING"
    ),
    "preempt_before_last_output": lambda m, h: (
        _is(m, "preempt_rc") and m.was.outputs == m.was.max_new - 1 and m.was.outputs > 0
    ),
    "preempt_prefill_with_outputs": lambda m, h: (
        _is(m, "preempt_rc") and m.was.state == "PREFILLING" and m.was.outputs > 0
    ),
    "preempted_twice": lambda m, h: _is(m, "preempt_rc") and h.preemptions[m.number] == 1,
    "resume_in_same_step": lambda m, h: (
        _is(m, "resume") and h.preempted_in.get(m.number) == m.event.step
    ),
    "finish_at_first_output": lambda m, h: _is(m, "finish") and m.was.outputs == 1,
    "finish_before_max_new": lambda m, h: _is(m, "finish") and m.was.outputs < m.was.max_new,
}
"""Those that hold at an event."""

AT_STEP_END: dict[str, Callable[[StepEnd], bool]] = {
    "width_1": lambda e: e.width == 1,
    "width_31": lambda e: e.width == 31,
    "width_32": lambda e: e.width == 32,
    "width_33": lambda e: e.width == 33,
    "batch_mixes": lambda e: (
        any(r.decoding and r.width == 1 for r in e.rows) and any(r.width > 1 for r in e.rows)
    ),
    "hit_beside_miss": lambda e: (
        any(r.hit == 1 for r in e.rows) and any(r.first == 0 for r in e.rows)
    ),
    "head_blocks_smaller": lambda e: _head_blocks(e),
}
"""Those that hold at the end of a step."""

NEVER_FITS = "need_above_pool"
"""The one that holds before the first step."""

NAMES = (*AT_EVENT, *AT_STEP_END, NEVER_FITS)
"""All of them."""


def shown(case: Case, events: Sequence[Event], steps: int) -> frozenset[str]:
    """Give the predicates that hold somewhere in a run.

    Args:
        case: what was run.
        events: its log.
        steps: that ended.
    """
    found = {NEVER_FITS} if _never_fits_by_one(case) else set()
    if found and not events:
        return frozenset(found)
    for told, history in timeline(case.workload, case.pool, events, steps):
        if isinstance(told, Moment):
            found |= {
                name
                for name, holds in AT_EVENT.items()
                if name not in found and holds(told, history)
            }
        else:
            found |= {n for n, holds in AT_STEP_END.items() if n not in found and holds(told)}
    return frozenset(found)


def _is(moment: Moment, *events: str) -> bool:
    return moment.event.event in events


def _emitted(moment: Moment, history: History, block: int) -> bool:
    """Whether a block was published with a token that its publisher had emitted."""
    number, entry = history.publishers[block]
    return (entry + 1) * moment.size > moment.before.requests[number].prompt


def _unpublished(moment: Moment) -> bool:
    """Whether a complete block of the table is not offered after the event."""
    request: Request = moment.became
    whole = request.table[: request.computed // moment.size]
    return any(not moment.after.cached[block] for block in whole)


def _head_blocks(end: StepEnd) -> bool:
    """Whether the queue's head does not fit while one behind it would."""
    state = end.state
    needs = [state.requests[number].need(state.pool) for number in state.queue]
    return bool(needs) and needs[0] > state.slack and any(n <= state.slack for n in needs[1:])


def _never_fits_by_one(case: Case) -> bool:
    pool = case.pool
    needs = [
        -(-(len(request.prompt) + request.max_new) // pool.block_size)
        for request in case.workload.requests
    ]
    return max(needs) == pool.blocks + 1
