"""The execution that the committed certificate of a replay is about."""

from __future__ import annotations

from dataclasses import replace

from lockstep.lifecycle import Pool
from lockstep.schedule.policies import policy
from lockstep.schedule.policy import Policy
from lockstep.schedule.workload import Workload
from lockstep.schedule.workloads import Shape, make_workload

SEED = 13
"""Of its prompts: requests cross splits, one of them stops, and 12 of 13 cells are shown."""

BLOCK_SIZE = 16
SPARE = 4
"""Blocks beyond the need of the largest request: few enough that requests evict each other's."""


def workload(seed: int = SEED) -> Workload:
    """Give ten requests that share prefixes, and two around the first splits of attention."""
    shared = Shape(kind="prefixes", requests=10, block_size=BLOCK_SIZE, max_new=10, arrivals=6)
    long = Shape(kind="splits", requests=2, block_size=BLOCK_SIZE, max_new=6, arrivals=8)
    split = make_workload(long, seed).requests
    renamed = (replace(request, id=f"s{number}") for number, request in enumerate(split))
    return Workload((*make_workload(shared, seed).requests, *renamed))


def pool(requests: Workload) -> Pool:
    """Give its tight pool."""
    tokens = max(len(request.prompt) + request.max_new for request in requests.requests)
    return Pool(-(-tokens // BLOCK_SIZE) + SPARE, BLOCK_SIZE)


def adversarial() -> Policy:
    """Give its policy, which takes extreme chunks, preempts, and turns orders round."""
    return policy("adversarial")
