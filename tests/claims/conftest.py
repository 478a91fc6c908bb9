from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lockstep.claims.hunt import predicate
from lockstep.hunt import HuntObservations, hunt
from lockstep.layouts.sets import load_set

PRODUCER = dict.fromkeys(("name", "version", "python", "numpy", "machine", "command"), "test")


@pytest.fixture(scope="session")
def arguments() -> dict[str, Any]:
    return {"issued_at": "2026-11-29T12:00:00Z", "producer": PRODUCER, "falsifications": []}


@pytest.fixture(scope="session")
def fold(arguments: dict[str, Any]) -> Callable[[HuntObservations], dict[str, Any]]:
    return lambda observations: predicate(observations, **arguments)


@pytest.fixture(scope="session")
def observed() -> HuntObservations:
    return hunt(load_set("seed-004"))


@pytest.fixture(scope="session")
def folded(
    observed: HuntObservations, fold: Callable[[HuntObservations], dict[str, Any]]
) -> dict[str, Any]:
    return fold(observed)
