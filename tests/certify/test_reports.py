"""JUnit XML and SARIF 2.1.0 of a certified server, and what `lockstep show` prints of it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest

from lockstep import spec
from lockstep.certify.issue import exit_status
from lockstep.certify.junit import junit
from lockstep.certify.observation import Failure, Output
from lockstep.certify.report import SAYS, percent
from lockstep.certify.sarif import sarif
from lockstep.claims.certification import predicate
from lockstep.cli.payload_tables import describe
from tests import certification_records as made
from tests.certification_records import Asked

PLAN = made.plan(
    cases=["prefix_equal", "full_hit"],
    positive="mode_off",
    positive_cases=["full_hit"],
)
REQUIRED = {
    "sarifLog": {"version", "runs"},
    "run": {"tool"},
    "tool": {"driver"},
    "toolComponent": {"name"},
    "reportingDescriptor": {"id"},
    "result": {"message"},
    "invocation": {"executionSuccessful"},
}
"""The required members of sarif-schema-2.1.0.json (errata 01), by definition."""


def mixed(asked: Asked) -> Output | Failure | None:
    """Differ in the first cell, hang in the second, differ in the positive control."""
    usual = made.answer(asked.request.prompt, asked.request)
    other = replace(usual, logprobs=(f"-7.{asked.number}", *(usual.logprobs or ())[1:]))
    if asked.index == 1 and asked.number == 1 and asked.place == 0:
        return Failure(0, "timeout", None, "<&>")
    differs = asked.index == 0 or asked.cell.control == "positive"
    return other if differs and asked.place == 0 else None


def told() -> dict[str, Any]:
    record = made.seen(PLAN, mixed)
    cells = list(record.cells)
    idle = tuple(replace(one, peak_running=1) for one in cells[2].rounds)
    cells[2] = replace(cells[2], rounds=idle)
    record = replace(record, cells=tuple(cells))
    return predicate(record, issued_at=made.ISSUED_AT, producer=made.PRODUCER)


def test_a_testcase_a_cell() -> None:
    folded = told()
    verdicts = [one["verdict"] for one in folded["cells"]]
    assert verdicts[:3] == ["divergent", "hang", "not_batched"]
    suite = ElementTree.fromstring(junit(folded))[0]
    cases = suite.findall("testcase")
    assert [case.get("classname") for case in cases] == [one["case"] for one in folded["cells"]]
    names = {(case.get("classname"), case.get("name")) for case in cases}
    assert len(names) == len(cases)
    forms = [[inner.tag for inner in case] for case in cases]
    assert forms[:3] == [["failure"], ["error"], ["skipped"]]
    assert folded["cells"][-1]["control"] == "positive"
    assert (folded["cells"][-1]["verdict"], forms[-1]) == ("divergent", [])
    assert suite.get("tests") == str(len(cases))
    totals = {tag: sum([tag] == form for form in forms) for tag in ("failure", "error", "skipped")}
    stated = [suite.get(name) for name in ("failures", "errors", "skipped")]
    assert stated == [str(number) for number in totals.values()]


def test_every_verdict_has_a_form_in_every_report() -> None:
    assert set(SAYS) == set(spec.load("certification.json")["cell_verdicts"])
    folded = told()
    for verdict in SAYS:
        folded["cells"][0]["verdict"] = verdict
        report = json.loads(sarif(folded))["runs"][0]["results"][0]
        assert report["ruleId"] == verdict
        suite = ElementTree.fromstring(junit(folded))[0]
        inner = [one.tag for one in suite.findall("testcase")[0]]
        assert (inner == []) == (verdict == "clean")


def test_sarif_has_what_its_schema_requires() -> None:
    log = json.loads(sarif(told(), "server.cert.json"))
    assert (log["version"], set(log) >= REQUIRED["sarifLog"]) == ("2.1.0", True)
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    members = [("run", run), ("tool", run["tool"]), ("toolComponent", driver)]
    members += [("reportingDescriptor", one) for one in driver["rules"]]
    members += [("result", one) for one in run["results"]]
    members += [("invocation", one) for one in run["invocations"]]
    for name, one in members:
        assert set(one) >= REQUIRED[name], name
    for one in run["results"]:
        assert driver["rules"][one["ruleIndex"]]["id"] == one["ruleId"]
        # A level other than none goes with the kind fail alone.
        assert one["kind"] == "fail" or one["level"] == "none"
        assert one["kind"] in {"pass", "open", "informational", "fail"}
        assert one["message"]["text"].isprintable()
    assert run["invocations"][0]["exitCode"] == 10
    kinds = [(one["ruleId"], one["kind"], one["level"]) for one in run["results"]]
    assert kinds[:3] == [
        ("divergent", "fail", "error"),
        ("hang", "fail", "error"),
        ("not_batched", "open", "none"),
    ]
    assert kinds[-1] == ("divergent", "informational", "none")


@pytest.mark.parametrize(
    ("verdict", "status"), [("CLEAN", 0), ("INCONCLUSIVE", 3), ("DIVERGENT", 10)]
)
def test_exit_statuses(verdict: str, status: int) -> None:
    assert exit_status(verdict) == status


def test_what_show_prints() -> None:
    statement = {
        "predicateType": "urn:lockstep:certificate:certification:v1",
        "predicate": told(),
    }
    tables = {one.title: one for one in describe(statement, rows=False)}
    assert ("divergent", "prefix_equal") in [row[:2] for row in tables["cells"].rows]
    assert ("positive", "shown") in tables["controls"].rows
    assert percent(393_038) == "39.3038 %"
