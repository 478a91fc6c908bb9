"""A finding re-derived: each rule of [FIND-11] is tripped once."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from lockstep.certificate.statement import finding_subjects, statement
from lockstep.claims.finding import predicate
from lockstep.minimize import wedge
from lockstep_verify import limits, spec
from lockstep_verify.derive import finding_execution
from lockstep_verify.derive.finding_case import digest
from tests.statements import get, judge, put, refusal

Spoil = Callable[[dict[str, Any]], None]
PRODUCER = dict.fromkeys(("name", "version", "python", "numpy", "machine", "command"), "x")
CASE = "/predicate/case"
ROW = "/predicate/removals/0"


@pytest.fixture(scope="module")
def text() -> str:
    folded = predicate(wedge.found(), issued_at="2026-01-01T00:00:00Z", producer=PRODUCER)
    return json.dumps(statement("finding", finding_subjects(folded), folded))


@pytest.fixture
def stated(text: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(text)
    return document


def setting(pointer: str, value: object) -> Spoil:
    return lambda document: put(document, pointer, value)


def renew(document: dict[str, Any]) -> None:
    """Give a changed case its digest, so that a later rule is reached."""
    put(document, "/predicate/case_sha256", digest(get(document, CASE)))


def change(pointer: str, value: object) -> Spoil:
    def spoil(document: dict[str, Any]) -> None:
        put(document, pointer, value)
        renew(document)

    return spoil


def test_the_oversized_request_follows_from_the_rules(stated: dict[str, Any]) -> None:
    found = judge(stated)
    assert found.verdict == "MINIMAL"
    assert found.counts["prompt_tokens"] == 61
    assert found.counts["new_tokens"] == 4
    assert (found.counts["requests"], found.counts["steps"]) == (1, 0)
    assert found.counts["removals"] == found.counts["passes"] == 62
    assert "62 outcomes follow from the rules, 0 are attested" in found.lines[1]


def drop_removal(document: dict[str, Any]) -> None:
    del get(document, "/predicate/removals")[7]


def swap_removals(document: dict[str, Any]) -> None:
    rows = get(document, "/predicate/removals")
    rows[0], rows[61] = rows[61], rows[0]


def second_request(document: dict[str, Any]) -> None:
    requests = get(document, f"{CASE}/workload/requests")
    requests.append(dict(requests[0]))
    renew(document)


def larger_pool(document: dict[str, Any]) -> None:
    """Three blocks hold the request, so that nothing is stuck."""
    put(document, f"{CASE}/pool/blocks", 3)
    renew(document)


def hold_all(document: dict[str, Any]) -> None:
    for entry in get(document, "/predicate/dimensions"):
        entry["held"] = "so"


def swap_dimensions(document: dict[str, Any]) -> None:
    entries = get(document, "/predicate/dimensions")
    entries[0], entries[1] = entries[1], entries[0]


def action(event: str, **members: Any) -> Spoil:
    return change(f"{CASE}/steps", [[{"event": event, "request": "r1", **members}]])


def mutate_otherwise(document: dict[str, Any]) -> None:
    """Under an operator that is no weakening, the rules as they stand are the ones."""
    operators = spec.load("mutation.json")["operators"]
    (sha256,) = (one["edits_sha256"] for one in operators if one["id"] == "refcount_leak")
    put(document, "/predicate/mutation", {"name": "refcount_leak", "sha256": sha256})


SPOILT: dict[str, tuple[Spoil, str, str]] = {
    "another dtype": (
        setting("/predicate/model/dtype", "float16"),
        "BAD_VALUE",
        "/predicate/model/dtype",
    ),
    "stop tokens": (
        setting("/predicate/model/stop_tokens", [3, 1]),
        "BAD_VALUE",
        "/predicate/model/stop_tokens",
    ),
    "an id twice": (second_request, "DUPLICATE_REQUEST", f"{CASE}/workload/requests/1/id"),
    "a token too large": (
        change(f"{CASE}/workload/requests/0/prompt/5", 256),
        "TOKEN_OUT_OF_RANGE",
        f"{CASE}/workload/requests/0/prompt/5",
    ),
    "a sequence too long": (
        change(f"{CASE}/workload/requests/0/max_new", 4096),
        "SEQUENCE_TOO_LONG",
        f"{CASE}/workload/requests/0",
    ),
    "a temperature": (
        change(f"{CASE}/workload/requests/0/sampling/temperature", "101"),
        "BAD_VALUE",
        f"{CASE}/workload/requests/0/sampling/temperature",
    ),
    "tokens in an admit": (action("admit", tokens=1), "BAD_VALUE", f"{CASE}/steps/0/0"),
    "no tokens in a chunk": (action("chunk"), "BAD_VALUE", f"{CASE}/steps/0/0"),
    "blocks twice": (action("decode", blocks=[1, 1]), "BAD_VALUE", f"{CASE}/steps/0/0"),
    "another digest": (
        setting("/predicate/case_sha256", "0" * 64),
        "BAD_VALUE",
        "/predicate/case_sha256",
    ),
    "a block beyond the pool": (
        action("decode", blocks=[2]),
        "BAD_VALUE",
        f"{CASE}/steps/0/0",
    ),
    "nobody's action": (
        change(f"{CASE}/steps", [[{"event": "admit", "request": "nobody"}]]),
        "REQUEST_UNKNOWN",
        CASE,
    ),
    "an illegal action": (action("admit"), "EVENT_NOT_ALLOWED", CASE),
    "an operator that is no weakening": (mutate_otherwise, "REQUEST_NEVER_FITS", CASE),
    "an operator that there is not": (
        setting("/predicate/mutation/name", "never_fitting"),
        "BAD_VALUE",
        "/predicate/mutation/name",
    ),
    "other edits": (
        setting("/predicate/mutation/sha256", "0" * 64),
        "BAD_VALUE",
        "/predicate/mutation/sha256",
    ),
    "a part of another kind": (
        setting("/predicate/failure/part", "logits"),
        "BAD_VALUE",
        "/predicate/failure/part",
    ),
    "a policy where there is none": (
        setting("/predicate/failure/part", "policy"),
        "BAD_VALUE",
        "/predicate/failure/part",
    ),
    "what tokens decide": (
        lambda document: get(document, "/predicate/failure").update(
            kind="refused", code="REQUEST_ENDED", part="refusal"
        ),
        "BAD_VALUE",
        "/predicate/failure/code",
    ),
    "nothing stuck": (larger_pool, "FINDING_NOT_REPRODUCED", "/predicate/failure"),
    "dimensions in another order": (swap_dimensions, "BAD_VALUE", "/predicate/dimensions/0/name"),
    "no free dimension": (hold_all, "BAD_VALUE", "/predicate/dimensions"),
    "a held one more": (
        setting("/predicate/dimensions/4/held", "so"),
        "FINDING_REMOVALS_NOT_DERIVED",
        "/predicate/removals",
    ),
    "a removal left out": (drop_removal, "FINDING_REMOVALS_NOT_DERIVED", "/predicate/removals"),
    "removals in another order": (swap_removals, "FINDING_REMOVALS_NOT_DERIVED", ROW),
    "a removal of another place": (
        setting(f"{ROW}/place", [0, 1]),
        "FINDING_REMOVALS_NOT_DERIVED",
        ROW,
    ),
    "a removal with another digest": (
        setting(f"{ROW}/sha256", "0" * 64),
        "FINDING_REMOVALS_NOT_DERIVED",
        ROW,
    ),
    "a legal case told as illegal": (
        setting(f"{ROW}/outcome", "illegal"),
        "FINDING_OUTCOME_NOT_DERIVED",
        ROW,
    ),
    "one that is said to reproduce": (
        setting(f"{ROW}/outcome", "reproduces"),
        "FINDING_OUTCOME_NOT_DERIVED",
        ROW,
    ),
    "a code of one that passes": (
        setting(f"{ROW}/code", "stuck"),
        "FINDING_OUTCOME_NOT_DERIVED",
        ROW,
    ),
    "another code of what is illegal as it is": (
        setting("/predicate/unmutated/code", "STEP_ORDER"),
        "FINDING_OUTCOME_NOT_DERIVED",
        "/predicate/unmutated",
    ),
    "no word on the engine as it is": (
        setting("/predicate/unmutated", None),
        "BAD_VALUE",
        "/predicate/unmutated",
    ),
    "it passes as it is": (
        setting("/predicate/unmutated/outcome", "passes"),
        "FINDING_OUTCOME_NOT_DERIVED",
        "/predicate/unmutated",
    ),
    "a mutation that was closed": (
        setting("/predicate/closed_by", "0123456789"),
        "BAD_VALUE",
        "/predicate/closed_by",
    ),
    "another trajectory": (
        setting("/predicate/trajectory_sha256", "0" * 64),
        "TRAJECTORY_NOT_DERIVED",
        "/predicate/trajectory_sha256",
    ),
    "a count": (
        setting("/predicate/counts/distinct", 62),
        "H10_COUNTS_DO_NOT_RECOMPUTE",
        "/predicate/counts/distinct",
    ),
    "nothing left out": (
        setting("/predicate/not_run", ["nothing", "at all"]),
        "BAD_VALUE",
        "/predicate/not_run",
    ),
    "another subject": (
        setting("/subject/2/digest/sha256", "0" * 64),
        "SUBJECT_MISMATCH",
        "/subject/2/digest/sha256",
    ),
    "no subject": (setting("/subject/2/name", "other"), "SUBJECT_MISMATCH", "/subject"),
}


@pytest.mark.parametrize("name", SPOILT)
def test_each_rule_trips(name: str, stated: dict[str, Any]) -> None:
    spoil, code, pointer = SPOILT[name]
    spoil(stated)
    assert refusal(stated) == (code, pointer)


def attested(document: dict[str, Any]) -> None:
    """Tell of another failure, of which the rules say nothing."""
    get(document, "/predicate/failure").update(kind="differs_alone", code="", part="logits")


def test_what_only_an_engine_can_say_is_attested(stated: dict[str, Any]) -> None:
    attested(stated)
    found = judge(stated)
    assert "0 outcomes follow from the rules, 62 are attested" in found.lines[1]


@pytest.mark.parametrize(
    ("pointer", "value", "expected"),
    [
        (f"{ROW}/outcome", "fails_otherwise", ("FINDING_OUTCOME_NOT_DERIVED", ROW)),
        (f"{ROW}/code", "stuck", ("FINDING_OUTCOME_NOT_DERIVED", ROW)),
    ],
)
def test_codes_of_attested_outcomes(
    pointer: str, value: str, expected: tuple[str, str], stated: dict[str, Any]
) -> None:
    attested(stated)
    put(stated, pointer, value)
    assert refusal(stated) == expected


def test_one_case_has_one_outcome(stated: dict[str, Any]) -> None:
    attested(stated)
    row = get(stated, "/predicate/removals/3")
    row |= {"outcome": "fails_otherwise", "code": "stuck"}
    assert refusal(stated) == ("FINDING_OUTCOME_NOT_DERIVED", "/predicate/removals/3")


def test_a_case_of_which_something_can_go_is_not_minimal(stated: dict[str, Any]) -> None:
    attested(stated)
    for row in get(stated, "/predicate/removals"):
        row["outcome"] = "reproduces"
    assert refusal(stated) == ("FINDING_NOT_MINIMAL", ROW)


def test_the_work_is_bounded(stated: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "FINDING_WORK", 67 * 63 - 1)
    assert refusal(stated) == ("LIMIT_SIZE", CASE)
    monkeypatch.setattr(limits, "FINDING_WORK", 67 * 63)
    assert judge(stated).verdict == "MINIMAL"


def test_a_long_case_with_a_short_list_is_refused_at_once(stated: dict[str, Any]) -> None:
    """Its removals, made, would have some billions of tokens."""
    attested(stated)
    mutate_otherwise(stated)
    put(stated, "/predicate/model/recipe", None)
    put(stated, "/predicate/model/max_positions", 1 << 20)
    put(stated, f"{CASE}/pool", {"blocks": 4096, "block_size": 64})
    put(stated, f"{CASE}/workload/requests/0/prompt", [0] * 200_000)
    put(stated, "/predicate/removals", get(stated, "/predicate/removals")[:3])
    renew(stated)
    assert refusal(stated) == ("FINDING_REMOVALS_NOT_DERIVED", "/predicate/removals")


ANSWERS: dict[str, tuple[dict[str, Any], tuple[str, str]]] = {
    "not reproduced": (
        {"outcome": "not_reproduced"},
        ("FINDING_NOT_REPRODUCED", "/predicate/failure"),
    ),
    "reopened": ({"outcome": "reopened"}, ("FINDING_REOPENED", "/predicate/closed_by")),
    "another trajectory": (
        {"outcome": "differs"},
        ("REPLAY_DIFFERS", "/predicate/trajectory_sha256"),
    ),
    "another outcome": (
        {"outcome": "another_outcome", "removal": 5},
        ("FINDING_OUTCOME_NOT_DERIVED", "/predicate/removals/5"),
    ),
    "another outcome as it is": (
        {"outcome": "another_outcome", "removal": -1},
        ("FINDING_OUTCOME_NOT_DERIVED", "/predicate/unmutated"),
    ),
    "refused": ({"outcome": "refused", "reason": "r"}, ("REPLAY_DIFFERS", "/predicate")),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_where_a_replay_points(
    name: str, stated: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    answer, expected = ANSWERS[name]
    told = {"expected": "a", "got": "b", **answer}
    monkeypatch.setattr(finding_execution, "ask", lambda statement, *options: told)
    assert refusal(stated, replay=True) == expected


@pytest.mark.parametrize(
    ("answer", "replayed", "apart"),
    [
        ({"outcome": "same", "tested": 2}, 1, 0),
        ({"outcome": "closed"}, 1, 0),
        ({"outcome": "not_comparable", "reason": "numpy"}, 0, 1),
        ({"reason": "TimeoutExpired"}, 0, 0),
    ],
)
def test_what_a_replay_counts(
    answer: dict[str, Any],
    replayed: int,
    apart: int,
    stated: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(finding_execution, "ask", lambda statement, *options: answer)
    found = judge(stated, replay=True)
    assert (found.counts["replayed"], found.counts["not_comparable"]) == (replayed, apart)
    assert found.verdict == ("REPLAYED" if replayed else "MINIMAL")


def test_the_engine_shows_it_again(stated: dict[str, Any]) -> None:
    found = judge(stated, replay=True)
    assert found.verdict == "REPLAYED"
    assert "the failure shows here, 2 other cases give what is said" in found.lines[-1]
