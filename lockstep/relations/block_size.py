"""BLOCK-SIZE: the size of blocks does not change an output [REL-22]."""

from dataclasses import replace

from lockstep.relations.catalogue import block_sizes
from lockstep.relations.context import Context
from lockstep.relations.requests import OVER_A_SPLIT, request, tokens
from lockstep.schedule.policies import CONTINUOUS, Batching
from lockstep.schedule.workload import Workload


def run(context: Context) -> None:
    """Run requests at the run's block size; compare with references at every other one."""
    size, draws = context.block_size, context.draws
    shared = tokens(context, 2 * size)
    members = (
        request(context, 0, 2 * size + 1, prefix=shared),
        request(context, 1, 1 + draws.below(3 * size)),
        request(context, 2, OVER_A_SPLIT),
        replace(request(context, 3, 2 * size + 7, prefix=shared), arrival=60),
    )
    workload = Workload(members)
    settings = replace(CONTINUOUS, chunks=("S-1", "S+1"), preempt_after=(2,))
    execution = f"blocks of {size}"
    _, done = context.drive(execution, workload, context.pool(members), Batching(settings))
    for other in block_sizes():
        context.counters["block_sizes_compared"] += other != size
        name = f"{execution} against {other}"
        context.compare_with_references(name, workload, done, other)
