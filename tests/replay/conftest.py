"""A small execution that preempts, evicts and hits, and its statement."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lockstep.certificate import lcj
from lockstep.certificate.statement import replay_subjects, statement
from lockstep.claims.replay import predicate
from lockstep.engine.opening import Opened, open_model
from lockstep.engine.tiny import TinyModel
from lockstep.lifecycle import Pool
from lockstep.replay.observe import ReplaySeen, observe_driven
from lockstep.schedule.policies import policy
from lockstep.schedule.workloads import Shape, make_workload, pool_for

PRODUCER = dict.fromkeys(("name", "version", "python", "numpy", "machine", "command"), "test")


@pytest.fixture(scope="session")
def opened() -> Opened:
    return open_model(TinyModel())


@pytest.fixture(scope="session")
def seen(opened: Opened) -> ReplaySeen:
    requests = make_workload(Shape(kind="prefixes", requests=6, block_size=8, max_new=8), 2)
    tight = pool_for(requests, 8, tight=True)
    return observe_driven(opened, requests, Pool(tight.blocks + 2, 8), policy("adversarial"))


def stated(seen: ReplaySeen) -> dict[str, Any]:
    """Give the statement of an execution, as a verifier reads it."""
    folded = predicate(seen, issued_at="2026-11-29T12:00:00Z", producer=PRODUCER)
    parsed: dict[str, Any] = json.loads(
        lcj.encode(statement("replay", replay_subjects(folded), folded))
    )
    return parsed


@pytest.fixture(scope="session")
def whole(seen: ReplaySeen) -> dict[str, Any]:
    return stated(seen)
