"""MR2: where a prefill is cut does not change the output [REL-11]."""

from dataclasses import replace

from lockstep.engine.backend import SPLIT
from lockstep.relations import mechanisms
from lockstep.relations.context import Context
from lockstep.relations.requests import OVER_A_SPLIT, requests
from lockstep.schedule.policies import CANONICAL, CONTINUOUS, Batching, Settings
from lockstep.schedule.workload import Request, Workload

DRAWN = 4
"""Partitions that are drawn."""


def run(context: Context) -> None:
    """Cut prompts in many ways, by themselves and in batches, and compare with references."""
    size, draws = context.block_size, context.draws
    short = requests(context, (size - 1, size, size + 1, 2 * size + 1), max_new=2)
    long = requests(context, (OVER_A_SPLIT,), max_new=2, first=len(short))
    together = replace(CONTINUOUS, token_budget=None, lookup=False)
    alone = replace(CANONICAL, max_batch=1)
    edges = ("1", "S-1", "S", "S+1")
    for chunks in (*((edge,) for edge in edges), edges):
        _cut(context, short, together, chunks)
    for around in (("S-1",), ("S+1",), *_around_a_split()):
        _cut(context, long, alone, around)
    for _ in range(DRAWN):
        drawn = tuple(str(1 + draws.below(2 * size)) for _ in range(5))
        _cut(context, short, together, drawn)
        _cut(context, (*short, *long), together, drawn)


def _around_a_split() -> tuple[tuple[str, ...], ...]:
    """Cut before, at and after the end of the first split, then token by token."""
    rest = ("1",) * (OVER_A_SPLIT - SPLIT)
    return tuple((str(SPLIT + offset), *rest) for offset in (-1, 0, 1))


def _cut(
    context: Context, members: tuple[Request, ...], settings: Settings, chunks: tuple[str, ...]
) -> None:
    name, workload = f"chunks of {', '.join(chunks)}", Workload(members)
    policy = Batching(replace(settings, chunks=chunks))
    _, done = context.drive(name, workload, context.pool(members), policy)
    ends = mechanisms.chunk_ends(workload, done.events, context.block_size)
    context.counters.update(ends)
    context.compare_with_references(name, workload, done)
