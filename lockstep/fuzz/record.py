"""What a campaign keeps of a seed [FUZZ-9]."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from lockstep.engine.model import Model
from lockstep.errors import LockstepError
from lockstep.fuzz import boundary
from lockstep.fuzz.case import Case
from lockstep.fuzz.failure import Failure, parse_failure
from lockstep.fuzz.judge import Examined, examine
from lockstep.fuzz.lineage import Lineage, case_of
from lockstep.fuzz.populations import Gram
from lockstep.fuzz.probes import cells
from lockstep.lifecycle.relation import observed_n_grams

Cell = tuple[str, str]


@dataclass(frozen=True)
class Record:
    """What came of a seed's case.

    Attributes:
        population: the seed's population.
        seed: the seed.
        parent: the seed whose case it altered, None for a fresh case.
        case_sha256: digest of the case.
        trajectory_sha256: digest of its run; None where nothing was run.
        outcome: `clean`, `refused`, `failed` or `not_run` [FUZZ-7].
        reason: the code of the refusal, or of what was lacking; else empty.
        requests: of the workload.
        steps: that ended.
        events: that took effect.
        twice: whether the second run was like the first; None where it was not made.
        alone: whether outputs were those of the requests alone; None where they were not compared.
        cells: that the requests took, ascending.
        n_grams: pairs, then triples of events that they show, each ascending.
        predicates: that hold somewhere, in the order of the specification.
        failure: the first failure.
    """

    population: str
    seed: int
    parent: int | None
    case_sha256: str
    trajectory_sha256: str | None = None
    outcome: str = "not_run"
    reason: str = ""
    requests: int = 0
    steps: int = 0
    events: int = 0
    twice: bool | None = None
    alone: bool | None = None
    cells: tuple[Cell, ...] = ()
    n_grams: tuple[Gram, ...] = ()
    predicates: tuple[str, ...] = ()
    failure: Failure | None = None

    @property
    def shown(self) -> frozenset[object]:
        """What keeps a case in the corpus where it is new: n-grams and predicates."""
        return frozenset((*self.n_grams, *self.predicates))

    def document(self) -> dict[str, Any]:
        """Give the record as a JSON value."""
        return {
            **{name: getattr(self, name) for name in _PLAIN},
            "cells": [list(cell) for cell in self.cells],
            "n_grams": [list(gram) for gram in self.n_grams],
            "predicates": list(self.predicates),
            "failure": None if self.failure is None else self.failure.document(),
        }


_LISTS = ("cells", "n_grams", "predicates", "failure")
_PLAIN = tuple(name for name in Record.__dataclass_fields__ if name not in _LISTS)


def parse_record(document: dict[str, Any]) -> Record:
    """Give the record of what `Record.document` gave."""
    failure = document["failure"]
    return Record(
        **{name: document[name] for name in _PLAIN},
        cells=tuple((state, event) for state, event in document["cells"]),
        n_grams=tuple(tuple(gram) for gram in document["n_grams"]),
        predicates=tuple(document["predicates"]),
        failure=None if failure is None else parse_failure(failure),
    )


def record_of(model: Model, lineage: Lineage) -> Record:
    """Run the case of a seed, and give its record."""
    case = case_of(lineage)
    parent = lineage.seeds[-2] if len(lineage.seeds) > 1 else None
    blank = Record(
        lineage.population,
        lineage.seed,
        parent,
        case.sha256,
        requests=len(case.workload.requests),
    )
    try:
        examined = examine(model, case)
    except LockstepError as fault:
        return replace(blank, reason=fault.code)
    return _filled(blank, case, examined)


def _filled(blank: Record, case: Case, examined: Examined) -> Record:
    run, first = examined.first.run, examined.first
    logs = run.logs().values() if run else ()
    grams = {gram for log in logs for n in (2, 3) for gram in observed_n_grams(log, n)}
    events = run.events if run else ()
    found = boundary.shown(case, events, len(first.steps))
    outcome = "failed" if examined.failure else "refused" if first.refused else "clean"
    return replace(
        blank,
        trajectory_sha256=run.trajectory.sha256 if run else None,
        outcome=outcome,
        reason=first.refused,
        steps=len(first.steps),
        events=len(events),
        twice=examined.twice_equal,
        alone=examined.alone_equal,
        cells=tuple(sorted({cell for log in logs for cell in cells(log)})),
        n_grams=tuple(sorted(grams, key=lambda gram: (len(gram), gram))),
        predicates=tuple(name for name in boundary.NAMES if name in found),
        failure=examined.failure,
    )
