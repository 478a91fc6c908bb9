"""MR4b: evictions under pressure do not change an output [REL-14]."""

from dataclasses import replace

from lockstep.relations import mechanisms
from lockstep.relations.cache_hits import compare_prefixes
from lockstep.relations.context import Context
from lockstep.relations.requests import request, tokens
from lockstep.schedule.policies import ADVERSARIAL, CONTINUOUS, Batching
from lockstep.schedule.policies.swarm import Features, Swarm
from lockstep.schedule.policy import Policy
from lockstep.schedule.workload import Workload

REQUESTS = 10
SPARE = (0, 2)
"""Blocks that pools have beside the largest need."""

STRANGERS = 6
"""Requests that come after the one that shares a prefix."""

EARLY = Features(
    lookups=True,
    chunks=True,
    edges=True,
    pauses=False,
    early_evictions=True,
    preempts_prefills=False,
    preempts_decodes=True,
    shuffles=True,
    highest=False,
    evicts_highest=True,
    late_finishes=False,
    small_batches=False,
)
"""Evictions before they are needed, among preemptions."""


def run(context: Context) -> None:
    """Run requests with shared prefixes over pools that do not hold them all."""
    size, draws = context.block_size, context.draws
    prefixes = [tokens(context, 2 * size) for _ in range(2)]
    members = tuple(
        request(context, n, 2 * size + 1 + draws.below(size), max_new=3, prefix=prefixes[n % 2])
        for n in range(REQUESTS)
    )
    workload = Workload(members)
    _run_pools(context, workload)
    _run_sharers(context, prefixes)


def _run_pools(context: Context, workload: Workload) -> None:
    """Run requests over pools that hold one of them and little more."""
    lasting = replace(CONTINUOUS, token_budget=None)
    for spare in SPARE:
        pool = context.tight_pool(workload.requests, spare)
        policies: dict[str, Policy] = {
            "the longest released first": Batching(lasting),
            "the highest first": Batching(replace(lasting, evict="always", take="always")),
            "adversarial": Batching(ADVERSARIAL),
            "early": Swarm(context.seed + spare, EARLY),
        }
        for name, policy in policies.items():
            execution = f"evictions, {name}, {spare} blocks spare"
            _, done = context.drive(execution, workload, pool, policy)
            context.counters["hits_after_eviction"] += mechanisms.hits_after_eviction(done.events)
            context.compare_with_references(execution, workload, done)
            compare_prefixes(context, execution, workload, done)


def _run_sharers(context: Context, prefixes: list[tuple[int, ...]]) -> None:
    """Let one request go on long after another has released the blocks that they share.

    The pool holds the long one and another, so that what is released is evicted and written.
    """
    size, draws = context.block_size, context.draws
    long = request(context, 0, 2 * size + 1, max_new=4 * size, prefix=prefixes[0])
    drawn = (prefixes[0], *(tokens(context, 2 * size) for _ in range(STRANGERS)))
    # Who shares comes when the blocks are offered, and others after it.
    short = [
        request(context, n, 2 * size + 1 + draws.below(size), 2, prefix, arrival=4 * n)
        for n, prefix in enumerate(drawn, 1)
    ]
    workload = Workload((long, *short))
    need = max(-(-(len(one.prompt) + one.max_new) // size) for one in short)
    pool = context.tight_pool((long,), need + 1)
    for name, settings in (
        ("the longest released first", replace(CONTINUOUS, token_budget=None, max_batch=2)),
        ("adversarial", replace(ADVERSARIAL, preempt_after=(), max_batch=2)),
    ):
        execution = f"shared blocks released, {name}"
        _, done = context.drive(execution, workload, pool, Batching(settings))
        context.compare_with_references(execution, workload, done)
        compare_prefixes(context, execution, workload, done)
