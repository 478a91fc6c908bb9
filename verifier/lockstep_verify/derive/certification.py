"""Re-derive a certificate of a server (spec/certification.md).

What the server answered and when is the signer's word. Which cells and requests there are, whether
a batch formed, what differs from what, rates, verdicts and counts are not. The order of the checks
below is the normative order of derivation.
"""

from __future__ import annotations

import hashlib
from itertools import pairwise
from typing import Any

from lockstep_verify import lcj, spec
from lockstep_verify.derive import Derivation, Options
from lockstep_verify.derive import certification_prompts as own_prompts
from lockstep_verify.derive import certification_rounds as form
from lockstep_verify.derive import certification_totals as totals
from lockstep_verify.derive.certification_cells import Judged, judge
from lockstep_verify.derive.certification_differences import Table, collect
from lockstep_verify.derive.certification_outputs import answers
from lockstep_verify.derive.certification_plan import (
    COUNTS,
    COVERAGE,
    OUTCOME,
    Cell,
    cells,
    check_plan,
    require,
)
from lockstep_verify.errors import Refusal

Document = dict[str, Any]
_STATISTICS = "STATISTICS_DO_NOT_RECOMPUTE"
_CODES = {"pairs": COUNTS, "pairs_differing": COUNTS, "statistics": _STATISTICS}
_SHOWN = 20
"""Cells and limits that the report for people lists."""


def derive(statement: dict[str, Any], options: Options) -> Derivation:
    """Re-derive the statement of a certified server.

    Raises:
        Refusal: the first offence in the order of derivation of spec/certification.md.
    """
    predicate = statement["predicate"]
    plan, adapter = predicate["plan"], predicate["adapter"]
    check_plan(plan, adapter, predicate["subject"]["launch"] is not None)
    planned = _check_cells(plan, predicate["cells"])
    outputs = predicate["outputs"]
    table = Table(outputs, answers(outputs, plan["observable"]))
    gauge = adapter["gauge"] is not None
    _check_use(predicate)
    judged = _check_rounds(predicate, planned, table, gauge)
    _check_settings(predicate)
    if predicate["prompts"] is not None:
        conditions = own_prompts.check_form(predicate["prompts"], plan, len(outputs), gauge)
        own_prompts.check(predicate["prompts"], conditions, plan, table, gauge)
    status = totals.controls(judged, plan, table)
    by_name = {one["name"]: one["status"] for one in status}
    require(OUTCOME, "omitted", totals.omitted(plan), predicate["omitted"])
    require(OUTCOME, "conditions", totals.conditions(judged, table), predicate["conditions"])
    require(OUTCOME, "controls", status, predicate["controls"])
    limits = totals.limits(predicate, judged, by_name)
    require(OUTCOME, "limits", limits, predicate["limits"])
    counts = totals.counts(predicate, judged, by_name, table)
    for name, value in counts.items():
        require(COUNTS, f"counts/{name}", value, predicate["counts"][name])
    verdict = totals.verdict(judged, by_name, predicate["subject"])
    require(OUTCOME, "verdict", verdict, predicate["verdict"])
    _check_subject(statement)
    return Derivation(verdict, counts, _lines(predicate, judged))


def _check_cells(plan: Document, stated: list[Document]) -> list[Cell]:
    """Check that the cells are those of the plan (step 2)."""
    planned = list(cells(plan))
    require(COVERAGE, "cells", len(planned), len(stated))
    for i, (cell, one) in enumerate(zip(planned, stated, strict=True)):
        told = {
            "case": cell.case,
            "control": cell.control,
            **cell.condition,
            "requests": len(cell.requests),
            "requests_sha256": cell.sha256,
        }
        for name, value in told.items():
            require(COVERAGE, f"cells/{i}/{name}", value, one[name])
    return planned


def _check_use(predicate: Document) -> None:
    """Check that each output is used, for the first time in its order (step 3)."""
    prompts = predicate["prompts"]
    held = [*predicate["cells"], *([] if prompts is None else prompts["conditions"])]
    used, entries = 0, len(predicate["outputs"])
    for cell in held:
        for one in cell["rounds"]:
            for output in one["outputs"]:
                if output is not None and (output > used or output == entries):
                    form.refuse(f"outputs/{used}", "used before later ones", output)
                used += output == used
    if used != entries:
        form.refuse(f"outputs/{used}", "an output of some request", "used nowhere")


def _check_rounds(
    predicate: Document, planned: list[Cell], table: Table, gauge: bool
) -> list[Judged]:
    """Check the form of rounds, then derive what follows from them, cell by cell (step 4)."""
    plan, stated = predicate["plan"], predicate["cells"]
    for i, cell in enumerate(planned):
        _check_form(i, cell, stated[i], plan, len(table.outputs), gauge)
    seen = [
        collect(i, cell, stated[i]["rounds"], plan["priming"]) for i, cell in enumerate(planned)
    ]
    first: dict[tuple[str, str | None], int] = {}
    for i, cell in enumerate(planned):
        first.setdefault((cell.case, cell.control), i)
    judged = []
    for i, cell in enumerate(planned):
        partners = {}
        if cell.control in (None, "positive"):
            apart = "sequential" if cell.control is None else "positive_sequential"
            partners["alone"] = seen[first[cell.case, apart]]
        if cell.control is None and first[cell.case, None] != i:
            partners["condition"] = seen[first[cell.case, None]]
        shown = form.witness(cell, stated[i]["rounds"], plan, gauge)
        judged.append(judge(cell, seen[i], stated[i], plan, table, shown, partners))
        for name, value in judged[i].members.items():
            require(_CODES.get(name, OUTCOME), f"cells/{i}/{name}", value, stated[i][name])
    return judged


def _check_form(
    index: int, cell: Cell, stated: Document, plan: Document, outputs: int, gauge: bool
) -> None:
    at = f"cells/{index}"
    rounds = stated["rounds"]
    form.check_numbers(rounds, cell.lifetimes, cell.per_lifetime, stated["reason"], at)
    form.check_possible(cell, stated, plan, at)
    for i, one in enumerate(rounds):
        roles = [request["role"] for request in cell.requests[: cell.size(one["number"])]]
        form.check_form(one, roles, outputs, gauge, f"{at}/rounds/{i}")
        if cell.one_by_one:
            form.check_one_by_one(one, f"{at}/rounds/{i}")
        else:
            form.check_waves(cell, one, f"{at}/rounds/{i}")


def _check_settings(predicate: Document) -> None:
    """Check what is said of server and certifier (CERT-19, CERT-20; step 5)."""
    for member in ("certifier", "settings"):
        names = [one["name"] for one in predicate[member]]
        for i, (before, name) in enumerate(pairwise(names), 1):
            if name <= before:
                form.refuse(f"{member}/{i}/name", "names ascending", name)
    data, settings = spec.load("certification.json"), predicate["settings"]
    overridden = [
        one["name"]
        for one in settings
        if None not in (one["requested"], one["resolved"]) and one["requested"] != one["resolved"]
    ]
    turned_off = [
        one["name"]
        for one in settings
        if one["name"] in data["features"]
        and one["resolved"] == "off"
        and one["requested"] != "off"
    ]
    require(OUTCOME, "overridden", overridden, predicate["overridden"])
    require(OUTCOME, "turned_off", turned_off, predicate["turned_off"])
    subject = predicate["subject"]
    names = [one["name"] for one in subject["identity"]]
    require(COVERAGE, "subject/identity", data["identity"], names)
    if (subject["positive"] is None) != (predicate["plan"]["positive"] == "absent"):
        expected = "a launch, exactly where there is a positive control"
        form.refuse("subject/positive", expected, subject["positive"])
    launches = subject["launch"], subject["positive"]
    if None not in launches and launches[0]["command"] == launches[1]["command"]:
        expected, got = "another command than the server's", launches[1]["command"]
        form.refuse("subject/positive/command", expected, got)
    sha256 = hashlib.sha256(lcj.encode(subject)).hexdigest()
    require("BAD_VALUE", "subject_sha256", sha256, predicate["subject_sha256"])


def _check_subject(statement: Document) -> None:
    """Compare the subject `server` with the predicate's (step 8)."""
    expected = statement["predicate"]["subject_sha256"]
    names = [subject["name"] for subject in statement["subject"]]
    if "server" not in names:
        raise Refusal("SUBJECT_MISMATCH", "/subject", f"server {expected}", "no subject server")
    at = names.index("server")
    got = statement["subject"][at]["digest"]["sha256"]
    if got != expected:
        raise Refusal("SUBJECT_MISMATCH", f"/subject/{at}/digest/sha256", expected, got)


def _lines(predicate: Document, judged: list[Judged]) -> tuple[str, ...]:
    """Give the report for people."""
    data = spec.load("certification.json")
    says = {one["id"]: one["says"] for one in data["limits"]}
    apart = [one for one in judged if one.verdict != "clean"]
    fields = predicate["subject"]["identity"]
    return (
        *(f"{one['name']}: {one['observed'] or 'not read'} (attested)" for one in fields),
        *(f"turned off by the mode: {name}" for name in predicate["turned_off"]),
        *(f"control {one['name']}: {one['status']}" for one in predicate["controls"]),
        *(
            f"{one.cell.case} {one.cell.control or ' '.join(one.cell.condition.values())}: "
            f"{one.verdict} {' '.join(one.members['kinds'])}".rstrip()
            for one in apart[:_SHOWN]
        ),
        *([f"and {len(apart) - _SHOWN} cells more"] if len(apart) > _SHOWN else []),
        *(f"not shown: {says[name]}" for name in predicate["limits"]),
    )
