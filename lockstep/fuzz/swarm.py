"""The population `swarm`: each run switches features on and off, of its workload and its policy.

A run in which every feature is on at once hardly ever goes far in any of them; runs that lack some
reach what the others hide (A. Groce et al., Swarm Testing, ISSTA 2012).
"""

from __future__ import annotations

from dataclasses import fields

from lockstep.fuzz.case import Case, Driven
from lockstep.lifecycle import Pool
from lockstep.schedule.draws import Draws
from lockstep.schedule.policies.batching import Settings, Turn
from lockstep.schedule.policies.swarm import Features
from lockstep.schedule.workload import Workload
from lockstep.schedule.workloads import Kind, Shape, make_workload, pool_for

SHORT_KINDS: tuple[Kind, ...] = ("edges", "prefixes")
BLOCK_SIZES = (1, 2, 4, 8, 16, 32)
VOCABULARY = 256
"""Token ids of prompts lie below it; every model for the engine has as many."""

LARGEST_SEED = 1 << 32
BUDGETS = (None, 8, 31, 32, 33, 64)
"""Tokens of a step: around the widths at which kernels change what they do."""

TURNS: tuple[Turn, ...] = ("never", "always", "alternate")


def swarm_case(draws: Draws) -> Case:
    """Draw a case of the swarm."""
    # Long prompts are costly, and few of them are needed to reach the splits of attention.
    if draws.chance(1, 12):
        workload, block_size = _workload(draws, "splits", (16, 32), 3)
    else:
        kind = draws.choice(SHORT_KINDS)
        workload, block_size = _workload(draws, kind, BLOCK_SIZES, 8)
    return Case(workload, _pool(draws, workload, block_size), _policy(draws))


def drawn_features(draws: Draws) -> Features:
    """Draw which features of a policy are on."""
    return Features(**{field.name: draws.chance(1, 2) for field in fields(Features)})


def _workload(
    draws: Draws, kind: Kind, block_sizes: tuple[int, ...], most: int
) -> tuple[Workload, int]:
    shape = Shape(
        kind=kind,
        requests=1 + draws.below(most),
        vocab_size=VOCABULARY,
        block_size=draws.choice(block_sizes),
        max_new=1 + draws.below(8),
        arrivals=1 + draws.below(6),
        drawn=draws.chance(1, 2),
    )
    return make_workload(shape, draws.below(LARGEST_SEED)), shape.block_size


def _pool(draws: Draws, workload: Workload, block_size: int) -> Pool:
    """Draw a pool: a block too small for the largest request, enough for it, or for all."""
    tight = pool_for(workload, block_size, tight=True).blocks
    if draws.chance(1, 8) and tight > 1:
        return Pool(tight - 1, block_size)
    if draws.chance(1, 4):
        return pool_for(workload, block_size)
    return Pool(tight + draws.below(4), block_size)


def _policy(draws: Draws) -> Driven:
    if draws.chance(3, 4):
        return Driven(draws.below(LARGEST_SEED), drawn_features(draws))
    chunks = tuple(size for size in ("1", "S-1", "S", "S+1") if draws.chance(1, 3))
    return Driven(
        settings=Settings(
            max_batch=1 + draws.below(8),
            token_budget=draws.choice(BUDGETS),
            chunks=chunks,
            lookup=draws.chance(3, 4),
            preempt_after=tuple(k for k in (0, 1, 2, 4) if draws.chance(1, 3)),
            order=draws.choice(TURNS),
            take=draws.choice(TURNS),
            evict=draws.choice(TURNS),
        )
    )
