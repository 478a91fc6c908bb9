"""A trial: one operator under all observers, in a process of its own [MUT-5].

Run as a module, it is that process: `python -m lockstep.mutation.trial ID FOLDER OBSERVER...`
prints the record of the trial. The engine is imported after the mutation is installed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lockstep.errors import LockstepError
from lockstep.limits import MUTATION_CELL_CPU_SECONDS, MUTATION_CELL_SECONDS
from lockstep.mutation import load, sentinel

if TYPE_CHECKING:
    from lockstep.mutation.observer import Observer, Seen, Setting


_CLOCKS = {
    signal.SIGVTALRM: (signal.ITIMER_VIRTUAL, MUTATION_CELL_CPU_SECONDS),
    signal.SIGALRM: (signal.ITIMER_REAL, MUTATION_CELL_SECONDS),
}
"""The signals that end a cell: by processor time, which a busy machine does not use up, or, where
the observer waits for a process of its own, by the clock."""


class Hang(BaseException):
    """Thrown into an observer that looks for longer than a cell may take.

    No `Exception`: what an observer makes of the engine's faults must not catch it.
    """


def trial(name: str, folder: Path, observers: Sequence[str]) -> dict[str, Any]:
    """Mutate this process, look with each observer, and give the record of the trial.

    Args:
        name: the operator's id, or that of the control.
        folder: of the model, made by the engine as it is.
        observers: names, in the order of the cells.

    Raises:
        LockstepError: as `load.install`; BAD_VALUE, there is no such observer.
    """
    operator = load.install(name)
    children = Path(tempfile.mkdtemp(prefix="mutation-"), "counts")
    os.environ[sentinel.COUNTS] = str(children)
    looks = _looks(folder, observers)
    cells = []
    for observer in observers:
        children.unlink(missing_ok=True)
        before, begun = sentinel.begin(), time.perf_counter()
        seen = looks(observer)
        seconds = time.perf_counter() - begun
        counted = sentinel.counts().since(before).plus(sentinel.read_counts(children))
        cells.append(_cell(observer, seen, counted, seconds))
    children.unlink(missing_ok=True)
    children.parent.rmdir()
    return {"operator": operator.id, "edits_sha256": operator.sha256, "cells": cells}


def _looks(folder: Path, names: Sequence[str]) -> Callable[[str], Seen]:
    """Give what looks by an observer's name; a model that cannot be opened is what all of them see.

    Raises:
        LockstepError: BAD_VALUE, there is no such observer.
    """
    try:
        setting = _setting(folder)
    except Exception as fault:
        opening = _fault("opening the model", fault)
        return lambda name: opening
    chosen = _chosen(names)
    return lambda name: look(chosen[name], setting)


def baselines(folder: Path) -> tuple[Path, Path]:
    """Give the files of the baselines of a model, beside its folder."""
    return folder.with_name(f"{folder.name}.golden.json"), folder.with_name(
        f"{folder.name}.trajectory.json"
    )


def look(observer: Observer, setting: Setting) -> Seen:
    """Let an observer look; what it raises, and that it does not end, are differences."""
    held = [(number, signal.signal(number, _hang)) for number in _CLOCKS]
    for clock, seconds in _CLOCKS.values():
        signal.setitimer(clock, seconds)
    try:
        return observer.look(setting)
    except Hang:
        return _difference("hang", "an end", "none in time")
    except Exception as fault:
        return _fault(observer.name, fault)
    finally:
        for clock, _ in _CLOCKS.values():
            signal.setitimer(clock, 0)
        for number, handler in held:
            signal.signal(number, handler)


def _hang(number: int, frame: object) -> None:
    raise Hang


def _fault(where: str, fault: Exception) -> Seen:
    """Make a difference of what was raised, with the line of the engine that raised it."""
    last = traceback.extract_tb(fault.__traceback__)[-1]
    place = f"{Path(last.filename).name}, {last.name}"
    part = "refusal" if isinstance(fault, LockstepError) else "fault"
    return _difference(part, "a run", f"{type(fault).__name__} in {place}: {fault}", where)


def _difference(part: str, expected: str, got: str, execution: str = "the observer") -> Seen:
    from lockstep.mutation.observer import Seen
    from lockstep.relations.observation import Difference

    return Seen("differs", "", Difference(execution, "", None, None, part, expected, got))


def _setting(folder: Path) -> Setting:
    from lockstep.engine.tiny import TinyModel
    from lockstep.mutation.observer import Setting
    from lockstep.relations.run import opened

    model, subject = opened("host", None, folder)
    golden, trajectory = baselines(folder)
    return Setting(model, folder, TinyModel(), subject, golden=golden, trajectory=trajectory)


def _chosen(names: Sequence[str]) -> dict[str, Observer]:
    from lockstep.mutation.observers import OBSERVERS

    found = {observer.name: observer for observer in OBSERVERS}
    for name in names:
        if name not in found:
            raise LockstepError("BAD_VALUE", "/observer", f"one of {', '.join(found)}", name)
    return found


def _cell(observer: str, seen: Seen, counted: sentinel.Counts, seconds: float) -> dict[str, Any]:
    from lockstep.relations.observation import plain

    first = seen.difference
    return {
        "observer": observer,
        "seen": seen.outcome,
        "reason": plain(seen.reason),
        "ran": counted.ran,
        "live": counted.live,
        "steps": counted.steps,
        "milliseconds": round(seconds * 1000),
        "first_difference": None if first is None else first.document(),
    }


def main(arguments: Sequence[str]) -> int:
    """Make the trial that the arguments name, and print its record."""
    name, folder, *observers = arguments
    try:
        json.dump(trial(name, Path(folder), observers), sys.stdout)
    except LockstepError as fault:
        print(f"lockstep: {fault}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
