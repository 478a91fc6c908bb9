"""MR1: what a request is computed together with does not change its output [REL-10]."""

from dataclasses import replace

from lockstep.relations import mechanisms
from lockstep.relations.catalogue import batch_sizes
from lockstep.relations.context import Context
from lockstep.relations.requests import OVER_A_SPLIT, requests
from lockstep.schedule.policies import CONTINUOUS, Batching
from lockstep.schedule.workload import Workload

LONGEST_SHORT = 40
"""Tokens of the longest prompt but one."""


def run(context: Context) -> None:
    """Batch 1, 2, 3 … requests, in two placements each, and compare with references."""
    draws, largest = context.draws, max(batch_sizes())
    lengths = [1 + draws.below(LONGEST_SHORT) for _ in range(largest)]
    lengths[draws.below(largest)] = OVER_A_SPLIT
    made = requests(context, tuple(lengths))
    settings = replace(CONTINUOUS, token_budget=None, lookup=False)
    for size in batch_sizes():
        # Another window for each size, so that each request is in some small batch.
        chosen = (made + made)[size : 2 * size] if size < largest else made
        for turned, members in (("", chosen), (" reversed", chosen[::-1])):
            name, workload = f"batch of {size}{turned}", Workload(members)
            policy = Batching(replace(settings, max_batch=size))
            _, done = context.drive(name, workload, context.pool(members), policy)
            context.counters.update(mechanisms.batch_sizes(done.events))
            context.compare_with_references(name, workload, done)
