"""MR3: preemption in the prefill or at any decode step does not change an output [REL-12]."""

from dataclasses import replace

from lockstep.engine.backend import SPLIT
from lockstep.limits import BLOCK_SLOTS
from lockstep.relations import mechanisms
from lockstep.relations.context import Context
from lockstep.relations.requests import request, requests, tokens
from lockstep.schedule.policies import CONTINUOUS, Batching, Settings
from lockstep.schedule.policies.swarm import Features, Swarm
from lockstep.schedule.workload import Request, Workload

OUTPUTS = 8
"""max_new of the requests: preemptions come after 0 to 7 of their tokens."""

DRAWN = 8
"""Runs in which preemptions are drawn."""

ANYWHERE = Features(
    lookups=True,
    chunks=True,
    edges=True,
    pauses=True,
    early_evictions=True,
    preempts_prefills=True,
    preempts_decodes=True,
    shuffles=True,
    highest=False,
    evicts_highest=False,
    late_finishes=False,
    small_batches=False,
)
"""Preemptions after hits, evictions and any number of chunks."""


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
    _preempt_anywhere(context)


def _preempt_anywhere(context: Context) -> None:
    """Let preemptions be drawn, over a pool in which requests share blocks and evict others."""
    size = context.block_size
    shared = tokens(context, 4 * size)
    members = tuple(
        request(context, n, (1 + n % 4) * size + 2, max_new=2, prefix=shared if n % 2 else ())
        for n in range(10)
    )
    workload, pool = Workload(members), context.tight_pool(members, spare=1)
    for drawn in range(DRAWN):
        name = f"preemptions drawn, {drawn}"
        # Other draws at each block size, so that the sizes show more together than one alone.
        policy = Swarm((context.seed * DRAWN + drawn) * BLOCK_SLOTS + size, ANYWHERE)
        _, done = context.drive(name, workload, pool, policy)
        context.compare_with_references(name, workload, done)


def _preempt(context: Context, members: tuple[Request, ...], settings: Settings) -> None:
    after = ", ".join(map(str, settings.preempt_after))
    name = f"preempted after {after}, {'with' if settings.lookup else 'without'} lookups"
    workload = Workload(members)
    _, done = context.drive(name, workload, context.pool(members), Batching(settings))
    counts = mechanisms.preemptions(workload, done.events, context.block_size)
    context.counters.update(counts)
    context.compare_with_references(name, workload, done)
