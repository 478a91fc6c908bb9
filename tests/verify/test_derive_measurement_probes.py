"""Re-derivation of a run of probes within a measurement: what holds, and each lie."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from lockstep.certificate.statement import measurement_subjects
from lockstep.certificate.statement import statement as stated
from lockstep.certify.identity import Setting
from lockstep.claims import measurement
from lockstep.claims.measurement import predicate
from lockstep.measure.observation import Sample
from lockstep.measure.probe_claim import measurement_document
from tests.measure import probed
from tests.measure.probed import document
from tests.statements import get, judge, put, refusal

P = "/predicate/probes"
S = f"{P}/samples"
D = f"{P}/detections"
R = "/predicate/records"
BAD = "BAD_VALUE"
DENOMINATOR = "COVERAGE_DENOMINATOR_NOT_DERIVED"
OUTCOME = "OUTCOME_NOT_DERIVED"
STATISTICS = "STATISTICS_DO_NOT_RECOMPUTE"
Statement = dict[str, Any]
PRODUCER = {"name": "x", "version": "1", "python": "3", "machine": "m", "command": "c"}


@pytest.fixture(scope="module")
def held() -> Statement:
    folded = predicate(document(), issued_at="2026-01-01T00:00:00Z", producer=PRODUCER)
    return stated("measurement", measurement_subjects(folded), folded)


@pytest.fixture
def statement(held: Statement) -> Statement:
    return deepcopy(held)


def test_an_honest_certificate(statement: Statement) -> None:
    found = judge(statement)
    assert found.verdict == "MEASURED"
    assert found.counts == statement["predicate"]["counts"]
    assert found.counts["samples"] == 10


def change(pointer: str, value: object) -> Callable[[Statement], None]:
    return lambda one: put(one, pointer, value)


def add(pointer: str, amount: int) -> Callable[[Statement], None]:
    return lambda one: put(one, pointer, get(one, pointer) + amount)


def drop(pointer: str, place: int = -1) -> Callable[[Statement], None]:
    return lambda one: get(one, pointer).pop(place)


LIES: list[tuple[Callable[[Statement], None], str, str]] = [
    (change(f"{P}/form", "text"), BAD, f"{P}/low"),
    (change(f"{P}/entries/1/name", "prefill-32"), BAD, f"{P}/entries/1/name"),
    (change(f"{P}/entries/1/probe", "other"), BAD, f"{P}/entries/1/probe"),
    (change(f"{P}/entries/1/prompts", [65, 65]), BAD, f"{P}/entries/1/prompts"),
    (change(f"{P}/entries/1/max_new", [1, 1]), BAD, f"{P}/entries/1/max_new"),
    (change(f"{P}/entries/1/behind", 1), BAD, f"{P}/entries/1/behind"),
    (change(f"{P}/entries/4/behind", 0), BAD, f"{P}/entries/4/behind"),
    (change(f"{P}/arms/1/name", "small"), BAD, f"{P}/arms/1/name"),
    (change(f"{P}/arms/0/pins/0/agrees", False), OUTCOME, f"{P}/arms/0/pins/0/agrees"),
    (change(f"{D}/0/arm", "other"), DENOMINATOR, f"{D}/0/arm"),
    (change(f"{D}/7/arm", "small"), DENOMINATOR, f"{D}/7/arm"),
    (drop(D, 0), DENOMINATOR, f"{D}/0/name"),
    (change(f"{D}/1/place", 0), DENOMINATOR, f"{D}/1/place"),
    (change(f"{D}/1/block", 1), DENOMINATOR, f"{D}/1/block"),
    (change(f"{D}/1/warm_ups", 1), BAD, f"{D}/1/warm_ups"),
    (change(f"{D}/1/process", 5), BAD, f"{D}/1/process"),
    (change(f"{D}/1/begin_us", 0), BAD, f"{D}/1/begin_us"),
    (change(f"{D}/1/requests/0/max_new", 2), BAD, f"{D}/1/requests/0/max_new"),
    (
        change(f"{D}/1/requests/0/prompt_tokens", None),
        BAD,
        f"{D}/1/requests/0/prompt_tokens",
    ),
    (add(f"{D}/1/window/counters/0/after", 1), STATISTICS, f"{P}/budgets/0/greatest"),
    (drop(S), DENOMINATOR, S),
    (change(f"{P}/seed", 2), DENOMINATOR, f"{S}/0/name"),
    (change(f"{S}/4/place", 5), DENOMINATOR, f"{S}/4/place"),
    (change(f"{S}/4/warm_ups", 0), BAD, f"{S}/4/warm_ups"),
    (change(f"{S}/0/process", 1), BAD, f"{S}/0/process"),
    (change(f"{S}/4/process", 9), BAD, f"{S}/4/process"),
    (change(f"{S}/5/process", 2), BAD, f"{S}/5/process"),
    (drop(f"{S}/0/requests"), BAD, f"{S}/0/requests"),
    (change(f"{S}/0/requests/0/prompt_tokens", None), BAD, f"{S}/0/requests/0/prompt_tokens"),
    (change(f"{S}/2/window/counters/0/metric", None), BAD, f"{S}/2/window/counters/0/metric"),
    (change(f"{S}/0/refusal", "clock_step"), OUTCOME, f"{S}/0/refusal"),
    (add(f"{S}/0/wall_us", 1), STATISTICS, f"{S}/0/wall_us"),
    (change(f"{P}/settings/0/entries/0/cause", "harness"), OUTCOME,
     f"{P}/settings/0/entries/0/cause"),
    (change(f"{P}/budgets/0/arm", "large"), DENOMINATOR, f"{P}/budgets"),
    (add(f"{P}/budgets/0/overhead", 1), STATISTICS, f"{P}/budgets/0/overhead"),
    (add(f"{P}/budgets/1/greatest", 1), STATISTICS, f"{P}/budgets/1/greatest"),
    (drop(R), DENOMINATOR, R),
    (change(f"{R}/0/sample", None), BAD, f"{R}/0/sample"),
    (change("/predicate/arms/0/engine", "vllm"), BAD, "/predicate/arms/0/engine"),
    (change("/predicate/arms/0/budget_tokens", 4096), STATISTICS,
     "/predicate/arms/0/budget_tokens"),
    (change("/predicate/arms/1/budget_tokens", None), STATISTICS,
     "/predicate/arms/1/budget_tokens"),
    (change(f"{R}/0/sample", "large-decode-0"), BAD, f"{R}/0/sample"),
    (add(f"{R}/0/values/0/value", 1), STATISTICS, f"{R}/0/values"),
    (change(f"{R}/0/values/0/resolution", 10), STATISTICS, f"{R}/0/values"),
    (change(f"{R}/0/refusal", "foreign_work"), OUTCOME, f"{R}/0/refusal"),
]  # fmt: skip


@pytest.mark.parametrize(("lie", "code", "pointer"), LIES)
def test_a_lie(
    statement: Statement, lie: Callable[[Statement], None], code: str, pointer: str
) -> None:
    lie(statement)
    assert refusal(statement) == (code, pointer)


def resolved() -> Statement:
    """Give a statement of a server that told some of its settings."""
    seen = probed.probed()
    told = (
        Setting("cache", None, "on", "/version"),
        Setting("chunk", "64", "64", "/version"),
        Setting("lost", "8", None, "not told"),
        Setting("slots", "8", "4", "/version"),
    )
    first, *others = seen.arms
    seen = replace(seen, arms=(replace(first, server_settings=told), *others))
    versions: dict[str, dict[str, str | None]] = {
        one.name: {"model": "m", "runtime": "1", "tokenizer": None} for one in seen.arms
    }
    folded = predicate(
        measurement_document(seen, versions), issued_at="2026-01-01T00:00:00Z", producer=PRODUCER
    )
    return stated("measurement", measurement_subjects(folded), folded)


SETTINGS = "/predicate/arms/0/settings"
SETTING = {
    "name": "more", "requested": None, "effective": "1", "failure": None,
    "cause": "resolved_default", "chosen": False,
}  # fmt: skip


def test_settings_of_an_arm_are_those_that_its_server_told() -> None:
    one = resolved()
    found = judge(one)
    assert [(setting["name"], setting["cause"]) for setting in get(one, SETTINGS)] == [
        ("cache", "resolved_default"), ("chunk", "requested"), ("slots", "altered"),
    ]  # fmt: skip
    assert (found.counts["settings"], found.counts["settings_unchosen"]) == (3, 2)


@pytest.mark.parametrize(
    ("lie", "code", "pointer"),
    [
        (drop(SETTINGS), DENOMINATOR, SETTINGS),
        (lambda one: get(one, SETTINGS).append(SETTING), DENOMINATOR, SETTINGS),
        (lambda one: get(one, SETTINGS).reverse(), DENOMINATOR, SETTINGS),
        (change(f"{SETTINGS}/0/name", "kash"), DENOMINATOR, SETTINGS),
        (change(f"{SETTINGS}/0/requested", "on"), BAD, f"{SETTINGS}/0/requested"),
        (change(f"{SETTINGS}/2/requested", None), BAD, f"{SETTINGS}/2/requested"),
        (change(f"{SETTINGS}/2/effective", "8"), BAD, f"{SETTINGS}/2/effective"),
        (change("/predicate/arms/1/settings", [SETTING]), DENOMINATOR,
         "/predicate/arms/1/settings"),
        (change(f"{P}/arms/0/server_settings/2/resolved", "8"), DENOMINATOR, SETTINGS),
        (change(f"{SETTINGS}/0/cause", "requested"), OUTCOME, f"{SETTINGS}/0/cause"),
    ],
)  # fmt: skip
def test_a_lie_about_settings_of_a_server(
    lie: Callable[[Statement], None], code: str, pointer: str
) -> None:
    one = resolved()
    lie(one)
    assert refusal(one) == (code, pointer)


def test_a_failure_on_the_way_to_a_setting_stays_the_signers_word() -> None:
    one = resolved()
    for member, value in (("failure", "a probe threw"), ("cause", "absorbed_failure")):
        put(one, f"{SETTINGS}/0/{member}", value)
    judge(one)


def test_a_second_request_that_did_not_wait(statement: Statement) -> None:
    place = next(i for i, one in enumerate(get(statement, S)) if len(one["requests"]) > 1)
    waited = get(statement, f"{S}/{place}/requests/0/arrivals_us/1")
    put(statement, f"{S}/{place}/requests/1/start_us", waited - 1)
    assert refusal(statement) == (BAD, f"{S}/{place}/requests/1/start_us")


def at_once(one: Sample) -> Sample:
    """Let the tokens of a decoder come in one part."""
    first = one.requests[0]
    if len(one.requests) == 1:
        return one
    told = replace(first, arrivals_us=first.arrivals_us[:1], end_us=first.arrivals_us[0])
    return replace(one, requests=(told, *one.requests[1:]))


def test_a_second_request_waits_for_an_answer_of_few_parts_to_end() -> None:
    folded = predicate(document(at_once), issued_at="2026-01-01T00:00:00Z", producer=PRODUCER)
    one = stated("measurement", measurement_subjects(folded), folded)
    place = next(i for i, sample in enumerate(get(one, S)) if len(sample["requests"]) > 1)
    ended = get(one, f"{S}/{place}/requests/0/end_us")
    put(one, f"{S}/{place}/requests/1/start_us", ended - 1)
    assert refusal(one) == (BAD, f"{S}/{place}/requests/1/start_us")


def test_of_a_sample_that_is_refused_nothing_need_have_waited() -> None:
    def early(one: Sample) -> Sample:
        if len(one.requests) == 1:
            return one
        requests = (one.requests[0], replace(one.requests[1], start_us=0))
        return replace(one, requests=requests, window=replace(one.window, clock_us=10**9))

    folded = predicate(document(early), issued_at="2026-01-01T00:00:00Z", producer=PRODUCER)
    one = stated("measurement", measurement_subjects(folded), folded)
    assert judge(one).counts["records_refused"] == 2


def test_of_several_blocks_all_are_taken() -> None:
    """A median over the best block, or over two entries, is none of the entry."""
    asked = document(blocks=3)
    folded = predicate(asked, issued_at="2026-01-01T00:00:00Z", producer=PRODUCER)
    one = stated("measurement", measurement_subjects(folded), folded)
    assert judge(one).counts["samples_guarded"] == 30
    at = "/predicate/direct/0/records"
    assert len(get(one, at)) == 3
    for names in (get(one, at)[:1], [*get(one, at), "small-prefill-65-0"], get(one, at)[::-1]):
        wrong = deepcopy(one)
        put(wrong, at, names)
        if len(names) == 3:
            judge(wrong)
        else:
            assert refusal(wrong) == (DENOMINATOR, at)


def test_of_several_blocks_those_that_have_nothing_are_left_out() -> None:
    """A sample that is refused has no part in a median, nor has one without the quantity."""

    def changed(one: Sample) -> Sample:
        if one.name == "small-prefill-32-1":
            return replace(one, window=replace(one.window, clock_us=10**9))
        return at_once(one) if one.name == "small-stall-200-1" else one

    folded = predicate(
        document(changed, blocks=3), issued_at="2026-01-01T00:00:00Z", producer=PRODUCER
    )
    taken = {one["name"]: len(one["records"]) for one in folded["direct"]}
    names = ("small.prefill-32.wall_us", "small.stall-200.stall_us", "small.prefill-65.wall_us")
    assert [taken[name] for name in names] == [2, 2, 3]
    one = stated("measurement", measurement_subjects(folded), folded)
    assert judge(one).counts["records_refused"] == 1


def test_an_arm_whose_budget_is_not_told_apart_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probed, "LENGTHS", (1, 65))
    folded = predicate(document(), issued_at="2026-01-01T00:00:00Z", producer=PRODUCER)
    budget = folded["probes"]["budgets"][0]
    assert budget["least"] < budget["greatest"]
    one = stated("measurement", measurement_subjects(folded), folded)
    judge(one)
    put(one, "/predicate/arms/0/budget_tokens", budget["least"])
    assert refusal(one) == (STATISTICS, "/predicate/arms/0/budget_tokens")


def test_distances_stand_beside_samples() -> None:
    asked = document()
    values = [{"quantity": "distance_unat", "value": 0}]
    again = {"id": "again", "arm": "small", "against": "small", "values": values}
    asked["records"].append(again)
    folded = predicate(asked, issued_at="2026-01-01T00:00:00Z", producer=PRODUCER)
    judge(stated("measurement", measurement_subjects(folded), folded))
    again["values"] = [*values, {"quantity": "wall_us", "value": 1}]
    folded = predicate(asked, issued_at="2026-01-01T00:00:00Z", producer=PRODUCER)
    beside = stated("measurement", measurement_subjects(folded), folded)
    assert refusal(beside) == (BAD, f"{R}/{len(asked['records']) - 1}/sample")


def test_samples_that_nothing_guards_are_told_of(statement: Statement) -> None:
    for sample in (*get(statement, S), *get(statement, D)):
        for counter in sample["window"]["counters"]:
            if counter["question"] == "prompt_tokens":
                counter |= {"metric": None, "before": None, "after": None}
    assert refusal(statement) == ("H10_COUNTS_DO_NOT_RECOMPUTE",
                                  "/predicate/counts/samples_guarded")  # fmt: skip
    put(statement, "/predicate/counts/samples_guarded", 0)
    assert judge(statement).lines[2] == (
        "unguarded: in the windows of 10 samples nobody counted prompt tokens"
    )


def test_names_of_arms_come_before_what_arms_say(statement: Statement) -> None:
    put(statement, f"{P}/arms/0/adapter", "none")
    put(statement, f"{P}/arms/1/name", "small")
    assert refusal(statement) == (BAD, f"{P}/arms/1/name")


def test_samples_of_one_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arm and entry joined may read like others joined: one record would do for two samples.

    A producer sees two records of one name first.
    """
    monkeypatch.setattr(measurement, "require_names", lambda sections: None)
    first, second = probed.ENTRIES[:2]
    monkeypatch.setattr(probed, "BUDGETS", {"a": 64, "a-b": 128})
    entries = (replace(first, name="b-c"), replace(second, name="c"))
    monkeypatch.setattr(probed, "ENTRIES", entries)
    folded = predicate(document(), issued_at="2026-01-01T00:00:00Z", producer=PRODUCER)
    names = [sample["name"] for sample in folded["probes"]["samples"]]
    later = max(place for place, name in enumerate(names) if name == "a-b-c-0")
    assert names.count("a-b-c-0") == 2
    one = stated("measurement", measurement_subjects(folded), folded)
    assert refusal(one) == (BAD, f"{S}/{later}/name")


def test_a_record_of_a_sample_has_no_source_and_no_attribution(statement: Statement) -> None:
    told = {"own_tokens": 1, "booked_tokens": 1, "own_requests": None, "running_requests": None}
    text = {"id": "text", "title": "A text", "place": "somewhere", "revision": None}
    statement["predicate"]["sources"] = [text]
    for member, value in (("source", "text"), ("attribution", told)):
        wrong = deepcopy(statement)
        put(wrong, f"{R}/0/{member}", value)
        assert refusal(wrong) == (BAD, f"{R}/0/{member}")


def test_a_prompt_that_took_no_chunk_bounds_no_budget(statement: Statement) -> None:
    """It took no more steps than a request takes besides those of its chunks."""
    overhead = get(statement, f"{P}/budgets/0/overhead")
    place = next(
        i
        for i, one in enumerate(get(statement, D))
        if one["arm"] == "small" and one["requests"][0]["told_tokens"] > 1
    )
    steps = get(statement, f"{D}/{place}/window/counters/0")
    assert (steps["question"], overhead) == ("steps", 1)
    steps["after"] = steps["before"] + overhead
    assert judge(statement).verdict == "MEASURED"


def test_a_record_of_another_arm(statement: Statement) -> None:
    arm = get(statement, f"{R}/0/arm")
    put(statement, f"{R}/0/arm", "small" if arm == "large" else "large")
    assert refusal(statement) == (BAD, f"{R}/0/arm")


@pytest.mark.parametrize(
    "changes",
    [{f"{P}/arms/0/pins/0/recorded": "other", f"{P}/arms/0/pins/0/agrees": False,
      "/predicate/counts/pins_differing": 1},
     {f"{P}/settings/0/entries/0/requested": "other",
      f"{P}/settings/0/entries/0/cause": "altered", "/predicate/counts/sent_altered": 1}],
)  # fmt: skip
def test_another_server_or_another_request_is_no_measurement(
    statement: Statement, changes: dict[str, object]
) -> None:
    for pointer, value in changes.items():
        put(statement, pointer, value)
    assert refusal(statement) == (OUTCOME, "/predicate/verdict")


def test_a_setting_that_was_not_sent_is_counted(statement: Statement) -> None:
    entries = get(statement, f"{P}/settings/0/entries")
    next(one for one in entries if one["resolved"] is None).update(requested="1", cause="dropped")
    assert refusal(statement) == ("H10_COUNTS_DO_NOT_RECOMPUTE", "/predicate/counts/sent_altered")
    put(statement, "/predicate/counts/sent_altered", 1)
    put(statement, "/predicate/verdict", "SETTING_ALTERED")
    assert judge(statement).verdict == "SETTING_ALTERED"


def test_a_receipt_cannot_be_hidden(statement: Statement) -> None:
    """A sample that is refused stays: dropping its record, or calling it clean, is seen."""
    put(statement, f"{S}/3/window/clock_us", 10**9)
    put(statement, f"{S}/3/refusal", "clock_step")
    assert refusal(statement)[1].startswith((f"{R}/3", f"{P}/budgets"))


def test_without_probes_there_is_no_sample(statement: Statement) -> None:
    put(statement, P, None)
    assert refusal(statement) == (BAD, f"{R}/0/sample")


def test_a_stall_that_there_was_not_has_no_quantity() -> None:
    """A decoder whose tokens come in one part has no gaps; the run is told of all the same."""
    folded = predicate(document(at_once), issued_at="2026-01-01T00:00:00Z", producer=PRODUCER)
    empty = [record for record in folded["records"] if not record["values"]]
    assert {record["id"] for record in empty} == {"small-stall-200-0", "large-stall-200-0"}
    one = stated("measurement", measurement_subjects(folded), folded)
    assert judge(one).counts["records_refused"] == 0
