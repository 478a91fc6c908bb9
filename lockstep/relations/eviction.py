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
    lasting = replace(CONTINUOUS, token_budget=None)
    for spare in SPARE:
        pool = context.tight_pool(members, spare)
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
