"""Coverage, counts and verdict over the records of a campaign [FUZZ-11] to [FUZZ-13]."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lockstep import spec
from lockstep.fuzz.campaign import kept
from lockstep.fuzz.populations import (
    FILE,
    PROBES,
    Gram,
    population,
    populations,
    predicates,
    targets,
)
from lockstep.fuzz.record import Record
from lockstep.lifecycle import relation

VERDICTS = ("UNPROVEN", "FINDINGS", "CLEAN")
"""From the least to the most that they say."""

OUTCOMES = ("clean", "refused", "failed", "not_run")
EXPLORED, ALL = "explored", "all"
WHAT = ("cells", "pairs", "triples", "predicates")

Own = Mapping[str, Sequence[Record]]
"""Records by population, in the order of the specification, and by seed."""

Covered = dict[str, set[Any]]
"""What is shown of each of `WHAT`."""


def legal() -> dict[str, tuple[Any, ...]]:
    """Give what there is to show, each in the order of its list [FUZZ-11]."""
    held = relation()
    return {
        "cells": tuple((cell.state, cell.event) for cell in held.cells),
        "pairs": tuple(sorted(held.n_grams(2))),
        "triples": tuple(sorted(held.n_grams(3))),
        "predicates": predicates(),
    }


def covered(own: Own) -> dict[str, Covered]:
    """Give what each population shows, what is explored, and what all of them show [FUZZ-2]."""
    rows = {name: _shown(members) for name, members in own.items()}
    explored: Covered = {what: set() for what in WHAT}
    for name, seen in rows.items():
        credited = population(name)
        for what in ("pairs", "triples"):
            explored[what] |= {gram for gram in seen[what] if credited.credits(gram)}
        for what in ("cells", "predicates"):
            explored[what] |= set() if credited.targets else seen[what]
    every = {what: set().union(*(seen[what] for seen in rows.values())) for what in WHAT}
    return {**rows, EXPLORED: explored, ALL: every}


def coverage(own: Own) -> dict[str, Any]:
    """Give the coverage of each population, and what none of them covers [FUZZ-11]."""
    rows, whole = covered(own), legal()
    grams: tuple[Gram, ...] = (*whole["pairs"], *whole["triples"])
    explored = rows[EXPLORED]["pairs"] | rows[EXPLORED]["triples"]
    seen = rows[ALL]["pairs"] | rows[ALL]["triples"]
    return {
        "legal": {what: len(whole[what]) for what in WHAT},
        "rows": [
            {"population": name, **{what: len(row[what]) for what in WHAT}}
            for name, row in rows.items()
        ],
        "unexplored": [list(gram) for gram in grams if gram not in explored],
        "unseen": [list(gram) for gram in grams if gram not in seen],
        "unwitnessed": [
            {"state": state, "event": event}
            for state, event in whole["cells"]
            if (state, event) not in rows[ALL]["cells"]
        ],
        "unshown": [name for name in whole["predicates"] if name not in rows[ALL]["predicates"]],
    }


def counts(own: Own, told: Mapping[str, Any]) -> dict[str, int]:
    """Give the counts, in their order [FUZZ-12].

    Args:
        own: the records.
        told: their coverage.
    """
    records = [record for members in own.values() for record in members]
    rows = {row["population"]: row for row in told["rows"]}
    every, explored, whole = rows[ALL], rows[EXPLORED], told["legal"]
    return {
        "records": len(records),
        "cases": len({record.case_sha256 for record in records}),
        **{name: sum(record.outcome == name for record in records) for name in OUTCOMES},
        "altered": sum(record.parent is not None for record in records),
        "kept": sum(1 for _ in kept({name: tuple(members) for name, members in own.items()})),
        "requests": sum(record.requests for record in records),
        "steps": sum(record.steps for record in records),
        "events": sum(record.events for record in records),
        "findings": len({record.failure.signature for record in records if record.failure}),
        "probes_shown": sum(_hits(record) for record in own[PROBES]),
        **{what: every[what] for what in WHAT},
        "explored_pairs": explored["pairs"],
        "explored_triples": explored["triples"],
        "cells_legal": whole["cells"],
        "pairs_legal": whole["pairs"],
        "triples_legal": whole["triples"],
        "predicates_declared": whole["predicates"],
    }


def verdict(own: Own, told: Mapping[str, Any], found: Mapping[str, int]) -> str:
    """Give the verdict [FUZZ-13].

    Args:
        own: the records.
        told: their coverage.
        found: their counts.
    """
    short = any(len(own[name]) < declared.seeds for name, declared in populations().items())
    below = any(found[name] < least for name, least in spec.load(FILE)["floors"].items())
    if short or below or found["not_run"] or told["unwitnessed"] or told["unseen"]:
        return "UNPROVEN"
    return "FINDINGS" if found["failed"] else "CLEAN"


def _shown(records: Iterable[Record]) -> Covered:
    """Give what records show of what is legal."""
    whole = {what: set(members) for what, members in legal().items()}
    grams = {gram for record in records for gram in record.n_grams}
    cells = {cell for record in records for cell in record.cells}
    names = {name for record in records for name in record.predicates}
    shown: Covered = {"cells": cells, "pairs": grams, "triples": grams, "predicates": names}
    return {what: whole[what] & shown[what] for what in WHAT}


def _hits(record: Record) -> bool:
    """Whether a probe shows its target."""
    target = targets()[record.seed]
    if target.cell is None:
        return target.gram in record.n_grams
    return target.cell in record.cells
