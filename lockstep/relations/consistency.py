"""What a record of a run cannot say: numbers that contradict each other [REL-9] [REL-26]."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from lockstep.errors import LockstepError
from lockstep.relations.catalogue import (
    Condition,
    Declared,
    batch_sizes,
    engine_counters,
    event_counters,
    kernels,
    require_declared,
)
from lockstep.relations.observation import Observation

CODE = "COUNTERS_CONTRADICT"
BEGINS, ENDS = "admit", "finish"
"""What the log of each request that has finished begins and ends with."""


def require_consistent(run: Observation) -> None:
    """Refuse a record that no run leaves.

    Raises:
        LockstepError: BAD_VALUE, a counter that its relation has not, or an execution where
            there is none; COUNTERS_CONTRADICT, numbers that contradict each other.
    """
    relation = require_declared(run.relation)
    place = f"/runs/{run.relation} at {run.block_size}, seed {run.seed}"
    own = engine_counters() if relation.executes else frozenset[str]()
    foreign = sorted(run.counters.keys() - own - set(relation.counters))
    if foreign:
        raise LockstepError("BAD_VALUE", place, f"counters of {relation.name}", foreign[0])
    for offence in _offences(run, relation):
        raise LockstepError(CODE, place, offence, "otherwise", "No run leaves such a record.")


def require_distinct(runs: Sequence[Observation], controls: Sequence[Observation]) -> None:
    """Refuse records that share what only one of them can have executed [REL-26].

    Raises:
        LockstepError: BAD_VALUE, a schedule of two block sizes or that is a workload; two seeds
            with the same workloads.
    """
    sizes: dict[str, set[int]] = defaultdict(set)
    seeds: dict[tuple[object, ...], set[int]] = defaultdict(set)
    for run in (*runs, *controls):
        for digest in run.schedules:
            sizes[digest].add(run.block_size)
    for run in runs:
        if run.workloads:
            seeds[run.relation, run.block_size, run.workloads].add(run.seed)
    workloads = {digest for run in (*runs, *controls) for digest in run.workloads}
    shared = [digest for digest, held in sorted(sizes.items()) if len(held) > 1]
    offences = [
        (f"one block size of schedule {digest}", sorted(sizes[digest])) for digest in shared
    ]
    offences += [
        (f"workloads of their own for {relation} at {size}", sorted(held))
        for (relation, size, _), held in seeds.items()
        if len(held) > 1
    ]
    offences += [(f"schedule {digest}", []) for digest in sorted(workloads & sizes.keys())]
    for expected, got in offences:
        raise LockstepError("BAD_VALUE", "/runs", expected, got or "a workload")


def _offences(run: Observation, relation: Declared) -> Iterable[str]:
    """Give what does not hold of a record, in words."""
    if run.outcome == "not_run":
        return
    if relation.executes:
        yield from _flows(run)
    elif run.workloads or run.schedules or run.executions or run.requests or run.n_grams:
        yield f"{relation.name} executes nothing"
    numbers = {
        **run.counters,
        "executions": run.executions,
        "requests": run.requests,
        "positions": run.positions,
        "workloads": len(run.workloads),
        "schedules": len(run.schedules),
        "one": 1,
        "listed_kernels": len(kernels()),
        "listed_batch_sizes": len(batch_sizes()),
        "listed_batch_requests": sum(batch_sizes()),
        "published_slots": run.block_size * run.counters.get("published_blocks", 0),
    }
    for condition in relation.conditions:
        if run.outcome == "holds" or condition.where == "always":
            yield from _unmet(condition, numbers)


def _flows(run: Observation) -> Iterable[str]:
    """Hold every event but a log's last against what follows it, and but its first, what led to it.

    Each execution has ended, and each log with it: what enters an event leaves it again.
    """
    counts: dict[tuple[str, ...], int] = {
        (event,): run.counters.get(counter, 0) for event, counter in event_counters().items()
    }
    counts |= run.n_grams
    for n in (1, 2):
        after: Counter[tuple[str, ...]] = Counter()
        before: Counter[tuple[str, ...]] = Counter()
        for gram, count in counts.items():
            if len(gram) == n + 1:
                after[gram[:n]] += count
                before[gram[1:]] += count
        for gram in sorted({*after, *before, *(gram for gram in counts if len(gram) == n)}):
            told, words = counts.get(gram, 0), " ".join(gram)
            if gram[-1] != ENDS and after[gram] != told:
                yield f"{words}: {told} times, and {after[gram]} times before another event"
            if gram[0] != BEGINS and before[gram] != told:
                yield f"{words}: {told} times, and {before[gram]} times after another event"


def _unmet(condition: Condition, numbers: Mapping[str, int]) -> Iterable[str]:
    """Give the condition in words where it is not met."""
    left, right = (
        sum(weight * numbers.get(name, 0) for name, weight in side.items())
        for side in (condition.left, condition.right)
    )
    if condition.kind == "equal":
        met = left == right
    elif condition.kind == "at_least":
        met = left >= right
    else:
        met = bool(left) or not right
    if not met:
        yield f"{dict(condition.left)} {condition.kind} {dict(condition.right)}: {left}, {right}"
