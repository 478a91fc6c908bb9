"""What relations there are, what each demands, and at which block sizes [REL-1] [REL-2]."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from lockstep import spec
from lockstep.errors import LockstepError

FILE = "relations.json"


class Condition(NamedTuple):
    """What holds between the numbers of a record [REL-9].

    Attributes:
        left: weights by name, of counters and of the record's own numbers.
        kind: `equal`, `at_least` or `positive_with`.
        right: likewise.
        where: `always`, or `holds` for records that hold.
    """

    left: Mapping[str, int]
    kind: str
    right: Mapping[str, int]
    where: str


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
        executes: whether its runs execute workloads [REL-9].
        conditions: what holds of its records, those of all that execute first [REL-9].
        backend: the only one that it can be run on; empty for any [REL-25].
        exempt: the settings under which it does not apply, by name; none where it always does.
        exempt_but: settings that must stand there too, with other values than these.
        exempt_reason: why it does not apply then; empty where it always does.
    """

    name: str
    title: str
    claim: str
    rule: str
    block_sizes: tuple[int, ...]
    counters: tuple[str, ...]
    executes: bool
    conditions: tuple[Condition, ...]
    backend: str
    exempt: Mapping[str, str]
    exempt_but: Mapping[str, str]
    exempt_reason: str

    def applies(self, resolved: Mapping[str, str]) -> bool:
        """Say whether the relation applies in an environment [REL-25] [INV-12].

        Args:
            resolved: the environment's settings in force, by name.
        """
        exempt = self.exempt.items()
        others = self.exempt_but.items()
        return not (
            exempt
            and all(resolved.get(name) == value for name, value in exempt)
            and all(resolved.get(name, value) != value for name, value in others)
        )


@dataclass(frozen=True)
class Control:
    """A run over a backend that is not invariant, which the relation should catch [REL-7].

    Attributes:
        backend: the backend's name.
        relation: the relation's name.
        block_size: of the run.
        seed: of the run.
        required: whether it is caught on every machine, and not only on some.
    """

    backend: str
    relation: str
    block_size: int
    seed: int
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
def engine_counters() -> frozenset[str]:
    """Give the counters of an execution that any relation's record may have [REL-9]."""
    return frozenset(_document()["counters"])


@cache
def kernels() -> tuple[str, ...]:
    """Give the kernels that KERNEL-EQ compares [REL-25]."""
    return tuple(_document()["kernels"])


@cache
def event_counters() -> dict[str, str]:
    """Give the counter of each event, by the event [REL-9]."""
    return {entry["event"]: entry["counter"] for entry in _document()["events"]}


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
    shared = _document()["conditions"] if entry["executes"] else []
    exempt = entry.get("does_not_apply", {"settings": [], "but": [], "reason": ""})
    return Declared(
        name=entry["name"],
        title=entry["title"],
        claim=entry["claim"],
        rule=entry["rule"],
        block_sizes=tuple(entry["block_sizes"]),
        counters=tuple(entry["counters"]),
        executes=entry["executes"],
        conditions=tuple(
            Condition(one["left"], one["is"], one["right"], one["where"])
            for one in (*shared, *entry["conditions"])
        ),
        backend=entry.get("backend", ""),
        exempt={setting["name"]: setting["value"] for setting in exempt["settings"]},
        exempt_but={setting["name"]: setting["value"] for setting in exempt["but"]},
        exempt_reason=exempt["reason"],
    )


def _document() -> dict[str, Any]:
    document: dict[str, Any] = spec.load(FILE)
    return document
