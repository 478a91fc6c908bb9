"""The population `probes`: for each cell and each legal pair and triple, a case that shows it.

A probe is looked for among small cases by running them without a model: the first that shows the
target under stand-in tokens is the case.
"""

from __future__ import annotations

from lockstep.errors import LockstepError
from lockstep.fuzz.case import Case, Driven
from lockstep.fuzz.populations import Target, targets
from lockstep.fuzz.swarm import LARGEST_SEED, VOCABULARY, drawn_features
from lockstep.lifecycle import Pool, relation
from lockstep.lifecycle.relation import observed_n_grams
from lockstep.limits import FUZZ_PROBE_DRAWS
from lockstep.schedule.draws import Draws
from lockstep.schedule.simulate import Simulation, simulate
from lockstep.schedule.workloads import Shape, make_workload, pool_for


def probe_case(seed: int) -> Case:
    """Give the case of a probe; where no draw shows its target, the last that was drawn.

    Args:
        seed: the place of its target.
    """
    target, draws = targets()[seed], Draws(seed)
    for _ in range(FUZZ_PROBE_DRAWS):
        case = _drawn(draws)
        if _shows(case, target):
            break
    return case


def _drawn(draws: Draws) -> Case:
    """Draw two to four requests that share prefixes, over a pool that hardly holds them."""
    shape = Shape(
        kind="prefixes",
        requests=2 + draws.below(3),
        vocab_size=VOCABULARY,
        block_size=draws.choice((2, 4, 8)),
        max_new=1 + draws.below(4),
        arrivals=1 + draws.below(3),
        drawn=draws.chance(1, 2),
    )
    workload = make_workload(shape, draws.below(LARGEST_SEED))
    tight = pool_for(workload, shape.block_size, tight=True)
    by = Driven(draws.below(LARGEST_SEED), drawn_features(draws))
    return Case(workload, Pool(tight.blocks + draws.below(2), tight.block_size), by)


def _shows(case: Case, target: Target) -> bool:
    if not isinstance(case.by, Driven):
        return False
    try:
        run = simulate(case.workload, case.pool, case.by.policy()).run
    except LockstepError:
        # A mutated schedule refuses what it asked for; whoever runs the case will see it.
        return False
    return shows(run, target)


def shows(run: Simulation, target: Target) -> bool:
    """Whether a request of a run takes a target's cell, or has its events in succession."""
    if target.cell is None:
        return any(
            target.gram in observed_n_grams(log, len(target.gram)) for log in run.logs().values()
        )
    return any(target.cell in cells(log) for log in run.logs().values())


def cells(log: tuple[str, ...]) -> frozenset[tuple[str, str]]:
    """Give the cells that a request's log takes, as far as the relation has them."""
    held, found = relation(), set()
    state: str | None = held.initial
    for event in log:
        if state is None:
            break
        after = held.next_state(state, event)
        if after is not None:
            found.add((state, event))
        state = after
    return frozenset(found)
