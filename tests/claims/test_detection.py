"""What records of trials are folded into, and when they are not."""

from __future__ import annotations

from typing import Any

import pytest

from lockstep import spec
from lockstep.certify.trials import bound_us, servers, trials
from lockstep.claims.detection import is_as_expected, outcome, predicate, rows
from lockstep.claims.detection_shown import no_answer, reuses, shown
from lockstep.cli.payload_detection import detection
from lockstep.errors import LockstepError
from tests import certification_records, detection_records


def folded(records: list[dict[str, Any]]) -> dict[str, Any]:
    return predicate(
        records,
        issued_at=detection_records.ISSUED_AT,
        producer=detection_records.PRODUCER,
    )


def test_every_operator_has_a_trial() -> None:
    told = {one.name: one for one in trials() if one.operator is not None}
    declared = {one["id"]: one for one in spec.load("mutation.json")["operators"]}
    assert list(told) == list(declared)
    for name, one in told.items():
        assert (one.expected == "caught") == (declared[name]["black_box"] == "visible")
        assert one.runs == (declared[name]["subsystem"] != "triton_kernels")
        assert one.command.endswith(f" --fault {name}")
        assert one.expected == "caught" or one.server == "roomy"
    assert sum(one.expected == "caught" and one.runs for one in told.values()) >= 8


def test_servers_and_exceptions_are_of_known_names() -> None:
    data = spec.load("detection.json")
    operators = spec.load("mutation.json")["operators"]
    visible = {one["id"] for one in operators if one["black_box"] == "visible"}
    assert {one["operator"] for one in data["placed"]} <= visible
    assert {one["server"] for one in data["placed"]} <= set(servers())
    controlled = {one["server"] for one in data["controls"] if one["expected"] != "any"}
    assert controlled == set(servers()), "what shows a fault must not show without it"
    known = {one["subsystem"] for one in operators}
    assert {*data["crowded_subsystems"], *data["other_backend"]} <= known
    assert servers()[0] == "roomy"
    assert next(trials()).lifetimes == 20


def test_outcomes() -> None:
    row = {"elapsed_us": 1, "shown": None, "expected": "caught"}
    clean, unsure = ({"certificate": {"verdict": word}} for word in ("CLEAN", "INCONCLUSIVE"))
    seen = {"shown": no_answer("dropped"), "certificate": None}
    late = {"elapsed_us": bound_us() + 1}
    assert outcome({**row, "elapsed_us": None}) == "not_run"
    assert outcome({**row, **clean}) == "clean"
    assert outcome({**row, **unsure}) == "quiet"
    assert outcome({**row, **seen}) == "caught"
    assert outcome({**row, **seen, **late}) == "late"
    assert outcome({**row, **seen, **late, "expected": "clean"}) == "caught"
    told = {"expected": "quiet", "outcome": "clean"}
    assert is_as_expected(told) and not is_as_expected({**told, "expected": "caught"})


@pytest.mark.parametrize("sort", detection_records.SORTS)
def test_each_sort_is_found(sort: str) -> None:
    told = detection_records.observation(sort)
    assert told["sort"] == sort
    assert (told["case"] is None) == (sort == "no_answer")


def test_a_run_without_fault_shows_nothing() -> None:
    assert shown(certification_records.seen()) is None


def test_a_warm_cache_that_is_not_used_shows_nothing() -> None:
    record = certification_records.seen(certification_records.plan(cache=["warm", "cold"]))
    from lockstep.certify.cells import planned

    for cell, one in zip(planned(record.plan), record.cells, strict=True):
        assert not any(reuses(cell, round_, record.plan) for round_ in one.rounds)


def test_a_trial_that_is_missing_makes_no_certificate() -> None:
    records = detection_records.records()
    with pytest.raises(LockstepError) as caught:
        folded(records[:-1])
    assert caught.value.code == "DETECTION_INCOMPLETE"
    records[-1]["edits_sha256"] = "0" * 64
    with pytest.raises(LockstepError) as caught:
        folded(records)
    assert caught.value.code == "DETECTION_INCOMPLETE"


def test_rows_of_some_trials_are_in_their_order() -> None:
    records = detection_records.records()
    told = rows(records[7:3:-1])
    assert [one["name"] for one in told] == [one["name"] for one in records[4:8]]


def test_it_is_shown_with_what_cannot_be_seen() -> None:
    told = folded(detection_records.records())
    shown_tables = {one.title: one for one in detection(told, False)}
    assert "blind spots" in shown_tables
    text = str(shown_tables)
    assert "exp_cut_short" in text and "Every schedule computes the same wrong model" in text
