"""Re-derivation of sampling: each refusal, in the order of derivation, and the report."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from lockstep_verify import limits
from tests.statements import get, judge, put, refusal
from tests.verify.sampling_records import honest, whole

S = "/predicate/sequences"
C = "/predicate/counts"
H10 = "H10_COUNTS_DO_NOT_RECOMPUTE"
OUTCOME = "OUTCOME_NOT_DERIVED"
Statement = dict[str, Any]


@pytest.fixture(scope="module")
def held() -> Statement:
    return whole(
        honest("top_k", 0), honest("top_k", 1), honest("whole"), honest("min_p"), honest("greedy")
    )


@pytest.fixture
def statement(held: Statement) -> Statement:
    return deepcopy(held)


def test_an_honest_certificate(statement: Statement) -> None:
    found = judge(statement)
    assert found.verdict == "honest"
    assert found.counts == statement["predicate"]["counts"]
    assert (found.counts["honest"], found.counts["not_covered"]) == (4, 1)
    assert found.lines[0] == (
        "5 sequences: 4 honest, 0 fraud, 0 invalid_artifact, 0 inconclusive, 1 not_covered"
    )
    assert found.lines[-1] == "greedy: 1 sequences"


def change(pointer: str, value: object) -> Callable[[Statement], None]:
    return lambda statement: put(statement, pointer, value)


def both(*changes: Callable[[Statement], None]) -> Callable[[Statement], None]:
    def apply(statement: Statement) -> None:
        for one in changes:
            one(statement)

    return apply


def same_id_of(first: int, second: int) -> Callable[[Statement], None]:
    def apply(statement: Statement) -> None:
        other = get(statement, f"{S}/{first}/request/inference_id")
        put(statement, f"{S}/{second}/request/inference_id", other)

    return apply


OFFENCES: tuple[tuple[Callable[[Statement], None], str, str], ...] = (
    (change(f"{S}/0/request/user_seed", str(2**63)), "BAD_VALUE", f"{S}/0/request/user_seed"),
    (change(f"{S}/0/request/user_seed", f"-{2**63 + 1}"), "BAD_VALUE", f"{S}/0/request/user_seed"),
    (change(f"{S}/0/request/user_seed", "-0"), "BAD_VALUE", f"{S}/0/request/user_seed"),
    (change(f"{S}/0/request/min_tokens", 5), "BAD_VALUE", f"{S}/0/request/min_tokens"),
    (change(f"{S}/0/request/stop_tokens", [300]), "BAD_VALUE", f"{S}/0/request/stop_tokens/0"),
    (change(f"{S}/0/request/stop_tokens", [4, 4]), "BAD_VALUE", f"{S}/0/request/stop_tokens/1"),
    (
        change(f"{S}/0/request/features", ["masks", "beam"]),
        "BAD_VALUE",
        f"{S}/0/request/features/1",
    ),
    (
        change(f"{S}/0/request/features", ["beam", "beam"]),
        "BAD_VALUE",
        f"{S}/0/request/features/1",
    ),
    (change(f"{S}/1/choice", 2), "BAD_VALUE", f"{S}/1/choice"),
    (change(f"{S}/1/request/temperature", "0.71"), "BAD_VALUE", f"{S}/1/request"),
    (same_id_of(2, 3), "BAD_VALUE", f"{S}/3/request"),
    (change(f"{S}/1/choice", 0), "BAD_VALUE", f"{S}/1/choice"),
    (change(f"{S}/0/positions", 3), H10, f"{S}/0/positions"),
    (change(f"{S}/4/covered", 4), H10, f"{S}/4/covered"),
    (change(f"{S}/0/fraud_positions", 1), H10, f"{S}/0/fraud_positions"),
    (change(f"{S}/0/invalid_positions", 1), H10, f"{S}/0/invalid_positions"),
    (change(f"{S}/0/reason", "length"), OUTCOME, f"{S}/0/reason"),
    (change(f"{S}/0/position", 0), OUTCOME, f"{S}/0/position"),
    (change(f"{S}/0/verdict", "fraud"), OUTCOME, f"{S}/0/verdict"),
    (change(f"{S}/4/verdict", "honest"), OUTCOME, f"{S}/4/verdict"),
    (
        both(change(f"{S}/4/reason", ""), change(f"{S}/4/verdict", "honest")),
        OUTCOME,
        f"{S}/4/reason",
    ),
    (change("/predicate/verdict", "not_covered"), OUTCOME, "/predicate/verdict"),
    (change("/predicate/not_run", ["a", "b", "c"]), "BAD_VALUE", "/predicate/not_run"),
    (change("/subject/0/name", "others"), "SUBJECT_MISMATCH", "/subject"),
)


@pytest.mark.parametrize(("edit", "code", "pointer"), OFFENCES)
def test_each_offence_is_refused(
    statement: Statement, edit: Callable[[Statement], None], code: str, pointer: str
) -> None:
    edit(statement)
    assert refusal(statement) == (code, pointer)


def test_each_count_is_derived(statement: Statement) -> None:
    for name, count in statement["predicate"]["counts"].items():
        put(statement, f"{C}/{name}", count + 1)
        assert refusal(statement) == (H10, f"{C}/{name}")
        put(statement, f"{C}/{name}", count)
    judge(statement)


def test_the_subject_is_the_digest_of_the_requests(statement: Statement) -> None:
    names = [subject["name"] for subject in statement["subject"]]
    at = f"/subject/{names.index('requests')}/digest/sha256"
    put(statement, at, "0" * 64)
    assert refusal(statement) == ("SUBJECT_MISMATCH", at)


def test_a_request_that_was_laundered_is_another_subject() -> None:
    """What no computation shows: the parties compare the digest with that of their request."""
    laundered = honest("whole")
    laundered["request"]["model_sha256"] = laundered["artifact"]["model_sha256"] = "9" * 64
    made = [whole(one) for one in (honest("whole"), laundered)]
    assert {judge(one).verdict for one in made} == {"honest"}
    digests = [{s["name"]: s["digest"]["sha256"] for s in one["subject"]} for one in made]
    assert digests[0]["requests"] != digests[1]["requests"]


def test_pairs_are_bounded(statement: Statement, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = sum(
        len(position["support"])
        for one in statement["predicate"]["sequences"]
        for position in one["artifact"]["positions"]
    )
    monkeypatch.setattr(limits, "SAMPLING_PAIRS", pairs)
    judge(statement)
    monkeypatch.setattr(limits, "SAMPLING_PAIRS", pairs - 1)
    assert refusal(statement) == ("LIMIT_SIZE", S)


def test_more_may_be_said_not_to_be_covered(statement: Statement) -> None:
    statement["predicate"]["not_run"].append("what this executor says besides")
    judge(statement)


def test_coverage_below_half_is_not_covered(statement: Statement) -> None:
    """Half of all positions is enough, one fewer is not."""
    short = honest("whole")
    idle = honest("greedy")
    assert judge(whole(short, idle)).verdict == "honest"
    more = honest("greedy_too")
    found = judge(whole(short, idle, more))
    assert found.verdict == "not_covered"
    assert found.counts["covered_permille"] == 333
    assert judge(whole(idle)).verdict == "not_covered"


@pytest.mark.parametrize(
    ("changes", "verdict", "reason"),
    [
        ({"version": "sampling/v2"}, "inconclusive", "version_unknown"),
        ({"seed_domain": "another"}, "inconclusive", "seed_domain_unknown"),
        ({"features": ["masks"]}, "not_covered", "feature"),
        ({"temperature": "0.000009"}, "not_covered", "greedy"),
        ({"top_k": -1, "vocab_size": 2000}, "not_covered", "support_unbounded"),
        ({"top_k": 1025, "vocab_size": 2000}, "not_covered", "support_unbounded"),
    ],
)
def test_only_the_request_leaves_a_sequence_uncovered(
    changes: dict[str, Any], verdict: str, reason: str
) -> None:
    one = honest()
    one["request"] |= changes
    made = whole(one)
    found = judge(made)
    told = made["predicate"]["sequences"][0]
    assert (found.verdict, told["verdict"], told["reason"]) == (verdict, verdict, reason)
    assert (told["covered"], told["position"], found.counts["support_tokens"]) == (0, None, 0)


def test_verdicts_are_ordered() -> None:
    fraud, invalid, unknown = honest("top_k", 0), honest("whole"), honest("min_p")
    at = fraud["artifact"]["positions"][2]
    at["token"] = next(token for token, _ in at["support"] if token != at["token"])
    invalid["artifact"]["length"] = 9
    unknown["request"]["version"] = "sampling/v2"
    assert judge(whole(unknown, invalid, fraud)).verdict == "fraud"
    assert judge(whole(unknown, invalid, honest())).verdict == "invalid_artifact"
    assert judge(whole(unknown, honest())).verdict == "inconclusive"


def test_a_choice_that_is_missing_is_not_covered() -> None:
    """Whoever leaves one of two out has not shown what the request asked for [SAMP-47]."""
    found = judge(whole(honest("top_k", 0), honest("whole")))
    assert (found.verdict, found.counts["choices_missing"]) == ("not_covered", 1)
    assert judge(whole(honest("top_k", 1), honest("top_k", 0))).verdict == "honest"
    # A floor makes no certificate honest, and a fraud stays one.
    forged = honest("top_k", 1)
    position = forged["artifact"]["positions"][0]
    position["token"] = next(t for t, _ in position["support"] if t != position["token"])
    assert judge(whole(forged)).verdict == "fraud"


@pytest.mark.parametrize(
    ("at", "value", "refused"),
    [
        ("0/name", "Sampling.other", ("H3_PROOF_MISSING", "/predicate/lemmas")),
        (
            "9/statement_sha256",
            "0" * 64,
            ("LEMMA_STATEMENT_MISMATCH", "/predicate/lemmas/9/statement_sha256"),
        ),
    ],
)
def test_lemmas_are_those_that_the_rules_rest_on(
    statement: Statement, at: str, value: str, refused: tuple[str, str]
) -> None:
    put(statement, f"/predicate/lemmas/{at}", value)
    assert refusal(statement) == refused
