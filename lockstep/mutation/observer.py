"""What an observer of the matrix is given, and what it says [MUT-6]."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from lockstep.engine.model import Model
    from lockstep.engine.tiny import TinyModel
    from lockstep.relations.observation import Difference, Subject

BLOCK_SIZE = 8
"""Of the relations' pools: the smallest of spec/relations.json, with the most edges of blocks."""


@dataclass(frozen=True)
class Setting:
    """The engine that observers look at, mutated or not.

    Attributes:
        model: what computes.
        folder: where it was read from.
        recipe: what it was made by.
        subject: model, backend and sources by digest.
        golden: file of the digests that the engine as it is gave in the same campaign [MUT-7].
        trajectory: file of the trajectory that it gave.
        block_size: of the relations' pools.
    """

    model: Model
    folder: Path
    recipe: TinyModel
    subject: Subject
    golden: Path
    trajectory: Path
    block_size: int = BLOCK_SIZE


class Seen(NamedTuple):
    """What an observer saw.

    Attributes:
        outcome: `differs`, `agrees`, or `not_run`.
        reason: why it was not run; else empty.
        difference: the first one, where it differs.
    """

    outcome: Literal["differs", "agrees", "not_run"]
    reason: str = ""
    difference: Difference | None = None


class Observer(NamedTuple):
    """An observer by its name in spec/mutation.json.

    Attributes:
        name: its name.
        look: looks until the first difference. What it raises is a difference too.
    """

    name: str
    look: Callable[[Setting], Seen]
