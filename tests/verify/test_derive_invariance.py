"""Re-derivation of relations between executions: each rule's mutation, in the order of the rules.

The certificate that the tests mutate is folded by the producer, from made-up records: that the two
agree on it is a test by itself.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from lockstep.claims import invariance_totals
from lockstep_verify import spec
from lockstep_verify.derive.invariance_runs import fold, outcome
from lockstep_verify.ledger import ledger

COVERAGE = "COVERAGE_DENOMINATOR_NOT_DERIVED"
OUTCOME = "OUTCOME_NOT_DERIVED"
H10 = "H10_COUNTS_DO_NOT_RECOMPUTE"
BAD = "BAD_VALUE"
CONTRADICT = "COUNTERS_CONTRADICT"
HEX = "0" * 64
COUNTS = list(spec.load("schemas/invariance.schema.json")["$defs"]["counts"]["properties"])


def test_a_whole_certificate(bench: Any, stated: dict[str, Any]) -> None:
    found = bench.judge(stated)
    assert found.verdict == "INVARIANT"
    assert found.counts == stated["predicate"]["counts"]
    said = "\n".join(found.lines)
    assert "80 hold of 80 combinations" in said
    assert "control padded_tiles, MR1: not_comparable" in said
    assert "pairs of events: 10 of 25" in said


@pytest.mark.parametrize("outcome_", ["violated", "vacuous", "not_run"])
def test_what_does_not_hold_is_told(bench: Any, records: Any, outcome_: str) -> None:
    violated = outcome_ == "violated"
    records.change(
        "MR4", 64, outcome=outcome_, reason="" if violated else "why", differences=int(violated),
        first=violated,
    )  # fmt: skip
    found = bench.judge(bench.fold(records))
    assert found.verdict == ("VIOLATED" if violated else "UNPROVEN")
    assert any(line.startswith(f"{outcome_}: MR4 at 64, seed 0: ") for line in found.lines)


def test_outcomes_are_derived_and_observations_attested(stated: dict[str, Any]) -> None:
    found = ledger(stated["predicate"], spec.load("schemas/invariance.schema.json"))
    derived = ("/claims", "/coverage", "/counts", "/does_not_apply", "/lifecycle", "/model_digest")
    assert not any(kind.startswith(derived) for kind in found.attested_kinds)
    records = {
        kind.split("/", 3)[-1] for kind in found.attested_kinds
        if kind.startswith(("/runs/", "/controls/"))
    }  # fmt: skip
    assert records == {
        "reason", "executions", "requests", "positions", "differences", "first_difference",
        "first_difference/execution", "first_difference/request", "first_difference/position",
        "first_difference/layer", "first_difference/part", "first_difference/expected",
        "first_difference/got", "counters/*/name", "counters/*/value", "n_grams/*/events/*",
        "n_grams/*/count", "binding/*/name", "binding/*/value",
    }  # fmt: skip


@pytest.mark.parametrize("record", ["run", "control"])
def test_the_class_of_each_member_of_a_record_is_stated(record: str) -> None:
    members = spec.load("schemas/invariance.schema.json")["$defs"][record]["properties"]
    assert [name for name, node in members.items() if "x-class" not in node] == []


# Pointer below the predicate, the value put there, and the code; the pointer of the refusal is
# the same but where a third entry says otherwise.
MUTATIONS: list[tuple[str, Any, str, str | None]] = [
    ("/environment/binding_sha256", HEX, "ENVIRONMENT_MISMATCH", None),
    ("/model/dtype", "float16", BAD, None),
    ("/model_digest", HEX, BAD, None),
    ("/model/sha256", HEX, BAD, "/model_digest"),
    ("/lifecycle/cells/3/next", "PREFILLING", COVERAGE, "/lifecycle/cells"),
    ("/lifecycle/sha256", HEX, COVERAGE, None),
    ("/model/stored_dtype", "bfloat16", BAD, None),
    (
        "/does_not_apply",
        [{"relation": "KERNEL-EQ", "block_size": 8, "reason": "a device"}],
        COVERAGE,
        None,
    ),
    ("/seeds", 2, COVERAGE, "/runs"),
    ("/runs/0/relation", "MR99", COVERAGE, None),
    ("/runs/0/block_size", 9, COVERAGE, None),
    ("/runs/1/block_size", 8, COVERAGE, None),
    ("/runs/1/seed", 1, COVERAGE, None),
    ("/runs/3/workloads", ["1" * 64, HEX], BAD, "/runs/3/workloads/1"),
    ("/runs/3/schedules", [HEX, HEX], BAD, "/runs/3/schedules/1"),
    ("/runs/3/counters/1/name", "admissions", BAD, None),
    ("/runs/3/counters/1/name", "batch_of_dreams", BAD, None),
    ("/runs/75/counters/0/name", "decodes", BAD, None),
    ("/runs/3/n_grams/1/events", ["admit", "cache_hit"], BAD, None),
    ("/runs/3/n_grams/0/events", ["admit", "admit"], BAD, None),
    ("/runs/3/differences", 777, BAD, None),
    ("/runs/3/differences", 1, BAD, "/runs/3/first_difference"),
    ("/runs/3/outcome", "not_run", BAD, "/runs/3/reason"),
    ("/runs/75/workloads", [HEX], BAD, None),
    ("/runs/75/schedules", [HEX], BAD, None),
    ("/runs/75/executions", 1, BAD, None),
    ("/runs/75/requests", 1, BAD, None),
    ("/runs/75/n_grams", [{"events": ["admit", "chunk"], "count": 1}], BAD, None),
    ("/runs/3/outcome", "vacuous", OUTCOME, None),
    ("/runs/3/outcome", "violated", OUTCOME, None),
    ("/runs/3/positions", 0, OUTCOME, "/runs/3/outcome"),
    ("/runs/3/executions", 0, OUTCOME, "/runs/3/outcome"),
    ("/runs/3/workloads", [], OUTCOME, "/runs/3/outcome"),
    ("/runs/3/schedules", [], OUTCOME, "/runs/3/outcome"),
    ("/runs/3/counters/4/value", 0, OUTCOME, "/runs/3/outcome"),
    ("/runs/3/counters", [], OUTCOME, "/runs/3/outcome"),
    ("/runs/3/reason", "because", BAD, None),
    ("/runs/3/n_grams", [], CONTRADICT, "/runs/3/counters"),
    ("/runs/3/n_grams/0/count", 195, CONTRADICT, "/runs/3/counters"),
    ("/runs/3/n_grams/10/count", 195, CONTRADICT, "/runs/3/n_grams"),
    ("/runs/3/positions", 777, CONTRADICT, "/runs/3/counters"),
    ("/runs/3/requests", 195, CONTRADICT, "/runs/3/counters"),
    ("/runs/3/executions", 15, CONTRADICT, "/runs/3/counters"),
    ("/controls", [], COVERAGE, None),
    ("/controls/0/backend", "padded_tiles", COVERAGE, None),
    ("/controls/0/relation", "MR2", COVERAGE, None),
    ("/controls/0/block_size", 8, COVERAGE, None),
    ("/controls/0/seed", 1, COVERAGE, None),
    ("/controls/0/n_grams", [], CONTRADICT, "/controls/0/counters"),
    ("/controls/0/binding", [], "MISSING_FIELD", None),
    ("/controls/0/binding/0/value", "host", BAD, None),
    ("/controls/0/binding/1/name", "backend", BAD, None),
    ("/controls/0/binding/1/name", "python", BAD, None),
    ("/controls/0/binding/1/value", "another BLAS", BAD, None),
    ("/controls/0/binding/5/value", "no digest", BAD, None),
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
    bench: Any, stated: dict[str, Any], pointer: str, value: Any, code: str, at: str | None
) -> None:
    bench.put(stated["predicate"], pointer, value)
    assert bench.refusal(stated) == (code, "/predicate" + (at or pointer))


@pytest.mark.parametrize("name", COUNTS)
def test_each_count_is_derived(bench: Any, stated: dict[str, Any], name: str) -> None:
    stated["predicate"]["counts"][name] += 1
    assert bench.refusal(stated) == (H10, f"/predicate/counts/{name}")


def test_what_did_not_occur_is_no_n_gram(bench: Any, stated: dict[str, Any]) -> None:
    stated["predicate"]["runs"][3]["n_grams"][0]["count"] = 0
    assert bench.refusal(stated, shape=True) == (BAD, "/predicate/runs/3/n_grams/0/count")


def test_a_combination_without_a_run(bench: Any, stated: dict[str, Any]) -> None:
    del stated["predicate"]["runs"][-1]
    assert bench.refusal(stated) == (COVERAGE, "/predicate/runs")


@pytest.mark.parametrize(
    "member",
    ["workloads", "schedules", "executions", "requests", "positions", "counters", "n_grams"],
)
def test_what_was_not_run_has_seen_nothing(bench: Any, stated: dict[str, Any], member: str) -> None:
    run = stated["predicate"]["runs"][3]
    kept = run[member]
    for other in ("workloads", "schedules", "counters", "n_grams"):
        run[other] = []
    for other in ("executions", "requests", "positions", "differences"):
        run[other] = 0
    run.update({"outcome": "not_run", "reason": "no time", member: kept})
    assert bench.refusal(stated) == (BAD, f"/predicate/runs/3/{member}")


def test_a_vacuous_run_needs_a_reason(bench: Any, stated: dict[str, Any]) -> None:
    stated["predicate"]["runs"][3].update(outcome="vacuous", positions=0)
    assert bench.refusal(stated) == (BAD, "/predicate/runs/3/reason")


def test_a_denominator_of_another_relation_is_refused(bench: Any, stated: dict[str, Any]) -> None:
    # A lifecycle with a cell less has fewer words, so that coverage would look better.
    del stated["predicate"]["lifecycle"]["cells"][5]
    assert bench.refusal(stated) == (COVERAGE, "/predicate/lifecycle/cells")


def test_the_model_is_a_subject(bench: Any, stated: dict[str, Any]) -> None:
    stated["subject"][1]["digest"]["sha256"] = HEX
    assert bench.refusal(stated) == ("SUBJECT_MISMATCH", "/subject/1/digest/sha256")
    del stated["subject"][1]
    assert bench.refusal(stated) == ("SUBJECT_MISMATCH", "/subject")


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
    full = {
        "positions": 5, "differences": 0, "counters": [{"name": "a", "value": 1}],
        "executions": 1, "workloads": [HEX], "schedules": [HEX],
    }  # fmt: skip
    relation = {"counters": ["a"], "executes": True}
    assert outcome(full, relation) == "holds"
    for weaker in ({"positions": 0}, {"counters": []}, {"differences": 1}, {"executions": 0},
                   {"workloads": []}, {"schedules": []},
                   {"counters": [{"name": "a", "value": 0}]}):  # fmt: skip
        assert rank(outcome({**full, **weaker}, relation)) < rank("holds")


def test_a_seed_cannot_be_left_out(bench: Any, records: Any) -> None:
    first = list(records.runs)
    for seed in (1, 2):
        records.runs += [records.make(run.relation, run.block_size, run.subject, seed)
                         for run in first]  # fmt: skip
    stated = bench.fold(records)
    assert bench.judge(stated).counts["runs"] == 240
    whole = bench.fold(records)
    del stated["predicate"]["runs"][4]
    assert bench.refusal(stated) == (COVERAGE, "/predicate/runs")
    # One more of another seed in its place.
    runs = whole["predicate"]["runs"]
    runs[4] = {**runs[5], "seed": 3}
    runs[4], runs[5] = runs[5], runs[4]
    assert bench.refusal(whole) == (COVERAGE, "/predicate/runs/4/seed")
