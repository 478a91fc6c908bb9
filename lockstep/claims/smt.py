"""The claim of proofs by SMT: what was observed, folded into the predicate (spec/smt.md).

Nothing is asked, read or timed here: the same observations and arguments give the same predicate.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from lockstep import spec
from lockstep.proofs.geometries import geometries
from lockstep.proofs.query import Query, script
from lockstep.proofs.run import CaseSeen, SmtObservations
from lockstep.proofs.solvers import Answered

PREDICATE_TYPE = "urn:lockstep:certificate:smt:v1"
NOT_DECLARED = ("citation", "source")
"""What a declaration in a hunt says besides, and one here does not."""


def predicate(
    seen: SmtObservations, *, issued_at: str, producer: Mapping[str, str]
) -> dict[str, Any]:
    """Fold the observations of a run of proofs into the predicate of its certificate.

    Args:
        seen: the observations.
        issued_at: UTC time, as the schema writes it.
        producer: name, version, python, numpy, machine and command.
    """
    geometry = next(iter(geometries().values()))
    declared = [layout.as_json(geometry) for layout in seen.layouts]
    return {
        "issued_at": issued_at,
        "critical": [],
        "producer": dict(producer),
        "set": seen.set_name,
        "solvers": [{"name": name, "version": version} for name, version in seen.solvers],
        "layouts": [
            {name: value for name, value in entry.items() if name not in NOT_DECLARED}
            for entry in declared
        ],
        "cases": [_case(case) for case in seen.cases],
        "not_applicable": [
            {
                "layout": entry.layout,
                "geometry": entry.geometry,
                "mode": entry.mode,
                "reason": entry.reason,
            }
            for entry in seen.excluded
        ],
        "lifecycle": _lifecycle(seen),
        "scripts": [
            {"name": name, "sha256": hashlib.sha256(text.encode("ascii")).hexdigest()}
            for name, text in scripts(seen).items()
        ],
        "counts": _counts(seen),
        "coverage": _coverage(seen),
    }


def scripts(seen: SmtObservations) -> dict[str, str]:
    """Give the scripts by their names below an evidence folder [SMT-12]."""
    groups: dict[str, list[Query]] = {}
    for entry in seen.cases:
        name = f"smt/layouts/{entry.case.layout.name}.smt2"
        groups.setdefault(name, []).extend(said.query for said in entry.proofs.values())
    if seen.lifecycle is not None:
        held = [said.query for said in seen.lifecycle.answered if said.query.expected == "unsat"]
        groups["smt/lifecycle.smt2"] = held
    return {name: script(tuple(queries)) for name, queries in groups.items()}


def _answered(said: Answered) -> dict[str, Any]:
    return {
        "sha256": said.query.sha256,
        "expected": said.query.expected,
        "answers": dict(said.answers),
    }


def _case(seen: CaseSeen) -> dict[str, Any]:
    case = seen.case
    return {
        "layout": case.layout.name,
        "tensor": case.tensor.name,
        "geometry": case.geometry,
        "mode": case.mode,
        "queries": [{"kind": kind, **_answered(said)} for kind, said in seen.proofs.items()],
        "guards": [
            {
                "kind": entry.guard.kind,
                "axis": entry.guard.planted.axis,
                "stride": entry.guard.planted.stride,
                **_answered(entry.answered),
                "counterexample": entry.counterexample.as_json(),
            }
            for entry in seen.guards
        ],
    }


def _lifecycle(seen: SmtObservations) -> dict[str, Any] | None:
    if seen.lifecycle is None:
        return None
    return {
        "queries": [
            {"name": said.query.name, **_answered(said)} for said in seen.lifecycle.answered
        ],
        "traces": [dict(trace) for trace in seen.lifecycle.traces],
    }


def _counts(seen: SmtObservations) -> dict[str, int]:
    data = spec.load("smt.json")
    life = seen.lifecycle.answered if seen.lifecycle is not None else ()
    asked = len(seen.queries)
    return {
        "layouts": len(seen.layouts),
        "combinations": len(seen.layouts) * len(data["geometries"]) * len(data["modes"]),
        "cases": len(seen.cases),
        "not_applicable": len(seen.excluded),
        "proofs": sum(len(entry.proofs) for entry in seen.cases),
        "guards": sum(len(entry.guards) for entry in seen.cases),
        "lifecycle_proofs": sum(said.query.expected == "unsat" for said in life),
        "lifecycle_traces": sum(said.query.expected == "sat" for said in life),
        "queries": asked,
        "answers": asked * len(seen.solvers),
    }


def _coverage(seen: SmtObservations) -> dict[str, int]:
    def proved(mode: str) -> int:
        return len({e.case.layout.name for e in seen.cases if e.case.mode == mode})

    return {
        "layouts_unquantised": sum(layout.quantisation == "none" for layout in seen.layouts),
        "layouts_proved": proved("fixed"),
        "layouts_proved_for_any_tokens": proved("any"),
        **{
            reason: sum(entry.reason == reason for entry in seen.excluded)
            for reason in spec.load("smt.json")["reasons"]
        },
    }
