"""Controls of relations, and the relation that does not apply on a device."""

from __future__ import annotations

from typing import Any

import pytest

from lockstep_verify.derive.invariance_controls import shown

COVERAGE = "COVERAGE_DENOMINATOR_NOT_DERIVED"
OUTCOME = "OUTCOME_NOT_DERIVED"
HEX = "0" * 64


ALIKE = {
    "workloads": [HEX], "schedules": [HEX], "executions": 1, "requests": 2, "positions": 9,
    "counters": [{"name": "a", "value": 1}], "n_grams": [],
}  # fmt: skip


@pytest.mark.parametrize(
    ("seen", "required", "word"),
    [
        ("violated", True, "shown"), ("violated", False, "shown"), ("holds", True, "not_shown"),
        ("holds", False, "not_comparable"), ("vacuous", False, "not_shown"),
        ("not_run", False, "not_shown"),
    ],
)  # fmt: skip
def test_what_a_control_came_to(seen: str, required: bool, word: str) -> None:
    assert shown({**ALIKE, "outcome": seen}, {**ALIKE}, required) == word
    assert shown({**ALIKE, "outcome": seen}, None, required) == "not_shown"
    empty = {**ALIKE, "positions": 0}
    assert shown({**empty, "outcome": seen}, empty, required) == "not_shown"


@pytest.mark.parametrize("member", list(ALIKE))
def test_a_control_that_saw_something_else_than_its_twin_shows_nothing(member: str) -> None:
    other: Any = 8 if isinstance(ALIKE[member], int) else [{"name": "a", "value": 2}]
    twin = {**ALIKE, member: other}
    assert shown({**ALIKE, "outcome": "violated"}, twin, True) == "not_shown"
    assert shown({**ALIKE, "outcome": "holds"}, twin, False) == "not_shown"


def test_a_control_of_one_position_is_not_shown(bench: Any, stated: dict[str, Any]) -> None:
    # A run that a fault ended at once differs in one position, and shows nothing of its relation.
    control = stated["predicate"]["controls"][0]
    for member in ("workloads", "schedules", "counters", "n_grams"):
        control[member] = []
    control.update({"executions": 0, "requests": 0, "positions": 1, "differences": 1})
    assert bench.refusal(stated) == (OUTCOME, "/predicate/controls/0/shown")
    control["shown"] = "not_shown"
    assert bench.refusal(stated)[0] == OUTCOME
    assert bench.refusal(stated)[1] == "/predicate/claims/0/verdict"


def test_a_control_on_the_backend_of_the_subject_is_not_shown(bench: Any, records: Any) -> None:
    records.move({"backend": "fast"})
    for size in (8, 16, 32, 64, 128):
        records.change("KERNEL-EQ", size, outcome="not_run", reason="it is about host")
    stated = bench.fold(records)
    assert bench.judge(stated).verdict == "UNPROVEN"
    control = stated["predicate"]["controls"][0]
    assert (control["outcome"], control["shown"]) == ("violated", "not_shown")
    control["shown"] = "shown"
    assert bench.refusal(stated) == (OUTCOME, "/predicate/controls/0/shown")


@pytest.mark.parametrize(
    ("backend", "more"),
    [
        ("fast", {}), ("padded_tiles", {}), ("float64", {}),
        ("triton", {"device": "cpu", "torch": "2", "triton": "3", "triton_kernels": "interpreted"}),
        ("triton", {"device": "cpu", "torch": "2", "triton": "3", "triton_kernels": "compiled"}),
        ("triton", {"device": "A GPU", "torch": "2", "triton": "3"}),
    ],
)  # fmt: skip
def test_kernel_equality_holds_on_the_host_alone(
    bench: Any, records: Any, backend: str, more: dict[str, str]
) -> None:
    records.move({"backend": backend, **more})
    folded = records.fold()
    assert folded["does_not_apply"] == []
    stated = bench.fold(records)
    assert bench.refusal(stated) == (OUTCOME, "/predicate/runs/75/outcome")


DEVICE = {
    "backend": "triton", "device": "A GPU", "torch": "2", "triton": "3",
    "triton_kernels": "compiled",
}  # fmt: skip


def test_on_a_device_kernel_equality_does_not_apply(bench: Any, records: Any) -> None:
    records.move(DEVICE)
    records.runs = [run for run in records.runs if run.relation != "KERNEL-EQ"]
    folded = records.fold()
    found = bench.judge(bench.fold(records))
    assert found.verdict == "INVARIANT"
    assert (found.counts["demanded"], found.counts["does_not_apply"]) == (75, 5)
    assert folded["claims"][-1] == {
        "name": "KERNEL-EQ", "demanded": 0, "held": 0, "verdict": "DOES_NOT_APPLY"
    }  # fmt: skip
    assert any(line.startswith("does not apply: KERNEL-EQ: ") for line in found.lines)


@pytest.mark.parametrize(
    ("pointer", "value", "at"),
    [
        ("/does_not_apply", [], "/does_not_apply"),
        ("/does_not_apply/0/reason", "no time", "/does_not_apply"),
        ("/does_not_apply/0/relation", "MR1", "/does_not_apply"),
        ("/claims/6/verdict", "HOLDS", "/claims/6/verdict"),
        ("/claims/0/verdict", "DOES_NOT_APPLY", "/claims/0/verdict"),
    ],
)
def test_nothing_else_goes_by_the_door_of_the_device(
    bench: Any, records: Any, pointer: str, value: Any, at: str
) -> None:
    records.move(DEVICE)
    records.runs = [run for run in records.runs if run.relation != "KERNEL-EQ"]
    stated = bench.fold(records)
    bench.put(stated["predicate"], pointer, value)
    code, place = bench.refusal(stated)
    assert (code in (COVERAGE, OUTCOME), place) == (True, f"/predicate{at}")
