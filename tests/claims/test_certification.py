"""The claim about a server: every verdict, and what an earlier certifier got wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from lockstep import spec
from lockstep.certify.cells import PlannedCell, planned
from lockstep.certify.observation import CellSeen, Failure, Output, Round, Seen, Setting
from lockstep.claims.certification import predicate
from lockstep.claims.certification_answers import delta
from lockstep.claims.certification_statistics import interval, missed
from lockstep.errors import LockstepError
from tests import certification_records as made
from tests.certification_records import Asked, Twist

ONE = made.plan(cases=["prefix_equal"], cache=["warm"], filler=["fixed"], order=["fixed"])


def fold(record: Seen) -> dict[str, Any]:
    return predicate(record, issued_at=made.ISSUED_AT, producer=made.PRODUCER)


def cell(twist: Twist | None = None, **changes: Any) -> dict[str, Any]:
    """Give the one cell of control null of a plan of one case."""
    found: dict[str, Any] = fold(made.seen({**ONE, **changes}, twist))["cells"][0]
    return found


def other(asked: Asked, number: str = "-7.5") -> Output:
    usual = made.answer(asked.request.prompt, asked.request)
    return replace(usual, logprobs=(number, *(usual.logprobs or ())[1:]))


def at(asked: Asked, place: int = 1, **where: int) -> bool:
    """Whether a request is that of the first cell, at a place, in a round."""
    here = asked.index == 0 and asked.place == place
    return here and all(getattr(asked, name) == value for name, value in where.items())


def on_rounds(record: Seen, index: int, change: Callable[[Round], Round]) -> Seen:
    cells = list(record.cells)
    cells[index] = CellSeen(tuple(map(change, cells[index].rounds)))
    return replace(record, cells=tuple(cells))


def test_a_server_that_depends_on_the_request_alone_is_clean() -> None:
    folded = fold(made.seen())
    assert folded["verdict"] == "CLEAN"
    assert {one["verdict"] for one in folded["cells"]} == {"clean"}
    assert folded["counts"]["sensitivity_shown"] == folded["counts"]["sequential_shown"] == 1


def test_first_run_only_is_told_from_what_goes_on() -> None:
    # With round 0 as the only reference, both of these show "differs from round 0".
    first = cell(lambda asked: other(asked) if at(asked, number=0) else None)
    later = cell(lambda asked: other(asked, f"-{asked.number}.5") if at(asked) else None)
    assert (first["verdict"], first["kinds"]) == ("first_run_only", ["logprobs"])
    assert later["verdict"] == "divergent"


def test_a_first_round_apart_is_divergent_where_later_ones_are_too_few() -> None:
    found = cell(lambda asked: other(asked) if at(asked, number=0) else None, repeats=2)
    assert found["verdict"] == "divergent"


def test_priming_takes_the_first_round_out_of_the_rate_and_not_out_of_sight() -> None:
    found = cell(lambda asked: other(asked) if at(asked, number=0) else None, priming=1)
    assert found["verdict"] == "first_run_only"
    assert (found["statistics"]["rounds"], found["statistics"]["differing"]) == (6, 0)
    assert len(found["rounds"]) == 8


def test_later_rounds_are_compared_with_each_other() -> None:
    found = cell(lambda asked: other(asked) if at(asked, number=2, lifetime=1) else None)
    assert found["verdict"] == "divergent"
    assert found["first"] == {
        "scope": "repeats",
        "kind": "logprobs",
        "request": 1,
        "a": {"cell": 0, "lifetime": 1, "number": 0},
        "b": {"cell": 0, "lifetime": 1, "number": 2},
        "position": 0,
        "delta": found["first"]["delta"],
    }
    assert (found["statistics"]["differing"], found["statistics"]["lifetimes_differing"]) == (1, 1)


def test_lifetimes_are_compared_with_each_other() -> None:
    found = cell(lambda asked: other(asked) if at(asked, lifetime=1) else None)
    assert (found["verdict"], found["first"]["scope"]) == ("divergent", "lifetimes")


def test_a_batch_is_compared_with_the_same_requests_alone() -> None:
    # Each round of the batch agrees with every other: only what was sent alone shows it.
    found = cell(lambda asked: other(asked) if at(asked) else None)
    assert (found["verdict"], found["first"]["scope"]) == ("divergent", "alone")
    assert found["statistics"]["differing"] == 0


def test_conditions_are_compared_where_nothing_was_sent_alone() -> None:
    # Fillers are sent in batches only.
    def twist(asked: Asked) -> Output | None:
        return other(asked) if asked.index == 1 and asked.request.role == "filler" else None

    plan = made.plan(cases=["prefix_equal"], cache=["warm", "cold"])
    folded = fold(made.seen(plan, twist))
    told = folded["cells"][1]
    assert (told["cache"], told["verdict"]) == ("cold", "divergent")
    assert told["first"]["scope"] == "condition"
    assert folded["verdict"] == "DIVERGENT"
    assert folded["conditions"][0] == {"axis": "cache", "compared": 1, "differing": 1}


def test_neighbours_are_compared_where_their_changing_field_is_the_same() -> None:
    def twist(asked: Asked) -> Output | None:
        if asked.request.varying is None:
            return None
        return other(asked, f"-{asked.number}.25")

    unseeded = cell(twist, cases=["neighbour_seed"], repeats=3, lifetimes=1)
    assert unseeded["verdict"] == "clean"
    again = cell(twist, cases=["neighbour_seed"], repeats=5, lifetimes=1)
    assert again["verdict"] == "divergent"


@pytest.mark.parametrize("gauge", [True, False])
def test_what_was_sent_one_by_one_is_no_batch_whatever_the_gauge_says(gauge: bool) -> None:
    def one_by_one(told: Round) -> Round:
        size = len(told.outputs)
        start = tuple(2000 * place for place in range(size))
        first, end = (tuple(one + more for one in start) for more in (10, 1000))
        peak = 40 if gauge else None
        return replace(told, start_us=start, first_us=first, end_us=end, peak_running=peak)

    record = made.seen(ONE)
    if not gauge:
        record = replace(record, adapter=replace(record.adapter, gauge=None))
    told = fold(on_rounds(record, 0, one_by_one))["cells"][0]
    assert (told["verdict"], told["witness"], told["width"]) == ("not_batched", "none", 0)
    assert told["statistics"] is None


@pytest.mark.parametrize("peak", [None, 0, 1, 7])
def test_a_gauge_that_shows_no_batch_of_ours_is_no_witness(peak: int | None) -> None:
    # Seven is more than the six requests of the round: it counts others' too, or lies.
    record = on_rounds(made.seen(ONE), 0, lambda told: replace(told, peak_running=peak))
    folded = fold(record)
    assert folded["cells"][0]["verdict"] == "not_batched"
    assert folded["verdict"] == "INCONCLUSIVE"


def test_a_difference_without_a_batch_is_not_scored_and_still_told() -> None:
    record = made.seen(ONE, lambda asked: other(asked) if at(asked, number=1) else None)
    folded = fold(on_rounds(record, 0, lambda told: replace(told, peak_running=1)))
    assert folded["cells"][0]["verdict"] == "not_batched"
    assert folded["cells"][0]["kinds"] == ["logprobs"]
    assert folded["verdict"] == "DIVERGENT"


def test_a_wide_case_needs_its_width() -> None:
    record = made.seen({**ONE, "cases": ["wide_31"]})
    assert fold(record)["cells"][0]["verdict"] == "clean"
    narrow = on_rounds(record, 0, lambda told: replace(told, peak_running=30))
    assert fold(narrow)["cells"][0]["verdict"] == "not_batched"


def test_late_requests_must_meet_a_batch() -> None:
    record = made.seen({**ONE, "cases": ["late_arrival"]})
    assert fold(record)["cells"][0]["verdict"] == "clean"

    def over(told: Round) -> Round:
        # The first wave has ended when the second is sent.
        return replace(told, end_us=(*(202,) * 3, *told.end_us[3:]))

    late = on_rounds(record, 0, over)
    starts = late.cells[0].rounds[0].start_us
    assert min(starts[3:]) >= 202
    assert fold(late)["cells"][0]["verdict"] == "not_batched"


def test_a_request_that_was_answered_was_not_cancelled() -> None:
    record = made.seen({**ONE, "cases": ["cancel_resubmit"]})
    assert fold(record)["cells"][0]["verdict"] == "clean"

    def answered(told: Round) -> Round:
        return replace(told, outputs=tuple(0 if one is None else one for one in told.outputs))

    assert fold(on_rounds(record, 0, answered))["cells"][0]["verdict"] == "not_batched"


def test_overlap_is_the_weaker_witness() -> None:
    record = made.seen(ONE)
    record = replace(record, adapter=replace(record.adapter, gauge=None))
    record = on_rounds(record, 0, lambda told: replace(told, peak_running=None, polls=0))
    folded = fold(record)
    assert folded["cells"][0]["witness"] == "overlap"
    assert "overlap_only" in folded["limits"]


def test_one_text_for_every_request_fails_the_sensitivity_control() -> None:
    canned = made.answer((1,), planned(ONE)[0].requests[0])
    folded = fold(made.seen(ONE, lambda asked: canned))
    assert {one["verdict"] for one in folded["cells"]} == {"clean"}
    assert {one["name"]: one["status"] for one in folded["controls"]}["sensitivity"] == "not_shown"
    assert folded["verdict"] == "INCONCLUSIVE"


@pytest.mark.parametrize(
    ("kind", "verdict"), [("timeout", "hang"), ("http", "error"), ("dropped", "error")]
)
def test_a_failure_is_no_answer(kind: str, verdict: str) -> None:
    def twist(asked: Asked) -> Failure | None:
        return Failure(0, kind, None, "") if at(asked, number=1) else None

    folded = fold(made.seen(ONE, twist))
    assert (folded["cells"][0]["verdict"], folded["verdict"]) == (verdict, "INCONCLUSIVE")


@pytest.mark.parametrize(
    "change",
    [
        lambda one: replace(one, logprobs=one.logprobs[:-1]),
        lambda one: replace(one, logprobs=(None, *one.logprobs[1:])),
        lambda one: replace(one, logprobs=("NaN", *one.logprobs[1:])),
        lambda one: replace(one, logprobs=("-Infinity", *one.logprobs[1:])),
        lambda one: replace(one, top=one.top[:-1]),
        lambda one: replace(one, top=((), *one.top[1:])),
        lambda one: replace(one, top=(one.top[0] * 3, *one.top[1:])),
        lambda one: replace(one, tokens=one.tokens * 2),
        lambda one: replace(one, tokens=one.tokens[:1], logprobs=one.logprobs[:1], top=one.top[:1]),
        lambda one: replace(one, token_texts=("61",)),
        lambda one: replace(one, prompt_logprobs=("-1",)),
    ],
)
def test_malformed_answers(change: Callable[[Any], Output]) -> None:
    def twist(asked: Asked) -> Output:
        return change(made.answer(asked.request.prompt, asked.request))

    folded = fold(made.seen(ONE, twist))
    assert folded["cells"][0]["verdict"] == "malformed"
    assert folded["verdict"] == "INCONCLUSIVE"


def test_what_is_not_reported_is_missing_and_never_clean() -> None:
    def twist(asked: Asked) -> Output:
        usual = made.answer(asked.request.prompt, asked.request)
        return replace(usual, logprobs=None, top=None)

    folded = fold(made.seen(ONE, twist))
    assert folded["cells"][0]["verdict"] == "missing"
    assert folded["verdict"] == "INCONCLUSIVE"
    folded = fold(made.seen({**ONE, "observable": "tokens"}, twist))
    assert folded["verdict"] == "CLEAN"
    assert "weak_observable" in folded["limits"]


@pytest.mark.parametrize(
    "around",
    [
        {"observable": "text"},
        {"observable": "tokens", "offers": []},
        {"priming": 1, "repeats": 2},
        {"priming": 0, "repeats": 3, "offers": ["token_prompts"]},
    ],
)
@pytest.mark.parametrize("number", [0, 1, 2])
def test_nothing_around_the_same_answers_hides_a_difference(
    around: dict[str, Any], number: int
) -> None:
    record = made.seen(ONE, lambda asked: other(asked) if at(asked, number=number) else None)
    assert fold(record)["verdict"] == "DIVERGENT"
    told = {**ONE, **around}
    assert fold(replace(record, plan=told))["verdict"] == "DIVERGENT"


def test_a_weaker_observable_hides_nothing_that_is_reported() -> None:
    found = cell(lambda asked: other(asked) if at(asked) else None, observable="text")
    assert (found["verdict"], found["kinds"]) == ("divergent", ["logprobs"])


@pytest.mark.parametrize(
    ("cache", "cached", "verdict"),
    [
        ("warm", 0, "not_cached"),
        ("warm", 16, "clean"),
        ("cold", 16, "not_cached"),
        ("cold", 0, "clean"),
        ("off", 1, "not_cached"),
        ("off", 0, "clean"),
        ("off", None, "clean"),
    ],
)
def test_cached_tokens_witness_the_cache(cache: str, cached: int | None, verdict: str) -> None:
    def reported(told: Round) -> Round:
        return replace(told, cached=None if cached is None else (cached,) * len(told.outputs))

    record = made.seen({**ONE, "cache": [cache]})
    folded = fold(on_rounds(record, 0, reported))
    assert folded["cells"][0]["verdict"] == verdict
    assert ("cache_not_reported" in folded["limits"]) == (cached is None)


def test_rounds_that_are_lacking_are_told() -> None:
    record = made.seen(ONE)
    short = CellSeen(record.cells[0].rounds[:-1], "budget")
    folded = fold(replace(record, cells=(short, *record.cells[1:])))
    assert folded["cells"][0]["verdict"] == "not_run"
    assert (folded["verdict"], folded["counts"]["cells_planned"]) == ("INCONCLUSIVE", 3)


def test_a_record_without_a_planned_cell_is_refused() -> None:
    record = made.seen(ONE)
    with pytest.raises(LockstepError) as caught:
        fold(replace(record, cells=record.cells[:-1]))
    assert caught.value.code == "COVERAGE_DENOMINATOR_NOT_DERIVED"


def test_what_rescores_is_compared_with_what_it_rescores() -> None:
    def twist(asked: Asked) -> Output | None:
        if asked.request.rescores != 0:
            return None
        scored = asked.cell.requests[0]
        usual = made.answer(scored.prompt, scored)
        told = (None, *["-1.5"] * (len(scored.prompt) - 1), *(usual.logprobs or ()))
        prompt = (*scored.prompt, *(usual.tokens or ()))
        again = made.answer(prompt, asked.request)
        return replace(again, prompt_logprobs=(*told[:-1], "-9.125"))

    found = cell(twist, cases=["echo_rescore"])
    assert (found["verdict"], found["first"]["scope"]) == ("divergent", "rescoring")
    assert (found["first"]["request"], found["first"]["position"]) == (2, 3)


def test_a_positive_control_that_differs_is_shown_and_is_no_finding() -> None:
    plan = {**ONE, "positive": "mode_off", "positive_cases": ["prefix_equal"]}

    def twist(asked: Asked) -> Output | None:
        positive = asked.cell.control == "positive"
        return other(asked, f"-{asked.number}.5") if positive and asked.place == 1 else None

    shown = fold(made.seen(plan, twist))
    assert (shown["verdict"], shown["counts"]["positive_shown"]) == ("CLEAN", 1)
    blind = fold(made.seen(plan))
    assert (blind["verdict"], blind["counts"]["positive_shown"]) == ("CLEAN", 0)
    assert "positive_not_shown" in blind["limits"]
    assert "positive_absent" in fold(made.seen(ONE))["limits"]


def test_each_identity_has_a_constant_of_its_own() -> None:
    record = made.seen(ONE)
    fields = list(record.subject.identity)
    # The runtime's version in the stead of the distribution's: one constant for both would pass.
    fields[0] = replace(fields[0], observed=fields[1].observed)
    subject = replace(record.subject, identity=tuple(fields))
    folded = fold(replace(record, subject=subject))
    assert (folded["verdict"], folded["counts"]["identity_differing"]) == ("INCONCLUSIVE", 1)
    fields[0] = replace(fields[0], recorded=fields[1].recorded)
    subject = replace(record.subject, identity=tuple(fields))
    assert fold(replace(record, subject=subject))["verdict"] == "CLEAN"


def test_what_the_mode_turned_off_is_told() -> None:
    settings = (
        Setting("compile", "off", "off", "a line"),
        Setting("graphs", "on", "off", "a line"),
        Setting("prefix_cache", None, "off", "a line"),
        Setting("seed", "1", "2", "a line"),
        Setting("speculation", "on", None, "a line"),
    )
    folded = fold(replace(made.seen(ONE), settings=settings))
    assert folded["turned_off"] == ["graphs", "prefix_cache"]
    assert folded["overridden"] == ["graphs", "seed"]


def test_flips_of_the_users_own_answers() -> None:
    request = planned(ONE)[0].requests[0]

    def said(condition: PlannedCell, number: int, item: int) -> Output:
        moved = condition.control is None and item == 1
        usual = made.answer((item,), request)
        return replace(usual, tokens=(*(usual.tokens or ())[:2], 1, 2)) if moved else usual

    own = fold(made.prompts(made.seen(ONE), said, lambda one: str(one.tokens)))["prompts"]
    within, across, batched = own["comparisons"]
    assert (within["answers"], batched["answers"], across["answers"]) == (0, 0, 1)
    assert across["first"] == [{"item": 1, "position": 2}]
    assert (across["scores"], own["verdict"]) == (1, "ENGINE_MOVES")
    steady = made.prompts(made.seen(ONE), lambda c, n, item: made.answer((item,), request), None)
    assert fold(steady)["prompts"]["verdict"] == "STEADY"
    silent = made.prompts(made.seen(ONE), lambda c, n, item: Output(), None)
    assert fold(silent)["prompts"]["verdict"] == "UNKNOWN"
    calls = iter(range(99))
    moving = made.prompts(
        made.seen(ONE),
        lambda c, n, item: made.answer((item,), request),
        lambda one: str(next(calls)),
    )
    assert fold(moving)["prompts"]["verdict"] == "SCORER_MOVES"


def test_the_bounds_are_those_of_clopper_and_pearson() -> None:
    # As tables give them (0.3085, 0.0025 to 0.4450), in parts per million, rounded outwards.
    assert interval(0, 10) == (0, 308_498)
    assert interval(1, 10) == (2_528, 445_017)
    assert interval(2, 6) == (43_271, 777_222)
    assert interval(5, 5) == (478_176, 1_000_000)
    assert interval(0, 0) == (0, 1_000_000)


def test_what_a_clean_result_would_have_missed() -> None:
    # 1 - 0.05 ** (1 / n)
    assert [missed(n) for n in (1, 5, 20, 59)] == [950_000, 450_720, 139_109, 49_508]
    assert missed(0) == 1_000_000


def test_differences_are_exact() -> None:
    assert delta("-0.1", "-0.3") == "2.000e-01"
    assert delta("-1.00005", "-1") == "5.000e-05"
    assert delta("0.00012345", "0") == "1.235e-04"
    assert delta("9.9996", "0") == "1.000e+01"
    assert delta("-1e-5", "-1E-05") == "0"
    assert delta("1e300", "1") == "1.000e+300"
    assert delta(None, "1") is delta("NaN", "1") is None


def test_the_data_hold_together() -> None:
    data = spec.load("certification.json")
    capabilities = set(data["capabilities"])
    names = [case["name"] for case in data["cases"]]
    assert len(set(names)) == len(names)
    for case in data["cases"]:
        assert set(case["needs"]) <= capabilities
        assert set(case["axes"]) <= {axis["name"] for axis in data["axes"]}
        assert case["waves"][0] == "start"
        assert set(case["waves"]) <= set(data["waves"])
        assert {one["wave"] for one in case["requests"]} == set(range(len(case["waves"])))
        assert any(one["role"] == "probe" and one["pieces"] for one in case["requests"])
    for cases in planned(made.plan(cases=names, cache=["warm", "cold", "off"])):
        assert all(one.prompt or one.rescores is not None for one in cases.requests)
    assert {one["verdict"] for one in data["exits"]} == set(data["verdicts"])
