"""Re-derivation of relations between executions: each rule's mutation, in the order of the rules.

The certificate that the tests mutate is folded by the producer, from made-up records: that the two
agree on it is a test by itself.
"""

from __future__ import annotations

import copy
from itertools import product
from typing import Any

import pytest

from lockstep.certificate.statement import model_subjects, statement
from lockstep.claims import invariance_totals
from lockstep_verify import derive, spec
from lockstep_verify.derive import Options
from lockstep_verify.derive.invariance_runs import fold, outcome, shown
from lockstep_verify.errors import Refusal
from lockstep_verify.ledger import ledger
from lockstep_verify.statement import check_statement, check_subjects

COVERAGE = "COVERAGE_DENOMINATOR_NOT_DERIVED"
OUTCOME = "OUTCOME_NOT_DERIVED"
H10 = "H10_COUNTS_DO_NOT_RECOMPUTE"
BAD = "BAD_VALUE"
HEX = "0" * 64
COUNTS = list(spec.load("schemas/invariance.schema.json")["$defs"]["counts"]["properties"])


@pytest.fixture
def stated(records: Any) -> dict[str, Any]:
    folded = copy.deepcopy(records.fold())
    return statement("invariance", model_subjects("invariance", folded), folded)


def judge(stated: dict[str, Any]) -> derive.Derivation:
    check_statement(stated)
    check_subjects(stated, None)
    return derive.derive(stated, Options())


def refusal(stated: dict[str, Any]) -> tuple[str, str]:
    with pytest.raises(Refusal) as caught:
        judge(stated)
    return caught.value.code, caught.value.pointer


def put(document: Any, pointer: str, value: Any) -> None:
    *way, last = pointer.split("/")[1:]
    for step in way:
        document = document[int(step) if isinstance(document, list) else step]
    document[int(last) if isinstance(document, list) else last] = value


def test_a_whole_certificate(stated: dict[str, Any]) -> None:
    found = judge(stated)
    assert found.verdict == "INVARIANT"
    assert found.counts == stated["predicate"]["counts"]
    said = "\n".join(found.lines)
    assert "80 hold of 80 combinations" in said
    assert "control padded_tiles, MR1: not_comparable" in said
    assert "pairs of events: 8 of 25" in said


@pytest.mark.parametrize("outcome_", ["violated", "vacuous", "not_run"])
def test_what_does_not_hold_is_told(records: Any, outcome_: str) -> None:
    violated = outcome_ == "violated"
    records.change(
        "MR4", 64, outcome=outcome_, reason="" if violated else "why", differences=int(violated),
        first=violated,
    )  # fmt: skip
    folded = records.fold()
    found = judge(statement("invariance", model_subjects("invariance", folded), folded))
    assert found.verdict == ("VIOLATED" if violated else "UNPROVEN")
    assert any(line.startswith(f"{outcome_}: MR4 at 64: ") for line in found.lines)


def test_outcomes_are_derived_and_observations_attested(stated: dict[str, Any]) -> None:
    found = ledger(stated["predicate"], spec.load("schemas/invariance.schema.json"))
    assert "/runs/*/positions" in found.attested_kinds
    for kind in ("/verdict", "/runs/*/outcome", "/controls/*/shown", "/counts/holds"):
        assert kind not in found.attested_kinds
    assert not any(kind.startswith(("/claims", "/coverage")) for kind in found.attested_kinds)


# Pointer below the predicate, the value put there, and the code; the pointer of the refusal is
# the same but where a third entry says otherwise.
MUTATIONS: list[tuple[str, Any, str, str | None]] = [
    ("/environment/binding_sha256", HEX, "ENVIRONMENT_MISMATCH", None),
    ("/model/dtype", "float16", BAD, None),
    ("/model_digest", HEX, BAD, None),
    ("/model/sha256", HEX, BAD, "/model_digest"),
    ("/lifecycle/cells/3/next", "PREFILLING", COVERAGE, "/lifecycle/cells"),
    ("/lifecycle/sha256", HEX, COVERAGE, None),
    ("/runs/0/relation", "MR99", COVERAGE, None),
    ("/runs/0/block_size", 9, COVERAGE, None),
    ("/runs/1/block_size", 8, BAD, "/runs/1"),
    ("/runs/3/workloads", ["1" * 64, HEX], BAD, "/runs/3/workloads/1"),
    ("/runs/3/schedules", [HEX, HEX], BAD, "/runs/3/schedules/1"),
    ("/runs/3/counters/1/name", "batches_of_1", BAD, "/runs/3/counters/1/name"),
    ("/runs/3/n_grams/1/events", ["admit", "chunk"], BAD, None),
    ("/runs/3/n_grams/0/events", ["admit", "admit"], BAD, None),
    ("/runs/3/n_grams/0/count", 0, BAD, None),
    ("/runs/3/n_grams/8/count", 99, BAD, None),
    ("/runs/3/differences", 101, BAD, None),
    ("/runs/3/differences", 1, BAD, "/runs/3/first_difference"),
    ("/runs/3/outcome", "not_run", BAD, "/runs/3/reason"),
    ("/runs/3/outcome", "vacuous", OUTCOME, None),
    ("/runs/3/outcome", "violated", OUTCOME, None),
    ("/runs/3/positions", 0, OUTCOME, "/runs/3/outcome"),
    ("/runs/3/counters/0/value", 0, OUTCOME, "/runs/3/outcome"),
    ("/runs/3/counters", [], OUTCOME, "/runs/3/outcome"),
    ("/runs/3/reason", "because", BAD, None),
    ("/controls", [], COVERAGE, None),
    ("/controls/0/backend", "padded_tiles", COVERAGE, None),
    ("/controls/0/relation", "MR2", COVERAGE, None),
    ("/controls/0/block_size", 8, COVERAGE, None),
    ("/controls/0/outcome", "holds", OUTCOME, None),
    ("/controls/0/shown", "not_shown", OUTCOME, None),
    ("/controls/1/shown", "shown", OUTCOME, None),
    ("/claims", [], COVERAGE, None),
    ("/claims/1/name", "I1", COVERAGE, None),
    ("/claims/1/demanded", 1, COVERAGE, None),
    ("/claims/1/held", 1, H10, None),
    ("/claims/1/verdict", "UNPROVEN", OUTCOME, None),
    ("/coverage/n_grams", [], COVERAGE, None),
    ("/coverage/n_grams/0/population", "MR2", COVERAGE, None),
    ("/coverage/n_grams/0/n", 3, COVERAGE, None),
    ("/coverage/n_grams/0/legal", 24, COVERAGE, None),
    ("/coverage/n_grams/0/observed", 24, H10, None),
    ("/coverage/unseen", [], H10, None),
    ("/counts/two_grams_legal", 24, H10, None),
    ("/verdict", "VIOLATED", OUTCOME, None),
]


@pytest.mark.parametrize(("pointer", "value", "code", "at"), MUTATIONS)
def test_a_mutation_is_refused(
    stated: dict[str, Any], pointer: str, value: Any, code: str, at: str | None
) -> None:
    put(stated["predicate"], pointer, value)
    assert refusal(stated) == (code, "/predicate" + (at or pointer))


@pytest.mark.parametrize("name", COUNTS)
def test_each_count_is_derived(stated: dict[str, Any], name: str) -> None:
    stated["predicate"]["counts"][name] += 1
    assert refusal(stated) == (H10, f"/predicate/counts/{name}")


def test_a_combination_without_a_run(stated: dict[str, Any]) -> None:
    del stated["predicate"]["runs"][-1]
    assert refusal(stated) == (COVERAGE, "/predicate/runs")


@pytest.mark.parametrize(
    "member",
    ["workloads", "schedules", "executions", "requests", "positions", "counters", "n_grams"],
)
def test_what_was_not_run_has_seen_nothing(stated: dict[str, Any], member: str) -> None:
    run = stated["predicate"]["runs"][3]
    kept = run[member]
    for other in ("workloads", "schedules", "counters", "n_grams"):
        run[other] = []
    for other in ("executions", "requests", "positions", "differences"):
        run[other] = 0
    run.update({"outcome": "not_run", "reason": "no time", member: kept})
    assert refusal(stated) == (BAD, f"/predicate/runs/3/{member}")


def test_a_vacuous_run_needs_a_reason(stated: dict[str, Any]) -> None:
    stated["predicate"]["runs"][3].update(outcome="vacuous", positions=0)
    assert refusal(stated) == (BAD, "/predicate/runs/3/reason")


def test_a_denominator_of_another_relation_is_refused(stated: dict[str, Any]) -> None:
    # A lifecycle with a cell less has fewer words, so that coverage would look better.
    del stated["predicate"]["lifecycle"]["cells"][5]
    assert refusal(stated) == (COVERAGE, "/predicate/lifecycle/cells")


def test_the_model_is_a_subject(stated: dict[str, Any]) -> None:
    stated["subject"][1]["digest"]["sha256"] = HEX
    assert refusal(stated) == ("SUBJECT_MISMATCH", "/subject/1/digest/sha256")
    del stated["subject"][1]
    assert refusal(stated) == ("SUBJECT_MISMATCH", "/subject")


def test_both_folds_agree_everywhere() -> None:
    outcomes, words = invariance_totals.OUTCOMES, ("shown", "not_comparable", "not_shown")
    for *seen, one, other in product(outcomes, outcomes, outcomes, words, words):
        expected = invariance_totals.fold(seen, [one, other], "INVARIANT")
        assert fold(seen, [one, other], "INVARIANT") == expected
    assert fold([], ["shown"], "INVARIANT") == "UNPROVEN"


def test_weakening_never_raises() -> None:
    rank = ["UNPROVEN", "VIOLATED", "INVARIANT"].index
    order = ["holds", "violated", "vacuous", "not_run"]
    for one, other, required in product(order, order, ["shown", "not_shown"]):
        for weaker in order[order.index(one) :]:
            before = rank(fold([one, other], [required], "INVARIANT"))
            assert rank(fold([weaker, other], [required], "INVARIANT")) <= before
        weakened = fold([one, other], ["not_shown"], "INVARIANT")
        assert rank(weakened) <= rank(fold([one, other], [required], "INVARIANT"))


def test_weakening_a_record_never_raises_its_outcome() -> None:
    rank = ["vacuous", "violated", "holds"].index
    full = {"positions": 5, "differences": 0, "counters": [{"name": "a", "value": 1}]}
    assert outcome(full, ["a"]) == "holds"
    for weaker in ({"positions": 0}, {"counters": []}, {"differences": 1},
                   {"counters": [{"name": "a", "value": 0}]}):  # fmt: skip
        assert rank(outcome({**full, **weaker}, ["a"])) < rank("holds")


@pytest.mark.parametrize(
    ("seen", "required", "word"),
    [
        ("violated", True, "shown"), ("violated", False, "shown"), ("holds", True, "not_shown"),
        ("holds", False, "not_comparable"), ("vacuous", False, "not_shown"),
        ("not_run", False, "not_shown"),
    ],
)  # fmt: skip
def test_what_a_control_came_to(seen: str, required: bool, word: str) -> None:
    assert shown({"outcome": seen}, required) == word
