"""MR3: preemption in the prefill or at any decode step does not change an output [REL-12]."""

from dataclasses import replace

from lockstep.engine.backend import SPLIT
from lockstep.relations import mechanisms
from lockstep.relations.context import Context
from lockstep.relations.requests import requests
from lockstep.schedule.policies import CONTINUOUS, Batching, Settings
from lockstep.schedule.workload import Request, Workload

OUTPUTS = 8
"""max_new of the requests: preemptions come after 0 to 7 of their tokens."""


def run(context: Context) -> None:
    """Preempt after each number of outputs, once and again and again; compare with references."""
    size = context.block_size
    short = requests(context, (size + 2, 2 * size, 5), max_new=OUTPUTS)
    # The fourth token that it emits begins the second split.
    long = requests(context, (SPLIT - 3,), max_new=OUTPUTS)
    settings = replace(CONTINUOUS, token_budget=None, chunks=("S-1", "S"))
    for lookup in (False, True):
        chosen = replace(settings, lookup=lookup)
        for outputs in range(OUTPUTS):
            _preempt(context, short, replace(chosen, preempt_after=(outputs,)))
        _preempt(context, short, replace(chosen, preempt_after=tuple(range(OUTPUTS))))
        # Whole prefills, so that each recomputation is one step.
        whole = replace(chosen, chunks=("S",) if lookup else (), preempt_after=(2, 3, 4))
        _preempt(context, long, whole)


def _preempt(context: Context, members: tuple[Request, ...], settings: Settings) -> None:
    after = ", ".join(map(str, settings.preempt_after))
    name = f"preempted after {after}, {'with' if settings.lookup else 'without'} lookups"
    workload = Workload(members)
    _, done = context.drive(name, workload, context.pool(members), Batching(settings))
    counts = mechanisms.preemptions(workload, done.events, context.block_size)
    context.counters.update(counts)
    context.compare_with_references(name, workload, done)
