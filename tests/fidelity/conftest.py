"""The tiny model on the host and on the reference, and a few prompts of the corpus."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lockstep.engine.backends.host import HostBackend
from lockstep.engine.checkpoint import Checkpoint
from lockstep.engine.model import Model
from lockstep.engine.opening import Opened, open_model
from lockstep.engine.tiny import TinyModel
from lockstep.fidelity.corpus import Prompt, corpus
from lockstep.fidelity.measure import Measured, measure

Judge = Callable[[Model], tuple[Measured, ...]]


@pytest.fixture(scope="session")
def opened() -> Opened:
    return open_model(TinyModel())


@pytest.fixture(scope="session")
def reference() -> Model:
    return open_model(TinyModel(), "float64").model


@pytest.fixture(scope="session")
def few() -> tuple[Prompt, ...]:
    """A prompt within the first split, and one that crosses it."""
    return tuple(prompt for prompt in corpus(256) if prompt.id in ("short", "past"))


@pytest.fixture(scope="session")
def folded(few: tuple[Prompt, ...]) -> tuple[Prompt, ...]:
    """These, and one of three splits, whose fold has an order: a sum of two has none."""
    return (*few, *(prompt for prompt in corpus(256) if prompt.id == "third"))


@pytest.fixture(scope="session")
def judge(opened: Opened, reference: Model, few: tuple[Prompt, ...]) -> Judge:
    return lambda model: measure(model, reference, prompts=few)


@pytest.fixture(scope="session")
def faulty(opened: Opened) -> Callable[[type[HostBackend]], Model]:
    checkpoint: Checkpoint = opened.checkpoint
    return lambda backend: Model(checkpoint, backend())
