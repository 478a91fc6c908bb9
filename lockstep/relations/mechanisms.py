"""Counts of what executions exercised, from their events alone [REL-3]."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby

from lockstep.engine.backend import SPLIT
from lockstep.engine.events import Event
from lockstep.schedule.workload import Workload

LARGEST = ("batch_rows_max", "batch_requests_max")
"""Counters of the engine that are largest values, and not sums."""

COMPUTING = ("chunk", "decode")


def add(totals: Counter[str], counters: dict[str, int]) -> None:
    """Add the counters of an execution to those of its run."""
    for name, value in counters.items():
        totals[name] = max(totals[name], value) if name in LARGEST else totals[name] + value


def batches(events: Sequence[Event]) -> Iterator[tuple[str, ...]]:
    """Give, for each step with a batch, the requests in it in packing order."""
    for _, step in groupby(events, key=lambda event: event.step):
        packed = tuple(event.request for event in step if event.event in COMPUTING)
        if packed:
            yield packed


def batch_sizes(events: Sequence[Event]) -> Counter[str]:
    """Count batches by the number of their requests, as `batches_of_N`."""
    return Counter(f"batches_of_{len(packed)}" for packed in batches(events))


def chunk_ends(workload: Workload, events: Sequence[Event], block_size: int) -> Counter[str]:
    """Count where chunks end: at or past a block's edge, at a split's, after one token."""
    counts: Counter[str] = Counter()
    for event, computed, _ in progress(workload, events, block_size):
        if event.event == "chunk":
            counts["one_token_chunks"] += event.tokens == 1
            counts["chunks_to_block_edge"] += computed % block_size == 0
            counts["chunks_past_block_edge"] += computed % block_size == 1
            counts["chunks_to_split_edge"] += computed % SPLIT == 0
    return counts


def preemptions(workload: Workload, events: Sequence[Event], block_size: int) -> Counter[str]:
    """Count preemptions by the outputs of the request at that time, as `preempted_after_K`."""
    return Counter(
        f"preempted_after_{outputs}"
        for event, _, outputs in progress(workload, events, block_size)
        if event.event == "preempt_rc"
    )


def hits_after_eviction(events: Sequence[Event]) -> int:
    """Count the hits that come after an eviction."""
    names = [event.event for event in events]
    return names[names.index("evict") :].count("cache_hit") if "evict" in names else 0


def pairs_in_both_orders(runs: Sequence[Sequence[Event]]) -> int:
    """Count the pairs of requests that stand in batches in one order and in the other."""
    orders = {
        (first, second)
        for events in runs
        for packed in batches(events)
        for place, first in enumerate(packed)
        for second in packed[place + 1 :]
    }
    return sum((second, first) in orders for first, second in orders if first < second)


def requests_in_two_companies(runs: Sequence[Sequence[Event]]) -> int:
    """Count the requests that were in batches with two different sets of others or more."""
    companies: defaultdict[str, set[frozenset[str]]] = defaultdict(set)
    for events in runs:
        for packed in batches(events):
            for request in packed:
                companies[request].add(frozenset(packed) - {request})
    return sum(len(others) > 1 for others in companies.values())


def progress(
    workload: Workload, events: Sequence[Event], block_size: int
) -> Iterator[tuple[Event, int, int]]:
    """Give each event with its request's computed tokens and outputs after it.

    A preemption is given with the outputs that the request keeps, and with no computed token.
    """
    computed: Counter[str] = Counter()
    outputs: Counter[str] = Counter()
    prompts = {request.id: len(request.prompt) for request in workload.requests}
    for event in events:
        name = event.request
        if event.event == "cache_hit":
            computed[name] = len(event.blocks) * block_size
        elif event.event == "chunk":
            computed[name] += event.tokens
        elif event.event == "decode":
            computed[name] = prompts[name] + outputs[name]
            outputs[name] += 1
        elif event.event in ("preempt_rc", "finish"):
            computed[name] = 0
        yield event, computed[name], outputs[name]
