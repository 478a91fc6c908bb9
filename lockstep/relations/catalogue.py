"""What relations there are, what each demands, and at which block sizes [REL-1] [REL-2]."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from lockstep import spec
from lockstep.errors import LockstepError

FILE = "relations.json"


@dataclass(frozen=True)
class Declared:
    """A relation, as the spec declares it.

    Attributes:
        name: its name.
        title: what it varies, in words.
        claim: the claim that it is evidence for.
        rule: the rule that states it.
        block_sizes: the block sizes of its runs.
        counters: what a run must have counted at least once [REL-3].
    """

    name: str
    title: str
    claim: str
    rule: str
    block_sizes: tuple[int, ...]
    counters: tuple[str, ...]


@dataclass(frozen=True)
class Control:
    """A run over a backend that is not invariant, which the relation should catch [REL-7].

    Attributes:
        backend: the backend's name.
        relation: the relation's name.
        block_size: of the run.
        required: whether it is caught on every machine, and not only on some.
    """

    backend: str
    relation: str
    block_size: int
    required: bool


@cache
def declared() -> dict[str, Declared]:
    """Give the relations by name, in the order of the spec."""
    return {entry["name"]: _declared(entry) for entry in _document()["relations"]}


@cache
def controls() -> tuple[Control, ...]:
    """Give the positive controls."""
    return tuple(Control(**entry) for entry in _document()["controls"])


@cache
def block_sizes() -> tuple[int, ...]:
    """Give the block sizes over which relations run, ascending."""
    return tuple(_document()["block_sizes"])


@cache
def batch_sizes() -> tuple[int, ...]:
    """Give the batch sizes of MR1, in requests, ascending."""
    return tuple(_document()["batch_sizes"])


def require_declared(name: str) -> Declared:
    """Give a relation by its name.

    Raises:
        LockstepError: BAD_VALUE, there is none of this name.
    """
    if name not in declared():
        raise LockstepError("BAD_VALUE", "/relation", f"one of {', '.join(declared())}", name)
    return declared()[name]


def require_block_size(size: int) -> int:
    """Give a block size over which relations run.

    Raises:
        LockstepError: BAD_VALUE, it is none of them.
    """
    if size not in block_sizes():
        expected = f"one of {', '.join(map(str, block_sizes()))}"
        raise LockstepError("BAD_VALUE", "/block_size", expected, size)
    return size


def _declared(entry: dict[str, Any]) -> Declared:
    sizes, counters = tuple(entry["block_sizes"]), tuple(entry["counters"])
    return Declared(entry["name"], entry["title"], entry["claim"], entry["rule"], sizes, counters)


def _document() -> dict[str, Any]:
    document: dict[str, Any] = spec.load(FILE)
    return document
