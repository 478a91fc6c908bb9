"""What the tests of the engine share: the tiny model, and schedules in short form."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lockstep.engine.backends import open_backend
from lockstep.engine.checkpoint import Checkpoint, read_checkpoint
from lockstep.engine.model import Model
from lockstep.engine.tiny import make_tiny
from lockstep.lifecycle import Pool
from lockstep.schedule.schedule import Action, Schedule

MakeSchedule = Callable[..., Schedule]


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    """The tiny model's checkpoint: 256 tokens, of which 0 ends a sequence."""
    return read_checkpoint(make_tiny(tmp_path_factory.mktemp("models") / "tiny"))


@pytest.fixture(scope="session")
def model(checkpoint: Checkpoint) -> Model:
    """The tiny model on the host."""
    return Model(checkpoint, open_backend("host"))


@pytest.fixture(scope="session")
def schedule() -> MakeSchedule:
    """Make a schedule: a pool, then a text a step, such as "admit a, chunk a 3, decode b".

    A number after a chunk's request is its tokens; numbers in brackets are blocks.
    """

    def make(blocks: int, block_size: int, *steps: str) -> Schedule:
        actions = [[_action(text) for text in step.split(", ") if text] for step in steps]
        return Schedule(Pool(blocks, block_size), tuple(tuple(step) for step in actions))

    return make


def _action(text: str) -> Action:
    words, _, named = text.partition(" [")
    event, request, *tokens = words.split()
    blocks = tuple(int(number) for number in named.rstrip("]").split())
    return Action(event, request, int(tokens[0]) if tokens else 0, blocks)
