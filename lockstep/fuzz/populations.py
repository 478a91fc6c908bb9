"""The populations of a campaign, as the specification declares them [FUZZ-1] to [FUZZ-4]."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from lockstep import spec
from lockstep.errors import LockstepError
from lockstep.lifecycle import relation

FILE = "fuzz.json"
PROBES = "probes"
"""The population whose seeds each have a target."""

Gram = tuple[str, ...]


@dataclass(frozen=True)
class Population:
    """A population.

    Attributes:
        name: its name.
        targets: the events of the subsystem that it targets.
        seeds: that a campaign runs at least, from 0.
    """

    name: str
    targets: frozenset[str]
    seeds: int

    def credits(self, gram: Gram) -> bool:
        """Whether an n-gram that the population shows counts as explored [FUZZ-2]."""
        return self.targets.isdisjoint(gram)


@dataclass(frozen=True)
class Target:
    """What a probe is for: a cell, or an n-gram.

    Attributes:
        cell: a state and an event; None for an n-gram.
        gram: the events; of a cell, its event alone.
    """

    cell: tuple[str, str] | None
    gram: Gram


@cache
def populations() -> dict[str, Population]:
    """Give the populations by name, in the order of the specification."""
    counts = {PROBES: len(targets())}
    return {
        entry["name"]: Population(
            entry["name"],
            frozenset(entry["targets"]),
            counts.get(entry["name"], entry["seeds"]),
        )
        for entry in spec.load(FILE)["populations"]
    }


def population(name: str) -> Population:
    """Give a population.

    Raises:
        LockstepError: BAD_VALUE, none of this name.
    """
    if name not in populations():
        raise LockstepError("BAD_VALUE", "population", f"one of {', '.join(populations())}", name)
    return populations()[name]


@cache
def targets() -> tuple[Target, ...]:
    """Give the targets of the probes, one a seed: cells, then pairs, then triples [FUZZ-4]."""
    held = relation()
    cells = [Target((cell.state, cell.event), (cell.event,)) for cell in held.cells]
    grams = [Target(None, gram) for n in (2, 3) for gram in sorted(held.n_grams(n))]
    return (*cells, *grams)


def round_size() -> int:
    """Give the seeds of a round, within which no seed depends on another [FUZZ-3]."""
    return int(spec.load(FILE)["round"])


def predicates() -> tuple[str, ...]:
    """Give the names of the boundary predicates, in the order of the specification."""
    return tuple(entry["name"] for entry in spec.load(FILE)["predicates"])
