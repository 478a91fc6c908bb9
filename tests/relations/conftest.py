"""What the tests of relations share: the tiny model, and runs of relations over it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from lockstep.engine.tiny import make_tiny
from lockstep.relations.observation import Observation
from lockstep.relations.registry import RELATIONS
from lockstep.relations.relation import observe
from lockstep.relations.run import opened

BLOCK_SIZE = 8

Observe = Callable[..., Observation]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny model's folder."""
    return make_tiny(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="session")
def observe_once(folder: Path) -> Observe:
    """Run a relation by name on the host; `stop` ends it at the first difference."""

    def run(
        name: str, block_size: int = BLOCK_SIZE, stop: bool = False, seed: int = 0
    ) -> Observation:
        model, subject = opened("host", None, folder)
        return observe(RELATIONS[name], model, folder, subject, block_size, seed, stop)

    return run


@pytest.fixture(scope="session")
def kept(observe_once: Observe) -> Observe:
    """Run a relation as it stands, once for all tests."""
    return cache(observe_once)
