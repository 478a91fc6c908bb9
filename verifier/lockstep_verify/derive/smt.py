"""Re-derive a certificate of proofs by SMT (spec/smt.md).

The declarations, the spec's geometries and its lifecycle decide every text; what the solvers said
is the signer's word, unless they are asked again. The order of the checks is the normative one.
"""

import hashlib
from typing import Any, NamedTuple

from lockstep_verify import lcj, spec
from lockstep_verify.derive import Derivation, Options
from lockstep_verify.derive.hunt_pairs import require
from lockstep_verify.derive.layout import Layout
from lockstep_verify.derive.layout_form import check_declaration
from lockstep_verify.derive.layout_terms import geometry_of
from lockstep_verify.derive.lifecycle_machine import check_traces
from lockstep_verify.derive.lifecycle_queries import queries as lifecycle_queries
from lockstep_verify.derive.smt_replay import check_counterexample
from lockstep_verify.derive.smt_texts import Case, case_of, planted, text
from lockstep_verify.errors import Refusal

NOT_DERIVED = "QUERY_NOT_DERIVED"
_COVERAGE = "COVERAGE_DENOMINATOR_NOT_DERIVED"
_COUNTS = "H10_COUNTS_DO_NOT_RECOMPUTE"
_AT = "/predicate"


class Asked(NamedTuple):
    """A query of the certificate: where it stands, its name, the expected answer, its text."""

    pointer: str
    name: str
    expected: str
    text: str


def derive(statement: dict[str, Any], options: Options) -> Derivation:
    """Re-derive the statement of proofs by SMT.

    Raises:
        Refusal: the first offence in the order of derivation of spec/smt.md.
    """
    predicate = statement["predicate"]
    _check_layouts(predicate["layouts"])
    _check_subject(statement)
    for i, name in enumerate(spec.load("smt.json")["solvers"]):
        require("BAD_VALUE", f"{_AT}/solvers/{i}/name", name, predicate["solvers"][i]["name"])
    cases, absent = _plan(predicate["layouts"])
    _check_plan(predicate, cases, absent)
    asked: list[Asked] = []
    for i, (case, declared) in enumerate(zip(cases, predicate["cases"], strict=True)):
        asked += _check_case(case, declared, f"{_AT}/cases/{i}")
    if predicate["lifecycle"] is not None:
        asked += _check_lifecycle(predicate["lifecycle"])
    scripts = _scripts(asked)
    held = [{"name": name, "sha256": _sha256(script)} for name, script in scripts.items()]
    _check_list(predicate["scripts"], held, f"{_AT}/scripts", NOT_DERIVED)
    counts, coverage = _totals(predicate, asked, absent)
    for member, values in (("counts", counts), ("coverage", coverage)):
        for name, value in values.items():
            require(_COUNTS, f"{_AT}/{member}/{name}", value, predicate[member][name])
    # Both cost more than the rest together, and few runs ask for them.
    from lockstep_verify.derive.smt_evidence import compare_scripts, solve_again

    compared = compare_scripts(predicate["scripts"], options.evidence)
    solved = solve_again(asked, options.solvers)
    lines = _report(predicate, counts, compared, solved)
    return Derivation("DERIVED", counts | coverage, lines, bool(asked and options.solvers))


def _check_layouts(declared: list[dict[str, Any]]) -> None:
    """Check names and form (step 1).

    Raises:
        Refusal: BAD_VALUE, and the codes of `check_declaration`.
    """
    bits = spec.load("hunt.json")["dtypes"][spec.load("smt.json")["dtype"]]
    names: set[str] = set()
    for i, entry in enumerate(declared):
        if entry["name"] in names:
            raise Refusal("BAD_VALUE", f"{_AT}/layouts/{i}/name", "distinct names", entry["name"])
        names.add(entry["name"])
        check_declaration(entry, i, bits)


def _check_subject(statement: dict[str, Any]) -> None:
    """Compare the subject `layouts` with the declarations (step 2).

    Raises:
        Refusal: SUBJECT_MISMATCH.
    """
    data = lcj.encode({"layouts": statement["predicate"]["layouts"]})
    expected = hashlib.sha256(data).hexdigest()
    names = [subject["name"] for subject in statement["subject"]]
    if "layouts" not in names:
        raise Refusal("SUBJECT_MISMATCH", "/subject", f"layouts {expected}", "no subject layouts")
    at = names.index("layouts")
    got = statement["subject"][at]["digest"]["sha256"]
    require("SUBJECT_MISMATCH", f"/subject/{at}/digest/sha256", expected, got)


def _plan(declared: list[dict[str, Any]]) -> tuple[list[Case], list[dict[str, str]]]:
    """Give the cases that the declarations demand, and the combinations without one (SMT-2..4).

    Raises:
        Refusal: BAD_VALUE, at a layout that is too large.
    """
    data, limit = spec.load("smt.json"), spec.load("hunt.json")["limits"]["positions"]
    geometries = [(g, geometry_of({**g, "dtype": data["dtype"]})) for g in data["geometries"]]
    cases: list[Case] = []
    absent: list[dict[str, str]] = []
    for i, entry in enumerate(declared):
        for named, geometry in geometries:
            layout = Layout(entry, geometry)
            if layout.positions > limit:
                at = f"{_AT}/layouts/{i}"
                raise Refusal("BAD_VALUE", at, f"at most {limit} positions", layout.positions)
            for mode in data["modes"]:
                reason = _reason(layout, named["attention"], mode)
                if reason:
                    words = (layout.name, named["name"], mode, reason)
                    names = ("layout", "geometry", "mode", "reason")
                    absent.append(dict(zip(names, words, strict=True)))
                else:
                    found = [case_of(layout, t, named["name"], mode) for t in layout.tensors]
                    cases += found
    return cases, absent


def _reason(layout: Layout, attention: str, mode: str) -> str | None:
    """Say why a layout has no case, None where it has one (SMT-3)."""
    if layout.quantisation != "none":
        return "lossy"
    if layout.attention != attention:
        return "other_attention"
    if not layout.realisable:
        return "not_realisable"
    firsts = {next(axis for axis in tensor.axes if axis != "1") for tensor in layout.tensors}
    return "strides_hold_tokens" if mode == "any" and not firsts <= {"T", "Tb"} else None


def _check_plan(predicate: dict[str, Any], cases: list[Case], absent: list[dict[str, str]]) -> None:
    """Compare cases and combinations without one with those that are demanded (step 3).

    Raises:
        Refusal: QUERY_NOT_DERIVED, COVERAGE_DENOMINATOR_NOT_DERIVED.
    """
    fields = ("layout", "tensor", "geometry", "mode")
    for i, (case, declared) in enumerate(zip(cases, predicate["cases"], strict=False)):
        wanted = case.name.split("/")
        for field, value in zip(fields, wanted, strict=True):
            require(NOT_DERIVED, f"{_AT}/cases/{i}/{field}", value, declared[field])
    require(NOT_DERIVED, f"{_AT}/cases", len(cases), len(predicate["cases"]))
    _check_list(predicate["not_applicable"], absent, f"{_AT}/not_applicable", _COVERAGE)


def _check_list(
    held: list[dict[str, str]], wanted: list[dict[str, str]], at: str, code: str
) -> None:
    for i, (expected, got) in enumerate(zip(wanted, held, strict=False)):
        for name, value in expected.items():
            require(code, f"{at}/{i}/{name}", value, got[name])
    require(code, at, len(wanted), len(held))


def _check_case(case: Case, declared: dict[str, Any], at: str) -> list[Asked]:
    """Check the queries and the guards of a case (step 4).

    Raises:
        Refusal: QUERY_NOT_DERIVED, QUERY_NOT_ANSWERED, COUNTEREXAMPLE_NOT_REPLAYED.
    """
    kinds = spec.load("smt.json")["kinds"]
    asked = []
    for member, expected in (("queries", "unsat"), ("guards", "sat")):
        require(NOT_DERIVED, f"{at}/{member}", len(kinds), len(declared[member]))
        for i, (kind, entry) in enumerate(zip(kinds, declared[member], strict=True)):
            place = f"{at}/{member}/{i}"
            require(NOT_DERIVED, f"{place}/kind", kind, entry["kind"])
            wrong = None
            if member == "guards":
                wrong = planted(case, kind)
                require(NOT_DERIVED, f"{place}/axis", wrong[0], entry["axis"])
                require(NOT_DERIVED, f"{place}/stride", wrong[1], entry["stride"])
            name = f"{case.name}/{kind}" + ("/planted" if wrong else "")
            query = Asked(place, name, expected, text(case, kind, wrong))
            _check_query(query, entry)
            if wrong is not None:
                seen = entry["counterexample"]
                check_counterexample(case, kind, wrong, seen, f"{place}/counterexample")
            asked.append(query)
    return asked


def _check_query(query: Asked, entry: dict[str, Any]) -> None:
    """Check a query's digest, expected answer and answers, in this order."""
    require(NOT_DERIVED, f"{query.pointer}/sha256", _sha256(query.text), entry["sha256"])
    require(NOT_DERIVED, f"{query.pointer}/expected", query.expected, entry["expected"])
    for solver, answer in entry["answers"].items():
        at = f"{query.pointer}/answers/{solver}"
        require("QUERY_NOT_ANSWERED", at, query.expected, answer)


def _check_lifecycle(declared: dict[str, Any]) -> list[Asked]:
    """Check the lifecycle's queries, then its traces (step 5)."""
    at = f"{_AT}/lifecycle/queries"
    asked = []
    wanted = lifecycle_queries()
    for i, (query, entry) in enumerate(zip(wanted, declared["queries"], strict=False)):
        require(NOT_DERIVED, f"{at}/{i}/name", query.name, entry["name"])
        asked.append(Asked(f"{at}/{i}", query.name, query.expected, query.text))
        _check_query(asked[-1], entry)
    require(NOT_DERIVED, at, len(wanted), len(declared["queries"]))
    check_traces(declared["traces"], f"{_AT}/lifecycle/traces")
    return asked


def _scripts(asked: list[Asked]) -> dict[str, str]:
    """Join the queries that have no model into one script a subject (SMT-12)."""
    texts: dict[str, list[str]] = {}
    for query in asked:
        first = query.name.split("/")[0]
        name = "smt/lifecycle.smt2"
        if "/lifecycle/" not in query.pointer:
            name = f"smt/layouts/{first}.smt2"
        if query.expected == "unsat":
            texts.setdefault(name, []).append(f"; {query.name}\n{query.text}")
    return {name: "(reset)\n".join(parts) for name, parts in texts.items()}


def _totals(
    predicate: dict[str, Any], asked: list[Asked], absent: list[dict[str, str]]
) -> tuple[dict[str, int], dict[str, int]]:
    """Derive counts and coverage (SMT-13)."""
    data = spec.load("smt.json")
    layouts, cases = predicate["layouts"], predicate["cases"]
    proofs = sum(len(case["queries"]) for case in cases)
    guards = sum(len(case["guards"]) for case in cases)
    life = [query for query in asked if "/lifecycle/" in query.pointer]
    unsat = sum(query.expected == "unsat" for query in life)
    counts = {
        "layouts": len(layouts),
        "combinations": len(layouts) * len(data["geometries"]) * len(data["modes"]),
        "cases": len(cases),
        "not_applicable": len(absent),
        "proofs": proofs,
        "guards": guards,
        "lifecycle_proofs": unsat,
        "lifecycle_traces": len(life) - unsat,
        "queries": len(asked),
        "answers": len(asked) * len(data["solvers"]),
    }
    coverage = {
        "layouts_unquantised": sum(layout["quantisation"] == "none" for layout in layouts),
        "layouts_proved": len({case["layout"] for case in cases if case["mode"] == "fixed"}),
        "layouts_proved_for_any_tokens": len(
            {case["layout"] for case in cases if case["mode"] == "any"}
        ),
    }
    for reason in data["reasons"]:
        coverage[reason] = sum(entry["reason"] == reason for entry in absent)
    return counts, coverage


def _report(
    predicate: dict[str, Any], counts: dict[str, int], compared: int, solved: list[str]
) -> tuple[str, ...]:
    data = spec.load("smt.json")
    why = ", ".join(f"{reason} {predicate['coverage'][reason]}" for reason in data["reasons"])
    life = "lifecycle: not made"
    if predicate["lifecycle"] is not None:
        life = (
            f"lifecycle: {counts['lifecycle_proofs']} proofs, {counts['lifecycle_traces']} traces "
            "run here"
        )
    versions = ", ".join(f"{s['name']} {s['version']}" for s in predicate["solvers"])
    return (
        "geometries: " + ", ".join(geometry["name"] for geometry in data["geometries"]),
        f"layouts: {counts['layouts']} declared, {predicate['coverage']['layouts_proved']} proved "
        f"at a geometry, {predicate['coverage']['layouts_proved_for_any_tokens']} for any tokens",
        f"not applicable: {counts['not_applicable']} of {counts['combinations']} combinations of "
        f"layout, geometry and token count ({why})",
        f"queries made anew here: {counts['queries']}, of which {counts['proofs']} are proofs and "
        f"{counts['guards']} guards of layouts",
        f"replayed here: {counts['guards']} counterexamples to planted strides",
        life,
        f"answered, by the signer's word: {counts['answers']} times as expected, by {versions}",
        *solved,
        f"scripts: {len(predicate['scripts'])}, {compared} compared with files",
    )


def _sha256(script: str) -> str:
    return hashlib.sha256(script.encode("ascii")).hexdigest()
