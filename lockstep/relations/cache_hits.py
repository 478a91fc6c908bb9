"""MR4: a granted block holds what its request would have computed [REL-13]."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from lockstep.engine.events import Event
from lockstep.engine.run import Run
from lockstep.relations.context import Context
from lockstep.relations.requests import OVER_A_SPLIT, request
from lockstep.schedule.policies import CONTINUOUS, Batching
from lockstep.schedule.workload import Request, Workload

MARGIN = 16
"""Steps by which the second wave comes after the first one's end."""


def run(context: Context) -> None:
    """Let a second wave of requests find what a first one left; compare with references."""
    size = context.block_size
    parent = request(context, 0, 3 * size + 2, max_new=size + 2)
    long = request(context, 1, OVER_A_SPLIT + size)
    # Computed beside it, in one step, so that only one of them can offer what both have.
    twin = request(context, 13, 2 * size + 1, prefix=parent.prompt[: 2 * size])
    first = (parent, long, twin)
    second = _second_wave(context, parent, long)
    workload = Workload((*first, *second))
    # Once in one batch, once one after the other, so that hits are of blocks just released.
    for name, most in (("second wave together", len(second)), ("second wave in turn", 1)):
        settings = replace(CONTINUOUS, token_budget=None, max_batch=most)
        pool = context.pool(workload.requests)
        _, done = context.drive(name, workload, pool, Batching(settings))
        context.compare_with_references(name, workload, done)
        compare_prefixes(context, name, workload, done)
        _count(context, workload, done, {"salted": parent.id})


def _second_wave(context: Context, parent: Request, long: Request) -> tuple[Request, ...]:
    """Make requests that share blocks with the first wave, at the edges of blocks."""
    size, prompt = context.block_size, parent.prompt
    made = [
        # A prefix of exactly one block grants none: a token must be left to compute.
        request(context, 2, size, prefix=prompt[:size]),
        request(context, 3, size + 1, prefix=prompt[: size + 1]),
        request(context, 4, 2 * size - 1, prefix=prompt[: 2 * size - 1]),
        request(context, 5, 2 * size, prefix=prompt[: 2 * size]),
        request(context, 6, 2 * size + 1, prefix=prompt[: 2 * size + 1]),
        request(context, 7, 3 * size + 5, prefix=prompt[:size]),
        request(context, 8, OVER_A_SPLIT + size + 3, prefix=long.prompt),
        replace(request(context, 9, len(prompt), prefix=prompt), id="salted", salt="other"),
        # All but the last token of a block; and a block that is there, at another place.
        request(context, 11, 2 * size + 3, prefix=prompt[: 2 * size - 1]),
        request(context, 12, size + 3, prefix=prompt[size : 2 * size]),
    ]
    output = context.reference(parent).tokens
    further = request(context, 10, len(prompt) + len(output) + 3, prefix=prompt + output)
    # The first wave takes a step a token at most, one request after the other.
    later = parent.max_new + long.max_new + 4 + MARGIN
    return tuple(replace(one, arrival=later) for one in (*made, replace(further, id="further")))


def compare_prefixes(context: Context, execution: str, workload: Workload, run: Run) -> None:
    """Compare what each granted block was published for with what it was granted for.

    A block stands for its publisher's salt and tokens up to the block's end; the request that it
    is granted to must have the same. This does not look into the engine's hashes.
    """
    size = context.block_size
    requests = {request.id: request for request in workload.requests}

    def content(request: Request, place: int) -> tuple[str, tuple[int, ...]]:
        known = request.prompt + run.outputs[request.id].tokens
        return request.salt, known[: (place + 1) * size]

    published: dict[int, tuple[str, tuple[int, ...]]] = {}
    for event, table in tables(run.events):
        request = requests[event.request]
        for block in event.published:
            published[block] = content(request, table.index(block))
        if event.event == "cache_hit":
            for place, block in enumerate(event.blocks):
                wanted = content(request, place)
                context.compare(
                    execution, request.id, place * size, "prefix", wanted, published.get(block)
                )


def tables(events: Sequence[Event]) -> list[tuple[Event, tuple[int, ...]]]:
    """Give each event with its request's blocks after it, in their order."""
    held: dict[str, tuple[int, ...]] = {}
    given = []
    for event in events:
        if event.event in ("preempt_rc", "finish"):
            held[event.request] = ()
        elif event.event != "evict":
            held[event.request] = held.get(event.request, ()) + event.blocks
        given.append((event, held[event.request]))
    return given


def _count(context: Context, workload: Workload, run: Run, salted: dict[str, str]) -> None:
    """Count hits that leave one token, granted blocks of emitted tokens, and salts kept apart."""
    size, counts = context.block_size, Counter[str]()
    requests = {request.id: request for request in workload.requests}
    prompts = {block: len(requests[event.request].prompt) for event, block in _published(run)}
    granted = {event.request for event in run.events if event.event == "cache_hit"}
    for event in run.events:
        if event.event == "cache_hit":
            known = len(requests[event.request].prompt)
            counts["hits_to_last_token"] += len(event.blocks) * size == known - 1
            ends = ((place + 1) * size for place in range(len(event.blocks)))
            counts["decoded_hit_blocks"] += sum(
                end > prompts[block] for end, block in zip(ends, event.blocks, strict=True)
            )
    for name, publisher in salted.items():
        left = any(event.request == publisher and event.published for event in run.events)
        counts["salted_apart"] += left and name not in granted
    context.counters.update(counts)


def _published(run: Run) -> list[tuple[Event, int]]:
    return [(event, block) for event in run.events for block in event.published]
