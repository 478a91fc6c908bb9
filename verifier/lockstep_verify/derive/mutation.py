"""Re-derive a certificate of mutation testing (spec/mutation.md).

What each observer saw of each mutated engine is the signer's word; that every operator and every
observer is there, what killed whom, the score and its denominators are not. The order of the
checks below is the normative order of derivation.
"""

from __future__ import annotations

import hashlib
from typing import Any

from lockstep_verify import spec
from lockstep_verify.derive import Derivation, Options
from lockstep_verify.derive.environment import Environment, check_environment
from lockstep_verify.derive.model import check_model
from lockstep_verify.errors import Refusal

_AT = "/predicate"
_COVERAGE = "COVERAGE_DENOMINATOR_NOT_DERIVED"
_OUTCOME = "OUTCOME_NOT_DERIVED"
_COUNTS = "H10_COUNTS_DO_NOT_RECOMPUTE"
_VERDICTS = ("killed", "survived", "equivalent", "not_exercised", "unproven")
_OUTCOMES = ("killed", "survived", "not_exercised", "not_run", "unfit")
_BASELINES = {"ALWAYS-PASS": "agrees", "ALWAYS-FAIL": "differs"}
_STEPLESS = "KERNEL-EQ"
"""The observer that compares without an execution, and so has no steps to detection (MUT-9)."""

Cells = list[dict[str, Any]]
Rows = list[dict[str, Any]]


def derive(statement: dict[str, Any], options: Options) -> Derivation:
    """Re-derive the statement of mutation testing.

    Raises:
        Refusal: the first offence in the order of derivation of spec/mutation.md.
    """
    predicate, data = statement["predicate"], spec.load("mutation.json")
    environment = check_environment(predicate["environment"], f"{_AT}/environment")
    _check_model(predicate, environment)
    sha256 = hashlib.sha256(spec.read("mutation.json")).hexdigest()
    _require(_COVERAGE, "mutation_sha256", sha256, predicate["mutation_sha256"])
    _require(_COVERAGE, "block_size", data["block_size"], predicate["block_size"])
    sorts = {one["name"]: one["sort"] for one in data["observers"]}
    control, rows = predicate["control"], predicate["rows"]
    _check_cells(control, sorts, "control")
    for i, cell in enumerate(control):
        for name in ("ran", "live"):
            _require("BAD_VALUE", f"control/{i}/{name}", 0, cell[name])
    fit = {cell["observer"] for cell in control if cell["seen"] == "agrees"}
    _require(_COVERAGE, "rows", len(data["operators"]), len(rows))
    for i, (row, declared) in enumerate(zip(rows, data["operators"], strict=True)):
        _check_row(row, declared, sorts, fit, f"rows/{i}")
    _check_observers(predicate["observers"], rows, sorts)
    proxies = _contradicted(rows, data)
    counts = _counts(rows, data["operators"], sorts, fit, len(proxies))
    for name, value in counts.items():
        _require(_COUNTS, f"counts/{name}", value, predicate["counts"][name])
    blind = _unlooked(control, rows, data)
    verdict = "UNPROVEN" if proxies or blind else _verdict(control, rows)
    _require(_OUTCOME, "verdict", verdict, predicate["verdict"])
    _check_subject(statement)
    return Derivation(verdict, counts, _lines(predicate, environment))


def _require(code: str, where: str, expected: object, got: object) -> None:
    if expected != got:
        raise Refusal(code, f"{_AT}/{where}", expected, got)


def _check_model(predicate: dict[str, Any], environment: Environment) -> None:
    """Derive the digest of weights and compute dtype (INV-1, ENG-2, ENG-8; step 1)."""
    model, dtype = predicate["model"], environment.resolved["dtype"]
    check_model(model, dtype)
    digest = hashlib.sha256()
    for field in (b"lockstep/model/1", bytes.fromhex(model["sha256"]), dtype.encode("ascii")):
        digest.update(len(field).to_bytes(8, "big") + field)
    _require("BAD_VALUE", "model_digest", digest.hexdigest(), predicate["model_digest"])


def _check_cells(cells: Cells, sorts: dict[str, str], at: str) -> None:
    """Check that no observer was left out, and the form of what each saw (MUT-12; step 3)."""
    _require(_COVERAGE, at, len(sorts), len(cells))
    for i, (name, cell) in enumerate(zip(sorts, cells, strict=True)):
        _require(_COVERAGE, f"{at}/{i}/observer", name, cell["observer"])
        if (cell["reason"] != "") != (cell["seen"] == "not_run"):
            wanted = "why it was not run" if cell["seen"] == "not_run" else ""
            raise Refusal("BAD_VALUE", f"{_AT}/{at}/{i}/reason", wanted, cell["reason"])
        if (cell["first_difference"] is not None) != (cell["seen"] == "differs"):
            wanted = "a difference" if cell["seen"] == "differs" else "null"
            got = cell["first_difference"]
            raise Refusal("BAD_VALUE", f"{_AT}/{at}/{i}/first_difference", wanted, got)
        none = ("ran", "live", "steps") if name in _BASELINES else ()
        for member in ("steps",) if name == _STEPLESS else none:
            _require("BAD_VALUE", f"{at}/{i}/{member}", 0, cell[member])


def _check_row(
    row: dict[str, Any], declared: dict[str, Any], sorts: dict[str, str], fit: set[str], at: str
) -> None:
    """Derive the outcomes of an operator's cells, and its verdict (MUT-9, MUT-10; step 3)."""
    _require(_COVERAGE, f"{at}/operator", declared["id"], row["operator"])
    _require(_COVERAGE, f"{at}/edits_sha256", declared["edits_sha256"], row["edits_sha256"])
    _check_cells(row["cells"], sorts, f"{at}/cells")
    for i, cell in enumerate(row["cells"]):
        _require(_OUTCOME, f"{at}/cells/{i}/outcome", outcome(cell, fit), cell["outcome"])
    proof = declared["proof"]
    killers = [
        cell["observer"]
        for cell in row["cells"]
        if cell["outcome"] == "killed" and sorts[cell["observer"]] != "baseline"
    ]
    real = {c["outcome"] for c in row["cells"] if sorts[c["observer"]] != "baseline"}
    _require(_OUTCOME, f"{at}/verdict", operator_verdict(real, proof is not None), row["verdict"])
    _require(_OUTCOME, f"{at}/killed_by", killers, row["killed_by"])
    if row["verdict"] == "equivalent" and not _is_lemma(proof):
        raise Refusal("H3_PROOF_MISSING", f"{_AT}/{at}", "a lemma of lemmas.json", proof)


def outcome(cell: dict[str, Any], fit: set[str]) -> str:
    """Give the outcome of a cell (MUT-9)."""
    if cell["observer"] not in fit:
        return "unfit"
    if cell["seen"] == "not_run":
        return "not_run"
    if cell["ran"] == 0 or cell["live"] == 0:
        return "not_exercised"
    return "killed" if cell["seen"] == "differs" else "survived"


def operator_verdict(outcomes: set[str], proved: bool) -> str:
    """Give the verdict of an operator from the outcomes under observers, no baselines (MUT-10)."""
    if "killed" in outcomes:
        return "killed"
    if "not_run" in outcomes or "unfit" in outcomes:
        return "unproven"
    if "survived" not in outcomes:
        return "not_exercised"
    return "equivalent" if proved else "survived"


def _is_lemma(proof: dict[str, str]) -> bool:
    return any(
        lemma["name"] == proof["lemma"] and lemma["statement_sha256"] == proof["statement_sha256"]
        for lemma in spec.load("lemmas.json")["lemmas"]
    )


def _check_observers(stated: list[dict[str, Any]], rows: Rows, sorts: dict[str, str]) -> None:
    """Count what each observer killed (MUT-13; step 4)."""
    _require(_COVERAGE, "observers", len(sorts), len(stated))
    for i, (name, entry) in enumerate(zip(sorts, stated, strict=True)):
        _require(_COVERAGE, f"observers/{i}/name", name, entry["name"])
        killed = [row for row in rows if name in row["killed_by"]]
        _require(_COUNTS, f"observers/{i}/killed", len(killed), entry["killed"])
        alone = sum(row["killed_by"] == [name] for row in killed)
        _require(_COUNTS, f"observers/{i}/alone", alone, entry["alone"])


def _contradicted(rows: Rows, data: dict[str, Any]) -> list[str]:
    """Give the operators that should be the same under every schedule, and are not (MUT-10)."""
    invisible = _invisible(data)
    return [
        row["operator"]
        for row in rows
        if row["operator"] in invisible and "differs" in _on_schedules(row["cells"], data)
    ]


def _unlooked(control: Cells, rows: Rows, data: dict[str, Any]) -> bool:
    """Tell whether nobody looked where such an operator would contradict itself (MUT-11)."""
    invisible = _invisible(data)
    asked = [control, *(row["cells"] for row in rows if row["operator"] in invisible)]
    return any("not_run" in _on_schedules(cells, data) for cells in asked)


def _invisible(data: dict[str, Any]) -> set[str]:
    return {one["id"] for one in data["operators"] if one["black_box"] == "invisible"}


def _on_schedules(cells: Cells, data: dict[str, Any]) -> set[str]:
    """Give what the observers that compare schedules saw."""
    schedules = {one["name"] for one in data["observers"] if one["schedules"]}
    return {cell["seen"] for cell in cells if cell["observer"] in schedules}


def _counts(
    rows: Rows,
    declared: list[dict[str, Any]],
    sorts: dict[str, str],
    fit: set[str],
    contradicted: int,
) -> dict[str, int]:
    """Give the counts, in their order (MUT-13)."""
    said = [row["verdict"] for row in rows]
    outcomes = [cell["outcome"] for row in rows for cell in row["cells"]]
    boxes = [one["black_box"] for one in declared]
    pairs = list(zip(boxes, said, strict=True))
    killing = [{*row["killed_by"]} - {_STEPLESS} for row in rows]
    steps = sorted(
        min(cell["steps"] for cell in row["cells"] if cell["observer"] in names)
        for row, names in zip(rows, killing, strict=True)
        if names
    )
    killed, scored = said.count("killed"), len(rows) - said.count("equivalent")
    real = {name for name, sort in sorts.items() if sort != "baseline"}
    relations = {name for name, sort in sorts.items() if sort == "relation"}
    return {
        "operators": len(rows),
        **{word: said.count(word) for word in _VERDICTS},
        "cells": len(outcomes),
        **{f"cells_{word}": outcomes.count(word) for word in _OUTCOMES},
        "visible": boxes.count("visible"),
        "visible_killed": pairs.count(("visible", "killed")),
        "invisible": boxes.count("invisible"),
        "invisible_killed": pairs.count(("invisible", "killed")),
        "contradicted": contradicted,
        "relations_killed": sum(not relations.isdisjoint(row["killed_by"]) for row in rows),
        "steps_median": steps[(len(steps) - 1) // 2] if steps else 0,
        "score_permille": killed * 1000 // scored if scored else 0,
        "observers": len(real),
        "fit": len(real & fit),
    }


def _verdict(control: Cells, rows: Rows) -> str:
    """Give the certificate's verdict (MUT-11)."""
    for cell in control:
        if cell["observer"] not in _BASELINES and cell["seen"] == "differs":
            return "UNPROVEN"
    for cells in (control, *(row["cells"] for row in rows)):
        for cell in cells:
            if cell["seen"] != _BASELINES.get(cell["observer"], cell["seen"]):
                return "UNPROVEN"
    said = {row["verdict"] for row in rows}
    if "unproven" in said or "not_exercised" in said:
        return "UNPROVEN"
    return "SURVIVORS" if "survived" in said else "EXPLAINED"


def _check_subject(statement: dict[str, Any]) -> None:
    """Compare the subject `model` with the model's digest (step 6)."""
    expected = statement["predicate"]["model"]["sha256"]
    names = [subject["name"] for subject in statement["subject"]]
    if "model" not in names:
        raise Refusal("SUBJECT_MISMATCH", "/subject", f"model {expected}", "no subject model")
    at = names.index("model")
    got = statement["subject"][at]["digest"]["sha256"]
    if got != expected:
        raise Refusal("SUBJECT_MISMATCH", f"/subject/{at}/digest/sha256", expected, got)


def _lines(predicate: dict[str, Any], environment: Environment) -> tuple[str, ...]:
    """Give the report for people: the score, and what was not killed."""
    counts = predicate["counts"]
    rows = [
        *environment.lines(),
        f"operators: {counts['killed']} killed of {counts['operators']}; {counts['equivalent']} "
        f"proved equivalent, {counts['survived']} survived, {counts['not_exercised']} not "
        f"exercised, {counts['unproven']} unproven, {counts['contradicted']} contradicted",
        f"score: {counts['score_permille']} in 1000 of those that are not equivalent; "
        f"{counts['relations_killed']} by relations",
        f"observers: {counts['fit']} of {counts['observers']} agree on the engine as it is",
        f"steps to detection, median: {counts['steps_median']} (attested)",
        *(f"{one['name']}: killed {one['killed']}, {one['alone']} of them alone"
          for one in predicate["observers"] if one["killed"]),
    ]  # fmt: skip
    rows += [
        f"{row['verdict']}: {row['operator']}"
        for row in predicate["rows"]
        if row["verdict"] != "killed"
    ]
    return tuple(rows)
