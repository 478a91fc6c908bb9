"""Which case a seed is: a fresh one, or an altered one of the corpus [FUZZ-3].

The corpus of a seed is made of the rounds before its own alone. So the seeds of a round are
independent of each other, and what runs them, how many at once and in which order changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from lockstep.engine.digest import framed, u64
from lockstep.fuzz.alter import altered
from lockstep.fuzz.case import Case
from lockstep.fuzz.eviction import eviction_case
from lockstep.fuzz.populations import PROBES, round_size
from lockstep.fuzz.probes import probe_case
from lockstep.fuzz.swarm import swarm_case
from lockstep.schedule.draws import Draws

_FRESH = {"swarm": swarm_case, "eviction": eviction_case}


class Lineage(NamedTuple):
    """A seed and those that its case comes from.

    Attributes:
        population: its population.
        seeds: the fresh case's seed first, the seed itself last.
    """

    population: str
    seeds: tuple[int, ...]

    @property
    def seed(self) -> int:
        """The seed itself."""
        return self.seeds[-1]


def parent(population: str, seed: int, corpus: tuple[int, ...]) -> int | None:
    """Give the seed of the corpus whose case a seed alters, None where its case is fresh."""
    drawn = int.from_bytes(_digest("parent", population, seed)[:8], "big")
    if population == PROBES or not corpus or drawn % 2 == 0:
        return None
    return corpus[drawn // 2 % len(corpus)]


def corpora(shown: Iterable[tuple[int, frozenset[object]]]) -> Mapping[int, tuple[int, ...]]:
    """Give the corpus that each round has, by the round's number, as far as `shown` reaches.

    Args:
        shown: of a population's seeds from 0, in order: what each shows, n-grams and predicates.
    """
    size = round_size()
    seen: set[object] = set()
    kept: list[int] = []
    by_round: dict[int, tuple[int, ...]] = {0: ()}
    for seed, what in shown:
        if not what <= seen:
            kept.append(seed)
            seen |= what
        if (seed + 1) % size == 0:
            by_round[(seed + 1) // size] = tuple(kept)
    return by_round


def case_of(lineage: Lineage) -> Case:
    """Make the case of a seed; the same lineage makes the same one in any process."""
    population, seeds = lineage
    if population == PROBES:
        return probe_case(lineage.seed)
    case = _FRESH[population](draws_of(population, seeds[0]))
    for seed in seeds[1:]:
        case = altered(case, draws_of(population, seed))
    return case


def draws_of(population: str, seed: int) -> Draws:
    """Give the draws of a seed."""
    return Draws(int.from_bytes(_digest("case", population, seed)[:6], "big"))


def _digest(what: str, population: str, seed: int) -> bytes:
    return framed(f"lockstep/fuzz-{what}/1", population.encode("ascii"), u64(seed))
