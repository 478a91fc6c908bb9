"""Two counters of a mutated process: the fault ran, and its value was live when read [MUT-3].

A mutated module has this module under the name `sentinel`. A fault that never ran, or whose value
was overwritten before anything read it, was not injected, whatever an observer says.
"""

from __future__ import annotations

import atexit
import os
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

_Value = TypeVar("_Value")

ENOUGH = 16
"""Live reads after which an original that costs a computation is not computed any more."""

COUNTS = "LOCKSTEP_MUTATION_COUNTS"
"""The environment variable that names the file to which a child process adds its counts."""


class Counts(NamedTuple):
    """What a process counted.

    Attributes:
        ran: times that the faulty text ran.
        live: times that a read gave another value than the sources would have.
        steps: steps of executions that were begun.
    """

    ran: int = 0
    live: int = 0
    steps: int = 0

    def plus(self, other: Counts) -> Counts:
        """Add up two processes' counts."""
        return Counts(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))

    def since(self, before: Counts) -> Counts:
        """Give what was counted after `before` was."""
        return Counts(*(mine - theirs for mine, theirs in zip(self, before, strict=True)))


_counts = [0, 0, 0]
_begun = Counts()
_kept: dict[Any, Any] = {}


def ran(value: Any = None) -> Any:
    """Count that the faulty text ran; gives its argument, to stand within an expression."""
    _counts[0] += 1
    return value


def live(differs: bool = True) -> None:
    """Count a read of a faulty value, where it is not what the sources would have given."""
    _counts[1] += bool(differs)


def read(got: _Value, original: Any) -> _Value:
    """Give `got`, which is being read, and count where it is not what the sources would give.

    Args:
        got: the value that is read.
        original: what the sources would have given, or a function without arguments that gives
            it; it is called until the value was live `ENOUGH` times since `begin`.
    """
    if callable(original):
        if _counts[1] - _begun.live >= ENOUGH:
            return got
        original = original()
    _counts[1] += differs(got, original)
    return got


def inject(got: _Value, original: Any) -> _Value:
    """Give `got`, which is read in the very place where the fault stands: `ran`, then `read`."""
    _counts[0] += 1
    return read(got, original)


def differs(got: Any, original: Any) -> bool:
    """Whether two values are not the same: arrays and tensors by dtype, shape and bits."""
    # A tensor of torch gives its array by this method, which NumPy's arrays do not have.
    got, original = (v.numpy() if hasattr(v, "numpy") else v for v in (got, original))
    if hasattr(got, "tobytes") and hasattr(original, "tobytes"):
        same = got.dtype == original.dtype and got.shape == original.shape
        return not (same and got.tobytes() == original.tobytes())
    return bool(got != original)


def step() -> None:
    """Count a step of an execution that begins."""
    _counts[2] += 1


def keep(key: Any, original: Any) -> None:
    """Keep what the sources would have given, for the place where the faulty value is read."""
    _kept[key] = original


def kept(key: Any, otherwise: Any = None) -> Any:
    """Give what was kept under a key, `otherwise` where nothing was."""
    return _kept.get(key, otherwise)


def counts() -> Counts:
    """Give the counts of this process so far."""
    return Counts(*_counts)


def begin() -> Counts:
    """Begin a cell of the matrix, from which on live reads are counted afresh; as `counts`."""
    global _begun
    _begun = counts()
    return _begun


def read_counts(path: Path) -> Counts:
    """Give the sum of what ended child processes added to a file; nothing where there is none."""
    total = Counts()
    if path.exists():
        for line in path.read_text("ascii").splitlines():
            total = total.plus(Counts(*(int(number) for number in line.split())))
    return total


def report_at_exit() -> None:
    """Have this process add its counts to the file that the environment names, when it ends."""
    if path := os.environ.get(COUNTS):
        atexit.register(_report, Path(path))


def _report(path: Path) -> None:
    # One short write in append mode: children that end at once do not mix their lines.
    with path.open("a", encoding="ascii") as file:
        file.write(f"{_counts[0]} {_counts[1]} {_counts[2]}\n")
