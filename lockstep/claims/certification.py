"""The claim about a server: what a run saw, folded into the predicate [CERT-9] to [CERT-25].

Nothing is asked, read or timed here, but for what the specification declares: the same record
gives the same predicate.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from lockstep.certificate import lcj
from lockstep.certify.cells import planned
from lockstep.certify.observation import Seen
from lockstep.claims import certification_rounds as witness
from lockstep.claims import certification_totals as totals
from lockstep.claims.certification_cells import Cell
from lockstep.claims.certification_first import first
from lockstep.claims.certification_prompts import prompts
from lockstep.errors import LockstepError

PREDICATE_TYPE = "urn:lockstep:certificate:certification:v1"


def cells(seen: Seen) -> tuple[Cell, ...]:
    """Give the cells of a run, each beside the one in which its probes were sent one by one.

    Raises:
        LockstepError: COVERAGE_DENOMINATOR_NOT_DERIVED, the record has not the plan's cells.
    """
    plan = planned(seen.plan)
    if len(plan) != len(seen.cells):
        code = "COVERAGE_DENOMINATOR_NOT_DERIVED"
        raise LockstepError(code, "/cells", len(plan), len(seen.cells))
    every = [Cell(at, one, seen.cells[at], seen) for at, one in enumerate(plan)]
    first: dict[tuple[str, str | None], Cell] = {}
    for one in every:
        first.setdefault((one.planned.case, one.planned.control), one)
    return tuple(replace(one, partners=_partners(one, first)) for one in every)


def _partners(one: Cell, first: Mapping[tuple[str, str | None], Cell]) -> dict[str, Cell]:
    """Give the cells that a cell is compared with [CERT-14]."""
    case, control = one.planned.case, one.planned.control
    if control == "positive":
        return {"alone": first[case, "positive_sequential"]}
    if control is not None:
        return {}
    base = first[case, None]
    partners = {"alone": first[case, "sequential"]}
    return partners if base is one else {**partners, "condition": base}


def predicate(seen: Seen, *, issued_at: str, producer: Mapping[str, str]) -> dict[str, Any]:
    """Fold what a run of the certifier saw into the predicate of its certificate.

    Args:
        seen: the record.
        issued_at: UTC time, as the schema writes it.
        producer: name, version, python, machine and command.

    Raises:
        LockstepError: COVERAGE_DENOMINATOR_NOT_DERIVED, the record has not the plan's cells.
    """
    every = cells(seen)
    stated = [_cell(one) for one in every]
    shown = totals.controls(every, seen)
    own = prompts(seen)
    subject = seen.subject.document()
    return {
        "issued_at": issued_at,
        "critical": [],
        "producer": dict(producer),
        "certifier": [asdict(one) for one in seen.certifier],
        "adapter": asdict(seen.adapter),
        "subject": subject,
        "subject_sha256": hashlib.sha256(lcj.encode(subject)).hexdigest(),
        "settings": [asdict(one) for one in seen.settings],
        "overridden": totals.overridden(seen.settings),
        "turned_off": totals.turned_off(seen.settings),
        "plan": dict(seen.plan),
        "omitted": totals.omitted(seen),
        "outputs": [one.document() for one in seen.outputs],
        "cells": stated,
        "conditions": totals.conditions(every),
        "controls": [{"name": name, "status": status} for name, status in shown.items()],
        "prompts": own,
        "limits": totals.limits(every, seen, shown),
        "counts": totals.counts(every, seen, shown, stated, own),
        "verdict": totals.verdict(every, seen, shown),
    }


def _cell(one: Cell) -> dict[str, Any]:
    """Give a cell as the certificate holds it."""
    named = "none"
    if one.batched:
        named = "overlap" if one.run.adapter.gauge is None else "gauge"
    widths = [witness.width(one.planned, told, one.run.adapter) for told in one.batched]
    return {
        "case": one.planned.case,
        "control": one.planned.control,
        "cache": one.planned.cache,
        "filler": one.planned.filler,
        "order": one.planned.order,
        "requests": len(one.planned.requests),
        "requests_sha256": one.planned.requests_sha256,
        "rounds": [told.document() for told in one.rounds],
        "reason": one.seen.reason,
        "witness": named,
        "width": max(widths, default=0),
        "cache_witness": one.cache,
        "pairs": one.pairs,
        "pairs_differing": one.found.differing,
        "kinds": one.kinds,
        "first": first(one),
        "verdict": one.verdict,
        "statistics": one.statistics(),
    }
