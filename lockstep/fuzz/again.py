"""Running again the cases that a certificate of a campaign names [FUZZ-15]."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lockstep.engine.environment import binding_of, not_comparable, plain
from lockstep.engine.opening import Opened, open_stated
from lockstep.fuzz.campaign import sources_sha256
from lockstep.fuzz.executors import here, processes
from lockstep.fuzz.lineage import Lineage
from lockstep.fuzz.record import record_of
from lockstep.fuzz.worker import Subject

EACH = 8
"""A sample has the seeds that are multiples of it."""

_PARTS = ("case_sha256", "trajectory_sha256", "outcome")


@dataclass(frozen=True)
class CampaignAgain:
    """What came of running cases again.

    Attributes:
        outcome: `same`, `differs` or `not_comparable`.
        records: cases that were run, and did not differ.
        population: of the first record that differs.
        index: of its population, in the certificate's order.
        seed: of that record.
        part: `case_sha256`, `trajectory_sha256` or `outcome`.
        expected: what the certificate has there.
        got: what there is here.
        reason: what differs of the settings, where nothing can be compared.
    """

    outcome: str
    records: int = 0
    population: str = ""
    index: int = 0
    seed: int = 0
    part: str = ""
    expected: str = ""
    got: str = ""
    reason: str = ""


def replay(
    predicate: Mapping[str, Any], folder: Path | None = None, every: bool = False, jobs: int = 1
) -> CampaignAgain:
    """Run cases of a predicate again, if they are comparable here.

    Args:
        predicate: in the form of its schema.
        folder: where the model lies; None for one that has a recipe.
        every: whether every case is run again, not only a sample.
        jobs: processes at once.

    Raises:
        LockstepError: as `open_stated`.
    """
    resolved = {entry["name"]: entry["value"] for entry in predicate["environment"]["resolved"]}
    opened = open_stated(predicate["model"], resolved["backend"], resolved["dtype"], folder)
    here_binding = {name: plain(value) for name, value in opened.model.backend.binding().items()}
    reason = not_comparable(binding_of(predicate["environment"]), here_binding)
    if reason:
        return CampaignAgain("not_comparable", reason=reason)
    other = "" if predicate["sources_sha256"] == sources_sha256() else "sources_sha256"
    wanted = list(_wanted(predicate, every))
    count = 0
    for (index, lineage, stated), record in zip(
        wanted, _run(opened, folder, [lineage for _, lineage, _ in wanted], jobs), strict=True
    ):
        for part in _PARTS:
            if record[part] == stated[part]:
                continue
            if part == "case_sha256" and other:
                return CampaignAgain("not_comparable", count, reason=other)
            told = str(stated[part]), str(record[part])
            return CampaignAgain(
                "differs", count, lineage.population, index, lineage.seed, part, *told
            )
        count += 1
    return CampaignAgain("same", count)


def _wanted(
    predicate: Mapping[str, Any], every: bool
) -> Iterator[tuple[int, Lineage, Mapping[str, Any]]]:
    """Give the place of its population, the lineage and the record of each seed to be run."""
    for index, population in enumerate(predicate["populations"]):
        records = population["records"]
        for record in records:
            if record["outcome"] == "not_run" or (not every and record["seed"] % EACH):
                continue
            seeds = [record["seed"]]
            # A parent is smaller than its child, so that this ends whatever the file says.
            while (parent := records[seeds[0]]["parent"]) is not None and parent < seeds[0]:
                seeds.insert(0, parent)
            yield index, Lineage(population["name"], tuple(seeds)), record


def _run(
    opened: Opened, folder: Path | None, lineages: list[Lineage], jobs: int
) -> Iterator[Mapping[str, Any]]:
    """Give a record for each lineage, in order."""
    recipe = opened.recipe
    if jobs == 1 or (recipe is not None and recipe != type(recipe)(recipe.seed)):
        for lineage in lineages:
            yield record_of(opened.model, lineage).document()
        return
    subject = Subject(
        folder="" if folder is None else str(folder),
        seed=0 if recipe is None else recipe.seed,
        backend=opened.model.backend.name,
        dtype=opened.model.backend.dtype,
    )
    executor = processes(subject, jobs) if jobs > 1 else here(subject)
    with executor as run:
        made = {(one["population"], one["seed"]): one for one in run(lineages)}
    yield from (made[lineage.population, lineage.seed] for lineage in lineages)
