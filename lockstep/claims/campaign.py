"""The claim of a campaign: records of seeds, folded into the predicate [FUZZ-9].

Nothing is executed, read or timed here, but for what the specification declares: the same records
and arguments give the same predicate.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from lockstep import spec
from lockstep.claims.campaign_totals import counts, coverage, verdict
from lockstep.fuzz.populations import Gram, population, populations, predicates
from lockstep.fuzz.record import Record
from lockstep.lifecycle import relation

PREDICATE_TYPE = "urn:lockstep:certificate:campaign:v1"


def predicate(
    records: Mapping[str, Sequence[Record]],
    *,
    model: Mapping[str, Any],
    model_digest: str,
    environment: Mapping[str, Any],
    sources_sha256: str,
    issued_at: str,
    producer: Mapping[str, str],
) -> dict[str, Any]:
    """Fold the records of a campaign into the predicate of its certificate.

    Args:
        records: of each population, by seed from 0.
        model: what computed, as [INV-1] states it.
        model_digest: of weights and compute dtype [ENG-8], in hex.
        environment: of the backend [TUPLE-1].
        sources_sha256: digest over the sources of what was run.
        issued_at: UTC time, as the schema writes it.
        producer: name, version, python, numpy, machine and command.
    """
    own = {name: tuple(records.get(name, ())) for name in populations()}
    every = [record for members in own.values() for record in members]
    table = sorted({gram for record in every for gram in record.n_grams}, key=_by_length)
    told = coverage(own)
    found = counts(own, told)
    return {
        "issued_at": issued_at,
        "critical": [],
        "producer": dict(producer),
        "model": dict(model),
        "model_digest": model_digest,
        "environment": dict(environment),
        "sources_sha256": sources_sha256,
        "lifecycle": _lifecycle(),
        "n_grams": [list(gram) for gram in table],
        "populations": [
            {
                "name": name,
                "targets": [e for e in relation().events if e in population(name).targets],
                "records": [_record(record, table) for record in members],
            }
            for name, members in own.items()
        ],
        "coverage": told,
        "counts": found,
        "verdict": verdict(own, told, found),
    }


def _lifecycle() -> dict[str, Any]:
    """Give the relation and the pairs that no run shows, each with its proof."""
    data = spec.load("lifecycle.json")
    return {
        "sha256": hashlib.sha256(spec.read("lifecycle.json")).hexdigest(),
        "cells": data["cells"],
        "unreachable": [
            {
                "state": pair["state"],
                "event": pair["event"],
                "query": f"lifecycle/unreachable/{pair['state']}/{pair['event']}".lower(),
            }
            for pair in data["unreachable"]
        ],
    }


def _record(record: Record, table: Sequence[Gram]) -> dict[str, Any]:
    """Give a record as a certificate holds it: places in lists in the stead of names."""
    cells = [(cell.state, cell.event) for cell in relation().cells]
    names = predicates()
    return {
        "seed": record.seed,
        "parent": record.parent,
        "case_sha256": record.case_sha256,
        "trajectory_sha256": record.trajectory_sha256,
        "outcome": record.outcome,
        "reason": record.reason,
        "requests": record.requests,
        "steps": record.steps,
        "events": record.events,
        "twice": record.twice,
        "alone": record.alone,
        "cells": sorted(cells.index(cell) for cell in record.cells),
        "n_grams": sorted(table.index(gram) for gram in record.n_grams),
        "predicates": sorted(names.index(name) for name in record.predicates),
        "failure": None if record.failure is None else record.failure.document(),
    }


def _by_length(gram: Gram) -> tuple[int, Gram]:
    return len(gram), gram
