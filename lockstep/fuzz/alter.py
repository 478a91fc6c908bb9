"""Altering a case of the corpus: one or two of its choices become others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace

from lockstep.fuzz.case import Case, Driven
from lockstep.fuzz.swarm import LARGEST_SEED, VOCABULARY, drawn_features
from lockstep.lifecycle import Pool
from lockstep.schedule.draws import Draws
from lockstep.schedule.policies.swarm import Features
from lockstep.schedule.workload import Request, Workload
from lockstep.schedule.workloads import pool_for

MOST_REQUESTS = 10
MOST_ARRIVAL = 8
MOST_OUTPUTS = 12
"""Bounds of what altering adds, so that a long lineage does not make costly cases."""


def altered(case: Case, draws: Draws) -> Case:
    """Alter a case of a policy; the pool holds each of its requests, but where it did not before.

    Args:
        case: of the corpus.
        draws: of the seed.
    """
    for _ in range(1 + draws.below(2)):
        case = draws.choice(_WAYS)(case, draws)
    return case


def _policy_seed(case: Case, draws: Draws) -> Case:
    """Draw the policy's choices anew, its features as they are."""
    features = case.by.features if isinstance(case.by, Driven) else None
    features = drawn_features(draws) if features is None else features
    return replace(case, by=Driven(draws.below(LARGEST_SEED), features))


def _feature(case: Case, draws: Draws) -> Case:
    """Switch one feature of the policy."""
    features = case.by.features if isinstance(case.by, Driven) else None
    seed = case.by.seed if isinstance(case.by, Driven) else 0
    if features is None:
        return _policy_seed(case, draws)
    name = draws.choice([field.name for field in fields(Features)])
    return replace(case, by=Driven(seed, replace(features, **{name: not getattr(features, name)})))


def _blocks(case: Case, draws: Draws) -> Case:
    """Give the pool a block or two more than its largest request needs, or none."""
    size = case.pool.block_size
    tight = pool_for(case.workload, size, tight=True).blocks
    return replace(case, pool=Pool(tight + draws.below(3), size))


def _prompt(case: Case, draws: Draws) -> Case:
    """Let a prompt end one token earlier or later, or at the edge of its block."""

    def change(request: Request) -> Request:
        size, length = case.pool.block_size, len(request.prompt)
        lengths = (length - 1, length + 1, -(-length // size) * size)
        wanted = max(1, draws.choice(lengths))
        more = tuple(1 + draws.below(VOCABULARY - 1) for _ in range(wanted - length))
        return replace(request, prompt=(request.prompt + more)[:wanted])

    return _with_request(case, draws, change)


def _outputs(case: Case, draws: Draws) -> Case:
    """Let a request emit another number of tokens."""
    return _with_request(
        case, draws, lambda request: replace(request, max_new=1 + draws.below(MOST_OUTPUTS))
    )


def _arrival(case: Case, draws: Draws) -> Case:
    """Let a request arrive in another step."""
    return _with_request(
        case, draws, lambda request: replace(request, arrival=draws.below(MOST_ARRIVAL))
    )


def _drop(case: Case, draws: Draws) -> Case:
    """Leave a request out."""
    requests = case.workload.requests
    if len(requests) == 1:
        return _policy_seed(case, draws)
    place = draws.below(len(requests))
    return _with_workload(case, (*requests[:place], *requests[place + 1 :]))


def _again(case: Case, draws: Draws) -> Case:
    """Ask for a request once more, later."""
    requests = case.workload.requests
    if len(requests) >= MOST_REQUESTS:
        return _drop(case, draws)
    chosen = draws.choice(requests)
    taken = {request.id for request in requests}
    name = next(f"r{n}" for n in range(len(requests) + 1) if f"r{n}" not in taken)
    again = replace(chosen, id=name, arrival=chosen.arrival + draws.below(MOST_ARRIVAL))
    return _with_workload(case, (*requests, again))


_WAYS: tuple[Callable[[Case, Draws], Case], ...] = (
    _policy_seed,
    _feature,
    _blocks,
    _prompt,
    _outputs,
    _arrival,
    _drop,
    _again,
)


def _with_request(case: Case, draws: Draws, change: Callable[[Request], Request]) -> Case:
    requests = list(case.workload.requests)
    place = draws.below(len(requests))
    requests[place] = change(requests[place])
    return _with_workload(case, tuple(requests))


def _with_workload(case: Case, requests: tuple[Request, ...]) -> Case:
    """Give the case other requests, and a pool that is no tighter for its largest than before."""
    size = case.pool.block_size
    before = pool_for(case.workload, size, tight=True).blocks
    workload = Workload(requests)
    after = pool_for(workload, size, tight=True).blocks
    return replace(
        case, workload=workload, pool=Pool(max(1, case.pool.blocks + after - before), size)
    )
