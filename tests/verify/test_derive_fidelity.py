"""Re-derivation of F1: each rule's mutation, in the order of derivation."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from lockstep.certificate.statement import model_subjects
from lockstep.certificate.statement import statement as wrap
from lockstep.claims.fidelity import FidelitySeen, predicate
from lockstep.engine.backends import open_backend
from lockstep.engine.environment import environment
from lockstep.fidelity.corpus import corpus
from lockstep.fidelity.judge import Measure
from lockstep.fidelity.measure import Measured, Record
from lockstep_verify import lcj
from lockstep_verify.derive.fidelity import inconsistency
from tests.statements import get, judge, put, refusal

P = "/predicate"
H10 = "H10_COUNTS_DO_NOT_RECOMPUTE"
PRODUCER = dict.fromkeys(("name", "version", "python", "numpy", "machine", "command"), "test")
MODEL = {
    "sha256": "5" * 64,
    "stored_dtype": "float32",
    "dtype": "float32",
    "vocab_size": 256,
    "recipe": {"seed": 0, "head_dim": 16, "dtype": "float32", "tied": False},
}


def seen(dtype: str = "float32") -> FidelitySeen:
    measured = tuple(
        Measured(
            prompt,
            tuple(
                Record(position, 100 + position, 10**6, 10**13, 10**12, 9, 9)
                for position in prompt.positions
            ),
            "0" * 64,
        )
        for prompt in corpus(256)
    )
    backends = (open_backend("host", dtype), open_backend("float64"))
    mine, reference = (environment(backend, None, {}) for backend in backends)
    return FidelitySeen(MODEL | {"dtype": dtype}, mine, reference, measured)


def whole(given: FidelitySeen) -> dict[str, Any]:
    folded = predicate(given, issued_at="2026-11-29T12:00:00Z", producer=PRODUCER)
    made = wrap("fidelity", model_subjects("fidelity", folded), folded)
    parsed: dict[str, Any] = json.loads(lcj.encode(made))
    return parsed


@pytest.fixture(scope="module")
def held() -> dict[str, Any]:
    return whole(seen())


@pytest.fixture
def statement(held: dict[str, Any]) -> dict[str, Any]:
    return deepcopy(held)


def test_a_whole_certificate(statement: dict[str, Any]) -> None:
    derivation = judge(statement)
    assert derivation.verdict == "WITHIN_BOUNDS"
    assert derivation.counts["bounds"] == 7
    assert 0 < derivation.counts["prompts_past_split"] < derivation.counts["prompts"]
    assert 0 < derivation.counts["logit_rows_past_split"] < derivation.counts["logit_rows"]


def test_another_dtype_has_its_own_bounds() -> None:
    assert judge(whole(seen("float16"))).verdict == "WITHIN_BOUNDS"


def test_the_reference_is_binary64_and_does_not_judge_itself(statement: dict[str, Any]) -> None:
    other = deepcopy(statement)
    other["predicate"]["reference"] = other["predicate"]["environment"]
    assert refusal(other) == ("BAD_VALUE", f"{P}/reference")
    statement["predicate"]["environment"] = statement["predicate"]["reference"]
    assert refusal(statement) == ("BAD_VALUE", f"{P}/environment")


def test_the_reference_computes_in_binary64(statement: dict[str, Any]) -> None:
    reference = statement["predicate"]["reference"]
    for entry in (*reference["requested"], *reference["resolved"]):
        if entry["name"] == "dtype":
            entry["value"] = "float32"
    binding = {e["name"]: e["value"] for e in reference["resolved"] if e["binds"]}
    reference["binding_sha256"] = hashlib.sha256(lcj.encode(binding)).hexdigest()
    assert refusal(statement) == ("BAD_VALUE", f"{P}/reference")


def test_each_tuple_is_judged(statement: dict[str, Any]) -> None:
    for member in ("environment", "reference"):
        other = deepcopy(statement)
        other["predicate"][member]["binding_sha256"] = "0" * 64
        assert refusal(other) == ("ENVIRONMENT_MISMATCH", f"{P}/{member}/binding_sha256")


EDITS: list[tuple[str, object, str, str]] = [
    (f"{P}/model/dtype", "float16", "BAD_VALUE", f"{P}/model/dtype"),
    (f"{P}/prompts/1/id", "other", "BAD_VALUE", f"{P}/prompts/1/id"),
    (f"{P}/prompts/1/tokens", 18, "BAD_VALUE", f"{P}/prompts/1/tokens"),
    (f"{P}/prompts/1/sha256", "0" * 64, "BAD_VALUE", f"{P}/prompts/1/sha256"),
    (f"{P}/prompts/1/crosses_split", True, "BAD_VALUE", f"{P}/prompts/1/crosses_split"),
    (f"{P}/prompts/6/crosses_split", False, "BAD_VALUE", f"{P}/prompts/6/crosses_split"),
    (f"{P}/prompts/1/records/3/position", 4, "BAD_VALUE", f"{P}/prompts/1/records/3/position"),
    (f"{P}/prompts/1/records/3/top", 256, "BAD_VALUE", f"{P}/prompts/1/records/3/top"),
    (f"{P}/prompts/1/records/3/scale", 0, "BAD_VALUE", f"{P}/prompts/1/records/3"),
    # A top token that an error of a millionth of the margin has turned, and a divergence above
    # half of the error's square.
    (f"{P}/prompts/1/records/3/top", 8, "BAD_VALUE", f"{P}/prompts/1/records/3"),
    (f"{P}/prompts/1/records/3/kl", 500_002, "BAD_VALUE", f"{P}/prompts/1/records/3"),
    (f"{P}/prompts/1/records/3/kl", 500_001, H10, f"{P}/measures/0/value"),
    (f"{P}/prompts/1/records/3/error", 0, "BAD_VALUE", f"{P}/prompts/1/records/3"),
    (f"{P}/prompts/1/records/3/margin", 2 * 10**13 + 2, "BAD_VALUE", f"{P}/prompts/1/records/3"),
    (f"{P}/prompts/1/records/3/scale", 80 * 10**12 + 1, "BAD_VALUE", f"{P}/prompts/1/records/3"),
    (f"{P}/model/recipe/head_dim", 15, "BAD_VALUE", f"{P}/model/recipe/head_dim"),
    (f"{P}/model/recipe/dtype", "float16", "BAD_VALUE", f"{P}/model/stored_dtype"),
    (f"{P}/model/stored_dtype", "bfloat16", "BAD_VALUE", f"{P}/model/stored_dtype"),
    (f"{P}/model/vocab_size", 257, "BAD_VALUE", f"{P}/model/vocab_size"),
    (f"{P}/prompts/1/records/3/error", 2 * 10**6, H10, f"{P}/measures/2/value"),
    (f"{P}/measures/0/name", "kl_mean", "BAD_VALUE", f"{P}/measures/0/name"),
    (f"{P}/measures/0/limit", "at least", "BAD_VALUE", f"{P}/measures/0/limit"),
    (f"{P}/measures/0/bound", 10**15, "BAD_VALUE", f"{P}/measures/0/bound"),
    (f"{P}/measures/0/value", 1, H10, f"{P}/measures/0/value"),
    (f"{P}/counts/logit_rows", 10**6, H10, f"{P}/counts/logit_rows"),
    (f"{P}/counts/bounds", 8, H10, f"{P}/counts/bounds"),
    (f"{P}/not_run/0", "nothing of note", "BAD_VALUE", f"{P}/not_run"),
    ("/subject/1/digest/sha256", "0" * 64, "SUBJECT_MISMATCH", "/subject/1/digest/sha256"),
]


@pytest.mark.parametrize(("pointer", "value", "code", "at"), EDITS)
def test_an_edit(
    pointer: str, value: object, code: str, at: str, statement: dict[str, Any]
) -> None:
    put(statement, pointer, value)
    assert refusal(statement) == (code, at)


@pytest.mark.parametrize(
    ("pointer", "at"),
    [
        (f"{P}/prompts", f"{P}/prompts"),
        (f"{P}/prompts/6/records", f"{P}/prompts/6/records"),
        (f"{P}/measures", f"{P}/measures"),
    ],
)
def test_what_is_left_out(pointer: str, at: str, statement: dict[str, Any]) -> None:
    get(statement, pointer).pop()
    assert refusal(statement) == ("BAD_VALUE", at)


def test_not_run_begins_as_the_rule_says(statement: dict[str, Any]) -> None:
    stated = statement["predicate"]["not_run"]
    stated.append("a model with real weights")
    assert judge(statement).verdict == "WITHIN_BOUNDS"
    stated.insert(0, stated.pop())
    assert refusal(statement) == ("BAD_VALUE", f"{P}/not_run")
    del stated[1:]
    assert refusal(statement) == ("BAD_VALUE", f"{P}/not_run")


RECORD = {"kl": 100, "error": 10**6, "scale": 10**13, "margin": 10**12, "top": 9} | {
    "reference_top": 9
}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"scale": 0, "margin": 0}, "a scale of 1 or more"),
        ({"scale": 1, "margin": 4}, "a margin that the scale admits"),
        ({"error": 0}, "equal rows where the error is 0"),
        ({"error": 0, "kl": 0, "top": 8}, "equal rows where the error is 0"),
        ({"error": 0, "kl": 0, "margin": 0, "top": 8}, "equal rows where the error is 0"),
        ({"kl": 500_002}, "a divergence that the error admits"),
        ({"top": 8, "margin": 2 * 10**6 + 1}, "an error that moves the top token"),
        # Of two tokens, a margin of 10^-6 that is turned: at least 1 / 8 of its square in nats.
        ({"top": 1, "margin": 2 * 10**6, "kl": 498_998}, "a divergence that moves the top token"),
        ({"scale": 5 * 10**13 + 1}, "a scale that a tiny model reaches"),
    ],
)
def test_what_no_two_rows_of_logits_can_have(changes: dict[str, int], said: str) -> None:
    assert inconsistency(RECORD, 2, 5 * 10**13) == ""
    assert inconsistency(RECORD | changes, 2, 5 * 10**13) == said


@pytest.mark.parametrize(
    "changes",
    [
        {"scale": 1, "margin": 3},
        {"error": 0, "kl": 0},
        {"kl": 500_001},
        {"error": 10**6, "margin": 2 * 10**6, "top": 1, "kl": 500_000},
        # Not a number in one row, or in both: everything is told as the largest number.
        {"kl": (1 << 53) - 1, "error": (1 << 53) - 1, "top": 1},
        {**dict.fromkeys(("kl", "error", "scale", "margin"), (1 << 53) - 1), "top": 1},
    ],
)
def test_what_rows_of_logits_may_have(changes: dict[str, int]) -> None:
    assert inconsistency(RECORD | changes, 2) == ""


def test_a_surplus_prompt(statement: dict[str, Any]) -> None:
    prompts = statement["predicate"]["prompts"]
    prompts.append(prompts[0])
    assert refusal(statement) == ("BAD_VALUE", f"{P}/prompts")


def test_no_subject_model(statement: dict[str, Any]) -> None:
    statement["subject"].pop()
    assert refusal(statement) == ("SUBJECT_MISMATCH", "/subject")


def exceeding(**changes: int) -> Callable[[Record], Record]:
    return lambda record: Record(**(vars(record) | changes))


@pytest.mark.parametrize(
    ("measure", "change", "every"),
    [
        (0, exceeding(kl=10_000_001, error=5 * 10**6), 0),
        (1, exceeding(kl=9_000_000, error=5 * 10**6), 2),
        (2, exceeding(error=10**7 + 1), 0),
        (3, exceeding(error=5 * 10**6 + 100), 1),
        (4, exceeding(margin=10), 20),
        (5, exceeding(error=10**6, margin=2 * 10**6, scale=5 * 10**11, top=8), 0),
        (6, exceeding(margin=2 * 10**6, top=8), 60),
    ],
)
def test_each_bound(measure: int, change: Callable[[Record], Record], every: int) -> None:
    """Each of the seven is exceeded, the ones before it holding."""
    given, number, measured = seen(), 0, []
    for entry in given.measured:
        records = []
        for record in entry.records:
            hit = number == 0 if every == 0 else number % every == 0
            records.append(change(record) if hit else record)
            number += 1
        measured.append(Measured(entry.prompt, tuple(records), entry.logits_sha256))
    stated = whole(FidelitySeen(given.model, given.environment, given.reference, tuple(measured)))
    code, at = refusal(stated)
    assert code == "FIDELITY_BOUND_EXCEEDED"
    measures = [Measure(**entry) for entry in stated["predicate"]["measures"]]
    out = [i for i, entry in enumerate(measures) if not entry.holds]
    assert measure in out
    assert at == f"{P}/measures/{out[0]}/value"
