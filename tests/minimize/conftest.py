"""Cases made by the policies under stand-in tokens, and a certificate of the oversized request."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from lockstep.certificate.statement import finding_subjects, statement
from lockstep.claims.finding import predicate
from lockstep.fuzz.case import Case
from lockstep.lifecycle import Pool
from lockstep.minimize import wedge
from lockstep.minimize.observe import FindingSeen
from lockstep.schedule.policies import policy
from lockstep.schedule.simulate import simulate
from lockstep.schedule.workloads import Shape, make_workload, pool_for

PRODUCER = {
    "name": "lockstep",
    "version": "0",
    "python": "3",
    "numpy": "2",
    "machine": "m",
    "command": "c",
}


@cache
def swarm_case(seed: int, block_size: int = 4, requests: int = 4) -> Case:
    """A case of the steps that a policy takes; every third is cut short."""
    kind: Any = ("edges", "prefixes")[seed % 2]
    shape = Shape(kind=kind, requests=requests, block_size=block_size, max_new=4, arrivals=3)
    workload = make_workload(shape, seed)
    pool = pool_for(workload, block_size, tight=True)
    name = ("swarm", "adversarial", "continuous")[seed % 3]
    steps = simulate(workload, Pool(pool.blocks + 2, block_size), policy(name, seed)).schedule.steps
    cut = len(steps) // 2 if seed % 3 == 0 else len(steps)
    return Case(workload, Pool(pool.blocks + 2, block_size), steps[:cut])


@pytest.fixture(scope="session")
def wedge_seen() -> FindingSeen:
    return wedge.found()


@pytest.fixture(scope="session")
def wedge_text(wedge_seen: FindingSeen) -> str:
    folded = predicate(wedge_seen, issued_at="2026-01-01T00:00:00Z", producer=PRODUCER)
    return json.dumps(statement("finding", finding_subjects(folded), folded))


@pytest.fixture
def wedge_statement(wedge_text: str) -> dict[str, Any]:
    """The statement of the oversized request, for one test to spoil."""
    document: dict[str, Any] = json.loads(wedge_text)
    return document
