"""Re-derivation of certified servers: each rule's mutation, and forgeries that must not pass.

The certificate that the tests mutate is folded by the producer, from made-up records: that the two
agree on it is a test by itself.
"""

from __future__ import annotations

import copy
import hashlib
import random
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from math import comb
from typing import Any

import pytest

from lockstep.certificate.statement import certification_subjects, statement
from lockstep.certify.cells import PlannedCell, planned
from lockstep.certify.observation import CellSeen, Failure, Output, Seen, Top
from lockstep.claims import certification_statistics as producers
from lockstep.claims.certification import predicate
from lockstep_verify.derive import certification_statistics as verifiers
from tests import certification_records as made
from tests.certification_records import Asked
from tests.statements import get, judge, put, refusal

COVERAGE = "COVERAGE_DENOMINATOR_NOT_DERIVED"
OUTCOME = "OUTCOME_NOT_DERIVED"
H10 = "H10_COUNTS_DO_NOT_RECOMPUTE"
STATISTICS = "STATISTICS_DO_NOT_RECOMPUTE"
BAD = "BAD_VALUE"
P = "/predicate"
PLAN = made.plan(
    cases=["prefix_equal", "cancel_resubmit", "seeded_sampling"],
    cache=["warm"],
    filler=["fixed", "varying"],
    order=["fixed", "rotated"],
    positive="fault",
    positive_cases=["prefix_equal"],
)
SMALL = made.plan(cases=["prefix_equal"], cache=["warm"], filler=["fixed"], order=["fixed"])
REQUEST = planned(PLAN)[0].requests[0]


def odd(asked: Asked) -> Output | None:
    """Answer differently once, in the first cell; and never alike in the positive control."""
    usual = made.answer(asked.request.prompt, asked.request)
    other = replace(usual, logprobs=(f"-7.{asked.number}", *(usual.logprobs or ())[1:]))
    if asked.cell.control == "positive" and asked.place == 0:
        return other
    here = asked.index == 0 and asked.place == 1
    return other if here and (asked.lifetime, asked.number) == (1, 2) else None


def said(condition: PlannedCell, number: int, item: int) -> Output:
    moved = condition.filler == "varying" and item == 1
    return made.answer((item, int(moved)), REQUEST)


def folded(record: Seen) -> dict[str, Any]:
    return predicate(record, issued_at=made.ISSUED_AT, producer=made.PRODUCER)


FOLDED = folded(made.prompts(made.seen(PLAN, odd), said, lambda one: str(one.tokens)))
CLEAN = folded(made.seen(PLAN))


def stated(told: dict[str, Any] | None = None) -> dict[str, Any]:
    chosen = copy.deepcopy(FOLDED if told is None else told)
    return statement("certification", certification_subjects(chosen), chosen)


def test_both_sides_agree() -> None:
    told = judge(stated())
    assert (told.verdict, told.counts) == ("DIVERGENT", FOLDED["counts"])
    assert judge(stated(CLEAN)).verdict == "CLEAN"


DERIVED = [
    ("/subject_sha256", "0" * 64, BAD),
    ("/turned_off", [], OUTCOME),
    ("/overridden", [], OUTCOME),
    ("/omitted", [], OUTCOME),
    ("/omitted/0/reason", "not_offered", OUTCOME),
    ("/cells/0/case", "prefix_below", COVERAGE),
    ("/cells/0/control", "sequential", COVERAGE),
    ("/cells/0/order", "rotated", COVERAGE),
    ("/cells/0/requests", 5, COVERAGE),
    ("/cells/0/requests_sha256", "0" * 64, COVERAGE),
    ("/cells/0/witness", "overlap", OUTCOME),
    ("/cells/0/width", 64, OUTCOME),
    ("/cells/0/cache_witness", "not_reported", OUTCOME),
    ("/cells/0/pairs", 1, H10),
    ("/cells/0/pairs_differing", 0, H10),
    ("/cells/0/kinds", [], OUTCOME),
    ("/cells/0/first", None, OUTCOME),
    ("/cells/0/first/position", 3, OUTCOME),
    ("/cells/0/first/delta", "1.000e-09", OUTCOME),
    ("/cells/0/verdict", "clean", OUTCOME),
    ("/cells/0/statistics", None, STATISTICS),
    ("/cells/0/statistics/differing", 0, STATISTICS),
    ("/cells/0/statistics/high_ppm", 1, STATISTICS),
    ("/cells/1/statistics/missed_ppm", 1, STATISTICS),
    ("/conditions/0/compared", 9, OUTCOME),
    ("/controls/0/status", "not_run", OUTCOME),
    ("/controls/2/status", "not_shown", OUTCOME),
    ("/limits", [], OUTCOME),
    ("/prompts/conditions", FOLDED["prompts"]["conditions"][:3], COVERAGE),
    ("/prompts/conditions/0/control", None, COVERAGE),
    ("/prompts/conditions/1/filler", "none", COVERAGE),
    ("/prompts/conditions/3/order", "fixed", COVERAGE),
    ("/prompts/conditions/1/batched_rounds", 1, H10),
    ("/prompts/conditions/1/cache_witness", "not_reported", OUTCOME),
    ("/prompts/comparisons", FOLDED["prompts"]["comparisons"][:3], COVERAGE),
    ("/prompts/comparisons/2/a", 1, OUTCOME),
    ("/prompts/comparisons/2/answers", 0, H10),
    ("/prompts/comparisons/2/high_ppm", 1, STATISTICS),
    ("/prompts/comparisons/2/first", [], OUTCOME),
    ("/prompts/verdict", "STEADY", OUTCOME),
    ("/verdict", "CLEAN", OUTCOME),
    *((f"/counts/{name}", 77, H10) for name in FOLDED["counts"]),
]


@pytest.mark.parametrize(("pointer", "value", "code"), DERIVED, ids=lambda one: str(one)[:40])
def test_what_is_derived_cannot_be_stated(pointer: str, value: object, code: str) -> None:
    forged = stated()
    put(forged, P + pointer, value)
    got, where = refusal(forged)
    assert got == code
    assert (P + pointer).startswith(where)


FORM = [
    ("/plan/cases", ["cancel_resubmit", "prefix_equal"], f"{P}/plan/cases/1", BAD),
    ("/plan/cases", ["prefix_equal", "prefix_equal"], f"{P}/plan/cases/1", BAD),
    ("/plan/cases", ["unknown"], f"{P}/plan/cases/0", BAD),
    ("/plan/offers", ["stream", "logprobs"], f"{P}/plan/offers/1", BAD),
    ("/plan/positive", "absent", f"{P}/plan/positive", BAD),
    ("/plan/positive_cases", ["wide_33"], f"{P}/plan/positive_cases/0", BAD),
    ("/plan/form", "text", f"{P}/plan/low", BAD),
    ("/plan/repeats", 4, f"{P}/cells/0/rounds/3/lifetime", BAD),
    ("/plan/lifetimes", 3, f"{P}/cells/0/reason", BAD),
    ("/plan/lifetimes", 1, f"{P}/cells/0/rounds", BAD),
    ("/plan/design", "factorial", f"{P}/cells", COVERAGE),
    ("/plan/filler", ["fixed"], f"{P}/cells", COVERAGE),
    ("/plan/seed", 2, f"{P}/cells/0/requests_sha256", COVERAGE),
    ("/plan/offers", ["token_prompts"], f"{P}/cells/3/reason", BAD),
    ("/plan/context", 10, f"{P}/cells/0/reason", BAD),
    ("/plan/varying_widths", [5, 5], f"{P}/plan/varying_widths", BAD),
    ("/adapter/name", "unknown", f"{P}/adapter/name", BAD),
    ("/adapter/name", "sglang", f"{P}/adapter/verified", BAD),
    ("/adapter/gauge", "up", f"{P}/adapter/verified", BAD),
    ("/adapter/gauge", None, f"{P}/cells/0/rounds/0/peak_running", BAD),
    ("/cells/0/reason", "budget", f"{P}/cells/0/reason", BAD),
    ("/cells/0/rounds/0/number", 1, f"{P}/cells/0/rounds/0/number", BAD),
    ("/cells/0/rounds/1/polls", 0, f"{P}/cells/0/rounds/1/peak_running", BAD),
    ("/cells/0/rounds/1/cached", [0], f"{P}/cells/0/rounds/1/cached", BAD),
    ("/cells/0/rounds/1/outputs/1", 60000, f"{P}/outputs/", BAD),
    ("/cells/0/rounds/0/outputs/0", None, f"{P}/outputs/0", BAD),
    ("/cells/0/rounds/0/first_us/0", 10**9, f"{P}/cells/0/rounds/0/end_us/0", BAD),
    ("/certifier", [{"name": "b", "value": ""}, {"name": "a", "value": ""}], "/name", BAD),
    ("/subject/identity/0/name", "runtime_version", f"{P}/subject/identity", COVERAGE),
    ("/subject/launch", None, f"{P}/plan/lifetimes", BAD),
    ("/subject/positive", None, f"{P}/subject/positive", BAD),
    ("/subject/positive/command", "serve", f"{P}/subject/positive/command", BAD),
]


@pytest.mark.parametrize(("pointer", "value", "where", "code"), FORM, ids=lambda one: str(one)[:40])
def test_the_form_of_what_is_attested(pointer: str, value: object, where: str, code: str) -> None:
    forged = stated()
    put(forged, P + pointer, value)
    got, at = refusal(forged)
    assert (got, where in at) == (code, True), at


def test_an_output_is_listed_once_and_in_the_order_of_use() -> None:
    forged = stated()
    forged["predicate"]["outputs"].append(copy.deepcopy(forged["predicate"]["outputs"][0]))
    assert refusal(forged)[0] == BAD
    forged = stated()
    extra = {**forged["predicate"]["outputs"][0], "finish": "other"}
    forged["predicate"]["outputs"].append(extra)
    assert refusal(forged) == (BAD, f"{P}/outputs/{len(FOLDED['outputs'])}")


def sequential(told: dict[str, Any], control: str = "sequential") -> int:
    return next(i for i, one in enumerate(told["cells"]) if one["control"] == control)


@pytest.mark.parametrize("control", ["sequential", "sensitivity", "positive_sequential"])
def test_a_sequential_control_that_overlaps_is_refused(control: str) -> None:
    forged = stated(CLEAN)
    at = f"{P}/cells/{sequential(CLEAN, control)}/rounds/1"
    put(forged, f"{at}/start_us/1", 5)
    put(forged, f"{at}/first_us/1", 6)
    assert refusal(forged) == ("CONTROL_NOT_SEQUENTIAL", f"{at}/start_us/1")


@pytest.mark.parametrize("peak", [3, None])
def test_a_gauge_that_shows_others_or_nothing_is_not_alone(peak: int | None) -> None:
    forged = stated(CLEAN)
    at = f"{P}/cells/{sequential(CLEAN)}"
    put(forged, f"{at}/rounds/1/peak_running", peak)
    assert refusal(forged) == ("OUTCOME_NOT_DERIVED", f"{at}/verdict")
    put(forged, f"{at}/verdict", "not_alone")
    assert refusal(forged) == ("STATISTICS_DO_NOT_RECOMPUTE", f"{at}/statistics")


def test_a_sequential_run_cannot_be_called_a_batch() -> None:
    # Requests one after the other under a gauge of 40, as an earlier certifier took them.
    forged = stated(CLEAN)
    for one in get(forged, f"{P}/cells/0/rounds"):
        size = len(one["outputs"])
        one["start_us"] = [2000 * place for place in range(size)]
        one["first_us"] = [start + 1 for start in one["start_us"]]
        one["end_us"] = [start + 2 for start in one["start_us"]]
        one["peak_running"] = size
    assert refusal(forged) == (OUTCOME, f"{P}/cells/0/witness")
    for name, value in (("witness", "none"), ("width", 0)):
        put(forged, f"{P}/cells/0/{name}", value)
    assert refusal(forged) == (OUTCOME, f"{P}/cells/0/verdict")


def test_fillers_beside_each_other_are_no_batch_of_a_probe() -> None:
    # The gauge was high and requests overlapped, but never while a probe ran.
    forged = stated(CLEAN)
    cell = get(forged, f"{P}/cells/0")
    for one in cell["rounds"]:
        probes = 4
        for place in range(probes, len(one["outputs"])):
            for name in ("start_us", "first_us", "end_us"):
                one[name][place] += 10**6
        # Probes of the second wave run one after the other.
        for place in range(1, probes):
            one["start_us"][place] = 10_000 * place
            one["first_us"][place] = 10_000 * place + 1
            one["end_us"][place] = 10_000 * place + 2
    assert refusal(forged) == (OUTCOME, f"{P}/cells/0/witness")


def test_a_constant_is_a_weak_observable() -> None:
    def twist(asked: Asked) -> Output:
        usual = made.answer(asked.request.prompt, asked.request)
        return replace(usual, logprobs=("0",) * len(usual.tokens or ()), top=None)

    told = folded(made.seen(SMALL, twist))
    assert (told["verdict"], "weak_observable" in told["limits"]) == ("CLEAN", True)
    forged = stated(told)
    forged["predicate"]["limits"].remove("weak_observable")
    assert refusal(forged) == (OUTCOME, f"{P}/limits")


@pytest.mark.parametrize("reported", ["tokens", "text"])
def test_a_server_that_answers_nothing_is_not_clean(reported: str) -> None:
    nothing = hashlib.sha256(b"").hexdigest()
    none = Output((), None, nothing, "stop", (), ()) if reported == "tokens" else None
    silent = none or Output(text_sha256=nothing, finish="stop")
    small = {**SMALL, "observable": "logprobs" if reported == "tokens" else "text"}

    def twist(asked: Asked) -> Output | None:
        return None if asked.cell.control == "sensitivity" else silent

    told = folded(made.seen(small, twist))
    # The altered requests are answered, so that the sensitivity control is shown.
    assert told["counts"]["sensitivity_shown"] == 1
    assert {one["verdict"] for one in told["cells"]} == {"missing", "clean"}
    forged = stated(told)
    assert judge(forged).verdict == told["verdict"] == "INCONCLUSIVE"
    put(forged, f"{P}/cells/0/verdict", "clean")
    assert refusal(forged) == (OUTCOME, f"{P}/cells/0/verdict")


def test_a_fixed_order_cannot_be_called_rotated() -> None:
    forged = stated(CLEAN)
    cells = forged["predicate"]["cells"]
    at = next(i for i, one in enumerate(cells) if one["order"] == "rotated")
    cells[at]["rounds"] = copy.deepcopy(cells[0]["rounds"])
    got, where = refusal(forged)
    assert (got, where.startswith(f"{P}/cells/{at}/rounds/1/start_us")) == (BAD, True)


def test_a_wave_waits_for_the_one_before() -> None:
    forged = stated(CLEAN)
    put(forged, f"{P}/cells/0/rounds/0/start_us/1", 10)
    assert refusal(forged) == (BAD, f"{P}/cells/0/rounds/0/start_us/1")


def test_no_plan_leaves_out_the_controls() -> None:
    for control in ("sequential", "sensitivity"):
        forged = stated(CLEAN)
        del forged["predicate"]["cells"][sequential(CLEAN, control)]
        assert refusal(forged) == (COVERAGE, f"{P}/cells")
    forged = stated(CLEAN)
    forged["predicate"]["plan"]["controls"] = []
    assert refusal(forged) == ("UNKNOWN_FIELD", f"{P}/plan/controls")


def test_a_cell_that_was_planned_cannot_be_dropped_nor_cut_short_in_silence() -> None:
    forged = stated(CLEAN)
    forged["predicate"]["cells"][1]["rounds"].pop()
    assert refusal(forged)[0] == BAD


def test_likeliest_tokens_may_go_further_than_log_probabilities() -> None:
    # Without tokens nothing says how long an answer is; its lists need not be of one length.
    def twist(asked: Asked) -> Output | None:
        top = (Top("id:1", "-1"),) * 2 + (Top("id:1", f"-{asked.number + 1}"),)
        return Output(text_sha256="0" * 64, logprobs=("-1",), top=tuple((one,) for one in top))

    told = folded(made.seen(SMALL, twist))
    first = told["cells"][0]["first"]
    assert (first["kind"], first["position"], first["delta"]) == ("logprobs", 2, None)
    assert judge(stated(told)).verdict == "DIVERGENT"


def test_there_is_no_reference_round() -> None:
    # A member that names one is no part of a certificate.
    forged = stated()
    forged["predicate"]["cells"][0]["reference"] = 0
    assert refusal(forged) == ("UNKNOWN_FIELD", f"{P}/cells/0/reference")


def test_the_subject_is_the_server() -> None:
    forged = stated()
    forged["subject"][1]["digest"]["sha256"] = "0" * 64
    assert refusal(forged) == ("SUBJECT_MISMATCH", "/subject/1/digest/sha256")
    forged = stated()
    forged["subject"][1]["name"] = "other"
    assert refusal(forged) == ("SUBJECT_MISMATCH", "/subject")


def test_a_failure_and_an_output_exclude_each_other() -> None:
    failure = {"request": 1, "kind": "http", "status": 500, "detail": ""}
    forged = stated(CLEAN)
    put(forged, f"{P}/cells/0/rounds/0/failures", [failure])
    assert refusal(forged) == (BAD, f"{P}/cells/0/rounds/0/outputs/1")
    put(forged, f"{P}/cells/0/rounds/0/failures", [failure, failure])
    assert refusal(forged) == (BAD, f"{P}/cells/0/rounds/0/failures/1/request")


def test_bounds_agree_byte_for_byte() -> None:
    for n in (0, 1, 2, 3, 7, 20, 60, 200):
        for k in {0, 1, 2, n // 2, n - 1, n} & set(range(n + 1)):
            assert producers.interval(k, n) == verifiers.bounds(k, n)
        assert producers.missed(n) == verifiers.missed(n)


def test_bounds_are_those_of_their_definition() -> None:
    """Integers alone; for one of one the chance is what the confidence leaves, exactly."""

    def rare(k: int, n: int, rate: int) -> bool:
        return producers.at_most(k, n, rate) * 40 <= producers.PPM**n

    assert verifiers.bounds(1, 1) == (25_000, 1_000_000)
    assert verifiers.bounds(0, 1) == (0, 975_000)
    draws = (1, 2, 5, 30, 120)
    for k, n in [(k, draw) for draw in draws for k in (0, 1, draw // 3, draw - 1, draw)]:
        low, high = verifiers.bounds(k, n)
        others = [rare(n - k, n, 1_000_000 - rate) for rate in (low, low + 1)]
        assert others == [True, False] if k else low == 0, (k, n)
        fewer = [rare(k, n, rate) for rate in (high - 1, high)]
        assert fewer == [False, True] if k < n else high == 1_000_000, (k, n)


@pytest.mark.parametrize(
    ("k", "n", "rate"),
    [(0, 1, 500_000), (3, 20, 100_000), (150, 300, 600_000), (199, 200, 10_000),
     (700, 2000, 480_000), (1000, 2000, 520_000)],
)  # fmt: skip
def test_a_chance_lies_where_it_is_enclosed(k: int, n: int, rate: int) -> None:
    chance = Fraction(producers.at_most(k, n, rate), producers.PPM**n)
    low, high = (
        Fraction(verifiers._enclosed(k, n, rate, comb(n, k), rounding))
        for rounding in (verifiers.ROUND_FLOOR, verifiers.ROUND_CEILING)
    )
    assert low <= chance <= high
    assert high - low <= chance / 10**29
    assert abs(Fraction(producers.estimate(k, n, rate)) - chance) <= chance / 10**38


def test_bounds_of_many_draws_take_no_time() -> None:
    """Integers would take an hour for these, which a stranger's certificate may ask for."""
    for k, n in [(8192, 16384), (1, 16384)]:
        assert producers.interval(k, n) == verifiers.bounds(k, n)
    assert verifiers.bounds(8192, 16384) == (492_313, 507_687)


@pytest.mark.parametrize("side", ["enclosed", "estimate"])
@pytest.mark.parametrize(("k", "n"), [(3, 20), (1, 1), (0, 1)])
def test_integers_decide_what_an_enclosure_does_not(
    monkeypatch: pytest.MonkeyPatch, side: str, k: int, n: int
) -> None:
    """Of one draw, the chance is what the confidence leaves at one rate, exactly."""
    expected = verifiers.bounds(k, n)
    verifiers.bounds.cache_clear()
    producers.interval.cache_clear()
    if side == "enclosed":
        wide = {verifiers.ROUND_CEILING: Decimal(1), verifiers.ROUND_FLOOR: Decimal(0)}
        monkeypatch.setattr(verifiers, "_enclosed", lambda *given: wide[given[-1]])
        assert verifiers.bounds(k, n) == expected
    else:
        monkeypatch.setattr(producers, "estimate", lambda *given: Decimal("0.025"))
        assert producers.interval(k, n) == expected
    verifiers.bounds.cache_clear()
    producers.interval.cache_clear()


def weakenings(record: Seen, draw: random.Random) -> Iterator[Seen]:
    """Give records that saw less: a round, an output, a field, a reading, a time is gone."""
    for _ in range(6):
        at = draw.randrange(len(record.cells))
        rounds = list(record.cells[at].rounds)
        if not rounds:
            continue
        which = draw.randrange(len(rounds))
        one, reason = rounds[which], ""
        place = draw.randrange(len(one.outputs))
        kind = draw.choice(["round", "output", "peak", "first", "cached"])
        if kind == "round":
            rounds, reason = rounds[:which], "budget"
        elif kind == "output" and one.outputs[place] is not None:
            known = {failure.request: failure for failure in one.failures}
            known[place] = Failure(place, "dropped")
            failures = tuple(known[at] for at in sorted(known))
            outputs = tuple(None if i == place else o for i, o in enumerate(one.outputs))
            rounds[which] = replace(one, outputs=outputs, failures=failures)
        elif kind == "peak":
            rounds[which] = replace(one, peak_running=None)
        elif kind == "first":
            rounds[which] = replace(one, first_us=(None,) * len(one.first_us))
        else:
            rounds[which] = replace(one, cached=None)
        cells = list(record.cells)
        cells[at] = CellSeen(tuple(rounds), reason)
        yield replace(record, cells=tuple(cells))


def test_a_weaker_observation_never_makes_a_run_clean() -> None:
    draw = random.Random(6)
    for case in range(24):
        lying = draw.choice([0, 1, 99])

        def twist(asked: Asked) -> Output | Failure | None:
            roll = draw.random()
            if roll < 0.01:
                return Failure(0, draw.choice(["timeout", "http"]))
            usual = made.answer(asked.request.prompt, asked.request)
            if roll < 0.02:
                return replace(usual, logprobs=None)
            return replace(usual, finish="stop") if roll < 0.03 else None

        small = {**SMALL, "lifetimes": 1}
        record = made.seen(small, twist if case % 2 else None)
        if case % 4 == 0:
            cells = list(record.cells)
            rounds = tuple(replace(one, peak_running=lying) for one in cells[0].rounds)
            cells[0] = CellSeen(rounds)
            record = replace(record, cells=tuple(cells))
        before = folded(record)["verdict"]
        for weaker in weakenings(record, draw):
            after = folded(weaker)["verdict"]
            assert before == "CLEAN" or after != "CLEAN"


def test_a_report_that_contradicts_cannot_be_left_out() -> None:
    # One probe of a cold round had cached tokens in all of wave 0; without that report the cell
    # says that not all is known.
    forged = stated(CLEAN)
    at = f"{P}/cells/0/rounds/1/cached"
    put(forged, at, [None, *get(forged, at)[1:]])
    assert refusal(forged) == (OUTCOME, f"{P}/cells/0/cache_witness")
    put(forged, at, None)
    assert refusal(forged) == (OUTCOME, f"{P}/cells/0/cache_witness")


def told(**changes: Any) -> dict[str, Any]:
    """Give a statement whose prompts have other rounds, by the changes of each."""
    record = made.prompts(
        made.seen(SMALL),
        lambda condition, number, item: made.answer((item,), REQUEST),
        lambda one: "1",
    )
    own = record.prompts
    assert own is not None
    rounds = tuple(
        replace(one, rounds=tuple(replace(told, **changes) for told in one.rounds))
        for one in own.conditions
    )
    chosen = folded(replace(record, prompts=replace(own, conditions=rounds)))
    return stated(chosen)


def test_a_scorer_without_scores_leaves_it_unknown() -> None:
    assert told()["predicate"]["prompts"]["verdict"] == "STEADY"
    for scores in (None, ("1", None)):
        forged = told(scores=scores)
        judge(forged)
        assert get(forged, f"{P}/prompts/verdict") == "UNKNOWN"
        put(forged, f"{P}/prompts/verdict", "STEADY")
        assert refusal(forged) == (OUTCOME, f"{P}/prompts/verdict")
    forged = told()
    put(forged, f"{P}/prompts/scorer", None)
    assert refusal(forged) == (BAD, f"{P}/prompts/conditions/0/rounds/0/scores")


def test_an_answer_that_lacks_what_is_compared_leaves_it_unknown() -> None:
    def bare(condition: PlannedCell, number: int, item: int) -> Output:
        usual = made.answer((item,), REQUEST)
        return replace(usual, logprobs=None) if (number, item) == (1, 1) else usual

    chosen = folded(made.prompts(made.seen(SMALL), bare, None))
    assert chosen["prompts"]["verdict"] == "UNKNOWN"
    forged = stated(chosen)
    judge(forged)
    put(forged, f"{P}/prompts/verdict", "STEADY")
    assert refusal(forged) == (OUTCOME, f"{P}/prompts/verdict")
