"""A campaign: the seeds of each population, round by round, each run once and kept [FUZZ-10]."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from lockstep.engine.backends.machine import sources_digest
from lockstep.engine.environment import binding_sha256
from lockstep.engine.opening import Opened
from lockstep.engine.sources import ENGINE
from lockstep.fuzz.executors import Executor, Seeds
from lockstep.fuzz.lineage import Lineage, corpora, parent
from lockstep.fuzz.populations import PROBES, populations, round_size
from lockstep.fuzz.record import Record, parse_record
from lockstep.fuzz.store import Store

SOURCES = (*ENGINE, "lockstep.fuzz")
"""The packages and modules whose sources bear on what a seed gives."""

Tell = Callable[[int, Record], None]


@dataclass(frozen=True)
class Ran:
    """The records of a campaign, by population in the order of the specification, by seed."""

    records: Mapping[str, tuple[Record, ...]]

    @property
    def padded(self) -> dict[str, tuple[Record, ...]]:
        """The records of every population, none of one that was not reached."""
        return {name: tuple(self.records.get(name, ())) for name in populations()}

    @property
    def all(self) -> tuple[Record, ...]:
        """All records, in this order."""
        return tuple(record for own in self.records.values() for record in own)


def sources_sha256() -> str:
    """Give the digest over the sources of what a campaign runs."""
    return sources_digest(*SOURCES)


def subject_of(opened: Opened, mutation: str | None = None) -> dict[str, str]:
    """Give what records are comparable under: model, binding, sources and mutation."""
    return {
        "backend": opened.model.backend.name,
        "binding_sha256": binding_sha256(opened.model.backend.binding()),
        "model_digest": opened.model.digest.hex(),
        "mutation": mutation or "none",
        "sources_sha256": sources_sha256(),
    }


def run_campaign(
    store: Store,
    executor: Executor,
    seeds: Mapping[str, int],
    tell: Tell = lambda done, record: None,
    until: Callable[[Record], bool] = lambda record: False,
) -> Ran:
    """Run the seeds that have no record yet; each is kept as soon as it is made.

    Args:
        store: where records are kept.
        executor: what runs seeds.
        seeds: how many of each population, from 0.
        tell: called with the number of records, and each as it is made or found.
        until: whether a record ends the campaign, which is asked after each round.

    Raises:
        LockstepError: as the store and the executor.
    """
    done = 0
    found: dict[str, tuple[Record, ...]] = {}
    for name in populations():
        own: list[Record] = []
        for members in _rounds(name, seeds.get(name, 0)):
            for record in _round(store, executor, name, members, own):
                done += 1
                tell(done, record)
                own.append(record)
            own.sort(key=lambda record: record.seed)
            if any(until(record) for record in own):
                return Ran({**found, name: tuple(own)})
        found[name] = tuple(own)
    return Ran(found)


def lineage_of(name: str, seed: int, records: Mapping[int, Record]) -> Lineage:
    """Give the lineage of a seed whose ancestors have records."""
    seeds = [seed]
    while (before := records[seeds[0]].parent) is not None:
        seeds.insert(0, before)
    return Lineage(name, tuple(seeds))


def kept(records: Mapping[str, tuple[Record, ...]]) -> Iterator[Record]:
    """Give the records whose cases showed what no smaller seed of the population had."""
    for own in records.values():
        seen: set[object] = set()
        for record in own:
            if not record.shown <= seen:
                seen |= record.shown
                yield record


def _rounds(name: str, seeds: int) -> Iterator[range]:
    # No probe depends on another.
    size = max(seeds, 1) if name == PROBES else round_size()
    for first in range(0, seeds, size):
        yield range(first, min(first + size, seeds))


def _round(
    store: Store, executor: Executor, name: str, members: range, before: list[Record]
) -> Iterator[Record]:
    """Give the records of a round, those first that are kept already."""
    stored = store.records(name)
    wanted: list[Seeds] = []
    corpus = corpora((r.seed, r.shown) for r in before).get(members.start // round_size(), ())
    by_seed = {record.seed: record for record in before}
    for seed in members:
        if seed in stored:
            yield parse_record(stored[seed])
            continue
        ancestor = parent(name, seed, corpus)
        lineage = () if ancestor is None else lineage_of(name, ancestor, by_seed).seeds
        wanted.append((name, (*lineage, seed)))
    for document in executor(wanted) if wanted else ():
        store.add(document)
        yield parse_record(document)


def counted(each: int | None = None) -> dict[str, int]:
    """Give how many seeds of each population a campaign runs.

    Args:
        each: of every population, as far as there are probes; None for the specification's.
    """
    declared = {name: one.seeds for name, one in populations().items()}
    if each is None:
        return declared
    return {name: min(each, count) if name == PROBES else each for name, count in declared.items()}
