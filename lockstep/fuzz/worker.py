"""What a process of a campaign does: open the model once, run the cases of seeds.

Nothing of the engine is imported before a mutation is in force, and what goes in and out is plain
data, so that any executor can carry it.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lockstep.errors import LockstepError

if TYPE_CHECKING:
    from lockstep.engine.opening import Opened


class Subject(NamedTuple):
    """What a campaign runs on, in plain values.

    Attributes:
        folder: the model's folder; empty for a tiny model that is made from its recipe.
        seed: of the tiny model.
        backend: the backend's name.
        dtype: its compute dtype; None for the backend's own.
        mutation: the operator that the engine is mutated by; None for the engine as it is.
    """

    folder: str = ""
    seed: int = 0
    backend: str = "host"
    dtype: str | None = None
    mutation: str | None = None


def begin(mutation: str | None) -> None:
    """Make a process of a campaign ready: its interrupts, its end, its mutation.

    Raises:
        LockstepError: as `lockstep.mutation.load.install`.
    """
    # Ctrl-C is for the parent, which ends its processes.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    mutate(mutation)


def mutate(mutation: str | None) -> None:
    """Put a mutation in force, once in each process.

    Raises:
        LockstepError: as `install`; MUTATION_TOO_LATE, another one is in force than is asked for.
    """
    from lockstep.mutation import load

    if load.installed() == mutation:
        return
    if mutation is None:
        expected = "the engine as it is"
        raise LockstepError("MUTATION_TOO_LATE", "this process", expected, load.installed())
    load.install(mutation)


def perform(subject: Subject, population: str, seeds: tuple[int, ...]) -> dict[str, Any]:
    """Give the record of a seed as a JSON value.

    Args:
        subject: what it runs on.
        population: the seed's population.
        seeds: the fresh case's seed first, the seed itself last.

    Raises:
        LockstepError: as `open_model`.
    """
    mutate(subject.mutation)
    from lockstep.fuzz.lineage import Lineage
    from lockstep.fuzz.record import record_of

    return record_of(opened(subject).model, Lineage(population, seeds)).document()


@lru_cache(maxsize=2)
def opened(subject: Subject) -> Opened:
    """Open the model of a subject, once in each process; errors as `open_model`."""
    from lockstep.engine.opening import open_model
    from lockstep.engine.tiny import TinyModel

    source = Path(subject.folder) if subject.folder else TinyModel(subject.seed)
    return open_model(source, subject.backend, subject.dtype)


def _end_with(parent: Any) -> None:
    """End this process where its parent was killed: nobody would take its results."""
    parent.join()
    os._exit(1)
