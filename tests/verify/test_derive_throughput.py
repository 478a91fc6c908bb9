"""Re-derivation of throughput: what holds, and each lie, in the order of derivation."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from lockstep.certificate.statement import statement as stated
from lockstep.certificate.statement import throughput_subjects
from lockstep.certify.observation import Setting
from lockstep.claims.throughput import Criterion, predicate
from lockstep.measure.observation import Body, Sample, Seen
from lockstep_verify import spec
from lockstep_verify.schema import check
from tests.measure.runs import BODY, arm, run
from tests.statements import get, judge, put, refusal

P = "/predicate"
S = f"{P}/samples"
C = f"{P}/comparisons/0"
BAD = "BAD_VALUE"
DENOMINATOR = "COVERAGE_DENOMINATOR_NOT_DERIVED"
H10 = "H10_COUNTS_DO_NOT_RECOMPUTE"
OUTCOME = "OUTCOME_NOT_DERIVED"
STATISTICS = "STATISTICS_DO_NOT_RECOMPUTE"
Statement = dict[str, Any]

SLOW = [1100, 1110, 1120, 1130, 1140, 1150, 1160, 1170, 1180]
FAST = [1000] * 9
PRODUCER = {"name": "x", "version": "1", "python": "3", "machine": "m", "command": "c"}


@pytest.fixture(scope="module")
def held() -> Statement:
    folded = predicate(
        run({"invariant": SLOW, "fast": FAST}),
        [("invariant", "fast")],
        [Criterion(0, 1_150_000, "above")],
        issued_at="2026-01-01T00:00:00Z",
        producer=PRODUCER,
    )
    return stated("throughput", throughput_subjects(folded), folded)


@pytest.fixture
def statement(held: Statement) -> Statement:
    return deepcopy(held)


def test_an_honest_certificate(statement: Statement) -> None:
    found = judge(statement)
    assert found.verdict == "MEASURED"
    assert found.counts == statement["predicate"]["counts"]
    assert found.lines[1] == (
        "invariant against fast: MEASURED, 9 pairs, 1.140 times as long, between 1.110 and 1.170"
    )
    assert found.lines[2] == "criterion 1.15 on comparison 0: not_separable"


def change(pointer: str, value: object) -> Callable[[Statement], None]:
    return lambda one: put(one, pointer, value)


def add(pointer: str, amount: int) -> Callable[[Statement], None]:
    return lambda one: put(one, pointer, get(one, pointer) + amount)


def drop(pointer: str) -> Callable[[Statement], None]:
    return lambda one: get(one, pointer).pop()


def append(pointer: str, entry: object) -> Callable[[Statement], None]:
    return lambda one: get(one, pointer).append(entry)


def copied(pointer: str, place: int) -> Callable[[Statement], None]:
    return lambda one: get(one, pointer).append(deepcopy(get(one, f"{pointer}/{place}")))


def faster(one: Statement) -> None:
    """Make a sample quicker than it was, wall and all; what is made of it stays."""
    for request in get(one, f"{S}/0/requests"):
        for name in ("first_us", "end_us"):
            request[name] -= 400
        request["arrivals_us"] = [at - 400 for at in request["arrivals_us"]]
    put(one, f"{S}/0/wall_us", get(one, f"{S}/0/wall_us") - 400)


LIES: list[tuple[Callable[[Statement], None], str, str]] = [
    (change(f"{P}/arms/1/name", "invariant"), BAD, f"{P}/arms/1/name"),
    (change(f"{P}/arms/0/adapter", "other"), BAD, f"{P}/arms/0/adapter"),
    (drop(f"{P}/arms/0/pins"), DENOMINATOR, f"{P}/arms/0/pins"),
    (change(f"{P}/arms/0/pins/0/agrees", True), OUTCOME, f"{P}/arms/0/pins/0/agrees"),
    (change(f"{P}/arms/1/pins/2/recorded", "seen"), OUTCOME, f"{P}/arms/1/pins/2/agrees"),
    (copied(f"{P}/bodies", 0), BAD, f"{P}/bodies/1"),
    (copied(f"{P}/bodies/0/fields", 0), BAD, f"{P}/bodies/0/fields/5/name"),
    (change(f"{P}/bodies/0/fields/4/name", "zz.prompt"), OUTCOME,
     f"{P}/settings/0/entries/4/resolved"),
    (change(f"{P}/bodies/0/fields/4/name", "text"), BAD, f"{P}/bodies/0/fields/4/name"),
    (change(f"{P}/bodies/0/fields/2/name", "text"), BAD, f"{P}/bodies/0/fields/2/name"),
    (change(f"{P}/bodies/0/fields/2/name", "text.x"), BAD, f"{P}/bodies/0/fields/2/name"),
    (drop(S), DENOMINATOR, S),
    (change(f"{P}/blocks", 8), DENOMINATOR, S),
    (change(f"{P}/workload/seed", 2), DENOMINATOR, f"{S}/0/arm"),
    (change(f"{S}/3/place", 4), DENOMINATOR, f"{S}/3/place"),
    (change(f"{S}/3/name", "block-0"), DENOMINATOR, f"{S}/3/name"),
    (change(f"{S}/3/process", 2), BAD, f"{S}/3/process"),
    (change(f"{S}/3/process", None), BAD, f"{S}/3/process"),
    (change(f"{S}/3/begin_us", 0), BAD, f"{S}/3/begin_us"),
    (drop(f"{S}/3/requests"), BAD, f"{S}/3/requests"),
    (change(f"{P}/workload/prompts/1", 49), BAD, f"{S}/0/requests/1/prompt_tokens"),
    (change(f"{S}/0/requests/1/prompt_tokens", None), BAD, f"{S}/0/requests/1/prompt_tokens"),
    (change(f"{P}/workload/max_new", 5), BAD, f"{S}/0/requests/0/max_new"),
    (change(f"{S}/0/requests/0/start_us", 900), BAD, f"{S}/0/requests/0/first_us"),
    (change(f"{S}/0/requests/0/first_us", None), BAD, f"{S}/0/requests/0/first_us"),
    (change(f"{S}/0/requests/0/end_us", 700), BAD, f"{S}/0/requests/0/end_us"),
    (change(f"{S}/0/requests/0/body", 1), BAD, f"{S}/0/requests/0/body"),
    (change(f"{S}/0/window/monotonic_us", 900), BAD, f"{S}/0/window/monotonic_us"),
    (change(f"{S}/0/window/counters/0/question", "prompt_tokens"), BAD, f"{S}/0/window/counters"),
    (change(f"{S}/0/window/counters/0/metric", "vllm:iteration_tokens_total_count"), BAD,
     f"{S}/0/window/counters/0/metric"),
    (change(f"{S}/4/window/counters/1/metric", None), BAD, f"{S}/4/window/counters/1/metric"),
    (change(f"{S}/0/refusal", "clock_step"), OUTCOME, f"{S}/0/refusal"),
    (add(f"{S}/0/window/counters/1/after", 7), OUTCOME, f"{S}/0/refusal"),
    (add(f"{S}/0/window/clock_us", 200_000), OUTCOME, f"{S}/0/refusal"),
    (change(f"{S}/0/requests/0/failure", "timeout"), OUTCOME, f"{S}/0/refusal"),
    (change(f"{S}/0/requests/0/generated", 3), OUTCOME, f"{S}/0/refusal"),
    (change(f"{S}/0/requests/0/cached", 16), OUTCOME, f"{S}/0/refusal"),
    (add(f"{S}/0/wall_us", -1), STATISTICS, f"{S}/0/wall_us"),
    (append(f"{P}/bodies", {"route": "/x", "fields": []}), BAD, f"{P}/bodies/1"),
    (change(f"{P}/settings/0/arm", "fast"), DENOMINATOR, f"{P}/settings"),
    (drop(f"{P}/settings/0/entries"), DENOMINATOR, f"{P}/settings/0/entries"),
    (change(f"{P}/settings/0/entries/0/resolved", "off"), OUTCOME,
     f"{P}/settings/0/entries/0/resolved"),
    (change(f"{P}/settings/0/entries/0/requested", "off"), OUTCOME,
     f"{P}/settings/0/entries/0/cause"),
    (change(f"{P}/spreads/1/arm", "other"), DENOMINATOR, f"{P}/spreads"),
    (faster, STATISTICS, f"{P}/spreads/1/smallest_us"),
    (add(f"{P}/spreads/0/largest_us", -1), STATISTICS, f"{P}/spreads/0/largest_us"),
    (change(f"{P}/spreads/0/flagged", True), STATISTICS, f"{P}/spreads/0/flagged"),
    (change(f"{C}/a", "peer"), BAD, f"{C}/a"),
    (change(f"{C}/b", "invariant"), BAD, f"{C}/b"),
    (copied(f"{P}/comparisons", 0), BAD, f"{P}/comparisons/1"),
    (add(f"{C}/pairs", 1), H10, f"{C}/pairs"),
    (add(f"{C}/a_first", 1), H10, f"{C}/a_first"),
    (append(f"{C}/excluded", {"block": 0, "arm": "fast", "refusal": "clock_step"}), OUTCOME,
     f"{C}/excluded"),
    (add(f"{C}/low/ppm", 1), STATISTICS, f"{C}/low"),
    (add(f"{C}/median/block", 1), STATISTICS, f"{C}/median"),
    (change(f"{C}/high", None), STATISTICS, f"{C}/high"),
    (add(f"{C}/coverage_ppm", 1), STATISTICS, f"{C}/coverage_ppm"),
    (append(f"{C}/unlike", "seed"), OUTCOME, f"{C}/unlike"),
    (append(f"{C}/flags", "spread"), OUTCOME, f"{C}/flags"),
    (change(f"{C}/verdict", "IMPLAUSIBLE"), OUTCOME, f"{C}/verdict"),
    (change(f"{P}/criteria/0/comparison", 1), BAD, f"{P}/criteria/0/comparison"),
    (change(f"{P}/criteria/0/threshold_ppm", 1_000_000), OUTCOME, f"{P}/criteria/0/outcome"),
    (change(f"{P}/criteria/0/killed", True), OUTCOME, f"{P}/criteria/0/killed"),
    (drop(f"{P}/limits"), OUTCOME, f"{P}/limits"),
    (change(f"{P}/arms/0/launch/command", "another"), BAD, f"{P}/arms_sha256"),
    (add(f"{P}/counts/tokens", 1), H10, f"{P}/counts/tokens"),
    (change(f"{P}/verdict", "UNLIKE"), OUTCOME, f"{P}/verdict"),
    (change("/subject/1/name", "else"), "SUBJECT_MISMATCH", "/subject"),
    (change("/subject/1/digest/sha256", "0" * 64), "SUBJECT_MISMATCH",
     "/subject/1/digest/sha256"),
]  # fmt: skip


@pytest.mark.parametrize(("lie", "code", "pointer"), LIES)
def test_a_lie(
    statement: Statement, lie: Callable[[Statement], None], code: str, pointer: str
) -> None:
    lie(statement)
    assert refusal(statement) == (code, pointer)


def other_pin() -> Seen:
    one = arm("invariant")
    return run(BOTH, arms=[replace(one, pins=(replace(one.pins[0], recorded="other"),
                                              *one.pins[1:])), arm("fast")])  # fmt: skip


def seeded(one: Sample) -> Sample:
    """Send the seed to one arm alone."""
    if one.arm == "fast":
        return one
    return replace(one, requests=tuple(replace(request, body=1) for request in one.requests))


BOTH = {"invariant": SLOW, "fast": FAST}
BARE = Body(BODY.route, BODY.fields[1:])
SEEDED = Body(BODY.route, tuple(sorted((*BODY.fields, ("seed", "1")))))
VERDICTS = {
    "IDENTITY_DIFFERS": other_pin(),
    "SETTING_ALTERED": run(BOTH, bodies=(BARE,)),
    "UNLIKE": run(BOTH, seeded, bodies=(BODY, SEEDED)),
    "UNMEASURED": run({name: walls[:5] for name, walls in BOTH.items()}),
    "IMPLAUSIBLE": run({"invariant": FAST, "fast": SLOW}),
}


@pytest.mark.parametrize("verdict", VERDICTS)
def test_every_verdict_is_derived(verdict: str) -> None:
    folded = predicate(
        VERDICTS[verdict],
        [("invariant", "fast")],
        [Criterion(0, 950_000, "below")],
        issued_at="2026-01-01T00:00:00Z",
        producer=PRODUCER,
    )
    statement = stated("throughput", throughput_subjects(folded), folded)
    assert judge(statement).verdict == verdict
    put(statement, f"{P}/verdict", "MEASURED")
    assert refusal(statement) == (OUTCOME, f"{P}/verdict")


def test_a_ratio_turned_round_is_as_implausible() -> None:
    folded = predicate(
        VERDICTS["IMPLAUSIBLE"],
        [("fast", "invariant")],
        [],
        issued_at="2026-01-01T00:00:00Z",
        producer=PRODUCER,
    )
    statement = stated("throughput", throughput_subjects(folded), folded)
    assert judge(statement).verdict == "IMPLAUSIBLE"
    put(statement, f"{C}/flags", [])
    assert refusal(statement) == (OUTCOME, f"{C}/flags")


@pytest.mark.parametrize("pair", [("invariant", "fast"), ("fast", "invariant")])
def test_an_interval_on_both_sides_of_one_is_plausible(pair: tuple[str, str]) -> None:
    around = [900, 920, 940, 960, 1000, 1040, 1060, 1080, 1100]
    folded = predicate(
        run({"invariant": around, "fast": FAST}),
        [pair],
        [],
        issued_at="2026-01-01T00:00:00Z",
        producer=PRODUCER,
    )
    statement = stated("throughput", throughput_subjects(folded), folded)
    assert judge(statement).verdict == "MEASURED"
    assert get(statement, f"{C}/low/ppm") < 1_000_000 < get(statement, f"{C}/high/ppm")


def test_a_body_stands_once(statement: Statement) -> None:
    """It is used, so that only what it is equal to keeps it out."""
    statement["predicate"]["bodies"] *= 2
    put(statement, f"{S}/17/requests/1/body", 1)
    assert refusal(statement) == (BAD, f"{P}/bodies/1")


def test_server_settings_ascend() -> None:
    one = Setting("block-size", None, "16", "startup line")
    folded = predicate(
        run(BOTH, arms=[arm("invariant", server_settings=(one, one)), arm("fast")]),
        [("invariant", "fast")],
        [],
        issued_at="2026-01-01T00:00:00Z",
        producer=PRODUCER,
    )
    statement = stated("throughput", throughput_subjects(folded), folded)
    assert refusal(statement) == (BAD, f"{P}/arms/0/server_settings/1/name")


def test_every_count_is_derived(held: Statement) -> None:
    for name in held["predicate"]["counts"]:
        statement = deepcopy(held)
        put(statement, f"{P}/counts/{name}", 999)
        assert refusal(statement) == (H10, f"{P}/counts/{name}")


def test_every_derived_leaf_of_a_sample_is_looked_at(held: Statement) -> None:
    """What the schema calls derived cannot be moved by one, wherever it stands."""
    schema = spec.load("schemas/throughput.schema.json")
    check(held["predicate"], schema)
    for pointer in ("place", "block", "wall_us"):
        statement = deepcopy(held)
        put(statement, f"{S}/5/{pointer}", get(statement, f"{S}/5/{pointer}") + 1)
        assert refusal(statement)[1].startswith(f"{S}/5/")


def test_arms_that_were_there_already_have_no_process(held: Statement) -> None:
    folded = predicate(
        run({"invariant": SLOW, "fast": FAST}, arms=[arm("invariant"), arm("fast", launch=None)]),
        [("invariant", "fast")],
        [],
        issued_at="2026-01-01T00:00:00Z",
        producer=PRODUCER,
    )
    statement = stated("throughput", throughput_subjects(folded), folded)
    place = next(i for i, one in enumerate(folded["samples"]) if one["arm"] == "fast")
    assert refusal(statement) == (BAD, f"{S}/{place}/process")
