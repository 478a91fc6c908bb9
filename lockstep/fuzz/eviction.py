"""The population `eviction`: shared prefixes over pools that hold hardly one of the requests."""

from __future__ import annotations

from dataclasses import replace

from lockstep.fuzz.case import Case, Driven
from lockstep.fuzz.swarm import LARGEST_SEED, VOCABULARY, drawn_features
from lockstep.lifecycle import Pool
from lockstep.schedule.draws import Draws
from lockstep.schedule.workloads import Shape, make_workload, pool_for

BLOCK_SIZES = (2, 4, 8, 16)


def eviction_case(draws: Draws) -> Case:
    """Draw a case of prefix sharing under allocation pressure."""
    shape = Shape(
        kind="prefixes",
        requests=3 + draws.below(7),
        vocab_size=VOCABULARY,
        block_size=draws.choice(BLOCK_SIZES),
        max_new=1 + draws.below(6),
        arrivals=1 + draws.below(6),
        drawn=draws.chance(1, 2),
    )
    workload = make_workload(shape, draws.below(LARGEST_SEED))
    tight = pool_for(workload, shape.block_size, tight=True)
    features = replace(drawn_features(draws), lookups=True, early_evictions=draws.chance(3, 4))
    by = Driven(draws.below(LARGEST_SEED), features)
    return Case(workload, Pool(tight.blocks + draws.below(3), tight.block_size), by)
