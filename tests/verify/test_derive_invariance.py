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
from lockstep_verify.derive.invariance_controls import shown
from lockstep_verify.derive.invariance_counters import check_counters
from lockstep_verify.derive.invariance_runs import fold, outcome
from lockstep_verify.errors import Refusal
from lockstep_verify.ledger import ledger
from lockstep_verify.statement import check_statement, check_subjects

COVERAGE = "COVERAGE_DENOMINATOR_NOT_DERIVED"
OUTCOME = "OUTCOME_NOT_DERIVED"
H10 = "H10_COUNTS_DO_NOT_RECOMPUTE"
BAD = "BAD_VALUE"
CONTRADICT = "COUNTERS_CONTRADICT"
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
    assert "pairs of events: 10 of 25" in said


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
    ("/runs/3/n_grams/0/count", 0, BAD, None),
    ("/runs/3/differences", 101, BAD, None),
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
    ("/runs/3/n_grams/0/count", 25, CONTRADICT, "/runs/3/counters"),
    ("/runs/3/n_grams/10/count", 25, CONTRADICT, "/runs/3/n_grams"),
    ("/runs/3/positions", 97, CONTRADICT, "/runs/3/counters"),
    ("/runs/3/requests", 25, CONTRADICT, "/runs/3/counters"),
    ("/runs/3/executions", 1, CONTRADICT, "/runs/3/counters"),
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


ALIKE = {
    "workloads": [HEX], "schedules": [HEX], "executions": 1, "requests": 2, "positions": 9,
    "counters": [{"name": "a", "value": 1}], "n_grams": [],
}  # fmt: skip


@pytest.mark.parametrize(
    ("seen", "required", "word"),
    [
        ("violated", True, "shown"), ("violated", False, "shown"), ("holds", True, "not_shown"),
        ("holds", False, "not_comparable"), ("vacuous", False, "not_shown"),
        ("not_run", False, "not_shown"),
    ],
)  # fmt: skip
def test_what_a_control_came_to(seen: str, required: bool, word: str) -> None:
    assert shown({**ALIKE, "outcome": seen}, {**ALIKE}, required) == word
    assert shown({**ALIKE, "outcome": seen}, None, required) == "not_shown"
    empty = {**ALIKE, "positions": 0}
    assert shown({**empty, "outcome": seen}, empty, required) == "not_shown"


@pytest.mark.parametrize("member", list(ALIKE))
def test_a_control_that_saw_something_else_than_its_twin_shows_nothing(member: str) -> None:
    other: Any = 8 if isinstance(ALIKE[member], int) else [{"name": "a", "value": 2}]
    twin = {**ALIKE, member: other}
    assert shown({**ALIKE, "outcome": "violated"}, twin, True) == "not_shown"
    assert shown({**ALIKE, "outcome": "holds"}, twin, False) == "not_shown"


def test_a_control_of_one_position_is_not_shown(stated: dict[str, Any]) -> None:
    # A run that a fault ended at once differs in one position, and shows nothing of its relation.
    control = stated["predicate"]["controls"][0]
    for member in ("workloads", "schedules", "counters", "n_grams"):
        control[member] = []
    control.update({"executions": 0, "requests": 0, "positions": 1, "differences": 1})
    assert refusal(stated) == (OUTCOME, "/predicate/controls/0/shown")
    control["shown"] = "not_shown"
    assert refusal(stated)[0] == OUTCOME
    assert refusal(stated)[1] == "/predicate/claims/0/verdict"


def test_a_control_on_the_backend_of_the_subject_is_not_shown(records: Any) -> None:
    records.move({"backend": "fast"})
    folded = records.fold()
    assert folded["controls"][0]["shown"] == "not_shown"
    stated = statement("invariance", model_subjects("invariance", folded), folded)
    for run in stated["predicate"]["runs"][-5:]:
        empty: dict[str, Any] = {"workloads": [], "schedules": [], "counters": [], "n_grams": []}
        run.update({**empty, "outcome": "not_run", "reason": "it is about host", "positions": 0})
    folded["controls"][0]["shown"] = "shown"
    assert refusal(stated) == (OUTCOME, "/predicate/controls/0/shown")


@pytest.mark.parametrize(
    ("backend", "more"),
    [
        ("fast", {}), ("padded_tiles", {}), ("float64", {}),
        ("triton", {"device": "cpu", "torch": "2", "triton": "3", "triton_kernels": "interpreted"}),
        ("triton", {"device": "cpu", "torch": "2", "triton": "3", "triton_kernels": "compiled"}),
        ("triton", {"device": "A GPU", "torch": "2", "triton": "3"}),
    ],
)  # fmt: skip
def test_kernel_equality_holds_on_the_host_alone(
    records: Any, backend: str, more: dict[str, str]
) -> None:
    records.move({"backend": backend, **more})
    folded = records.fold()
    assert folded["does_not_apply"] == []
    stated = statement("invariance", model_subjects("invariance", folded), folded)
    assert refusal(stated) == (OUTCOME, "/predicate/runs/75/outcome")


DEVICE = {
    "backend": "triton", "device": "A GPU", "torch": "2", "triton": "3",
    "triton_kernels": "compiled",
}  # fmt: skip


def test_on_a_device_kernel_equality_does_not_apply(records: Any) -> None:
    records.move(DEVICE)
    records.runs = [run for run in records.runs if run.relation != "KERNEL-EQ"]
    folded = records.fold()
    found = judge(statement("invariance", model_subjects("invariance", folded), folded))
    assert found.verdict == "INVARIANT"
    assert (found.counts["demanded"], found.counts["does_not_apply"]) == (75, 5)
    assert folded["claims"][-1] == {
        "name": "KERNEL-EQ", "demanded": 0, "held": 0, "verdict": "DOES_NOT_APPLY"
    }  # fmt: skip
    assert any(line.startswith("does not apply: KERNEL-EQ: ") for line in found.lines)


@pytest.mark.parametrize(
    ("pointer", "value", "at"),
    [
        ("/does_not_apply", [], "/does_not_apply"),
        ("/does_not_apply/0/reason", "no time", "/does_not_apply"),
        ("/does_not_apply/0/relation", "MR1", "/does_not_apply"),
        ("/claims/6/verdict", "HOLDS", "/claims/6/verdict"),
        ("/claims/0/verdict", "DOES_NOT_APPLY", "/claims/0/verdict"),
    ],
)
def test_nothing_else_goes_by_the_door_of_the_device(
    records: Any, pointer: str, value: Any, at: str
) -> None:
    records.move(DEVICE)
    records.runs = [run for run in records.runs if run.relation != "KERNEL-EQ"]
    folded = copy.deepcopy(records.fold())
    stated = statement("invariance", model_subjects("invariance", folded), folded)
    put(stated["predicate"], pointer, value)
    code, place = refusal(stated)
    assert (code in (COVERAGE, OUTCOME), place) == (True, f"/predicate{at}")


def test_a_seed_cannot_be_left_out(records: Any) -> None:
    first = list(records.runs)
    for seed in (1, 2):
        records.runs += [records.make(run.relation, run.block_size, run.subject, seed)
                         for run in first]  # fmt: skip
    folded = copy.deepcopy(records.fold())
    stated = statement("invariance", model_subjects("invariance", folded), folded)
    assert judge(stated).counts["runs"] == 240
    whole = copy.deepcopy(stated)
    del stated["predicate"]["runs"][4]
    assert refusal(stated) == (COVERAGE, "/predicate/runs")
    # One more of another seed in its place.
    runs = whole["predicate"]["runs"]
    runs[4] = {**runs[5], "seed": 3}
    runs[4], runs[5] = runs[5], runs[4]
    assert refusal(whole) == (COVERAGE, "/predicate/runs/4/seed")


def test_a_schedule_is_of_one_block_size(stated: dict[str, Any]) -> None:
    runs = stated["predicate"]["runs"]
    runs[6]["schedules"] = runs[5]["schedules"]
    assert refusal(stated) == (BAD, "/predicate/runs/6/schedules/0")
    runs[6]["schedules"] = [runs[8]["workloads"][0]]
    assert refusal(stated) == (BAD, "/predicate/runs/6/schedules/0")


def test_a_run_of_a_seed_is_no_copy_of_another(records: Any) -> None:
    # Whoever did not run the second seed may copy what the first left.
    for run in list(records.runs):
        records.runs.append(records.make(run.relation, run.block_size, run.subject, 1))
    folded = copy.deepcopy(records.fold())
    stated = statement("invariance", model_subjects("invariance", folded), folded)
    runs = stated["predicate"]["runs"]
    runs[3] = {**runs[2], "seed": 1}
    assert refusal(stated) == (BAD, "/predicate/runs/3/workloads")


# Events with the pair that they begin or end, without which no run has them.
@pytest.mark.parametrize(
    ("event", "counter"),
    [(entry["event"], entry["counter"]) for entry in spec.load("relations.json")["events"]],
)
def test_each_event_is_counted_as_its_pairs_are(
    stated: dict[str, Any], event: str, counter: str
) -> None:
    run = stated["predicate"]["runs"][10]
    (entry,) = [entry for entry in run["counters"] if entry["name"] == counter]
    kept = entry["value"]
    for value in (kept + 1, kept - 1):
        entry["value"] = value
        assert refusal(stated) == (CONTRADICT, "/predicate/runs/10/counters")
    entry["value"] = kept
    run["n_grams"] = [entry for entry in run["n_grams"] if event not in entry["events"]]
    assert refusal(stated) == (CONTRADICT, "/predicate/runs/10/counters")


CONDITIONS = [
    pytest.param(condition, id=f"{name} {place}")
    for name, listed in (
        ("all", spec.load("relations.json")["conditions"]),
        *((one["name"], one["conditions"]) for one in spec.load("relations.json")["relations"]),
    )
    for place, condition in enumerate(listed)
]


CONSTANTS = {"one": 1, "listed_kernels": len(spec.load("relations.json")["kernels"])}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_each_condition_can_be_broken(condition: dict[str, Any]) -> None:
    left, right = condition["left"], condition["right"]
    names = sorted({*left, *right} - CONSTANTS.keys())
    told = [name.replace("published_slots", "published_blocks") for name in names]

    def judged(numbers: dict[str, int], outcome_: str = "holds") -> None:
        record = {
            "outcome": outcome_, "n_grams": [], "block_size": 1,
            "counters": [{"name": name, "value": numbers[name]} for name in told],
            **{name: numbers.get(name, 0) for name in ("executions", "requests", "positions")},
            **{name: [HEX] * numbers.get(name, 0) for name in ("workloads", "schedules")},
        }  # fmt: skip
        check_counters(record, {"executes": False, "conditions": [condition]}, "/runs/0")

    none = dict.fromkeys(told, 0)
    constant = [side for side in (left, right) if not CONSTANTS.keys().isdisjoint(side)]
    if constant:
        # The constant's worth on one counter of the other side.
        worth = sum(CONSTANTS.get(name, 0) * weight for name, weight in constant[0].items())
        other = right if constant[0] is left else left
        judged({**none, next(iter(other)): worth})
        broken = none
    else:
        judged(none)
        broken = {**none, **dict.fromkeys(right or left, 1)}
        broken |= {"published_blocks": 1} if "published_slots" in right else {}
    with pytest.raises(Refusal) as caught:
        judged(broken)
    assert (caught.value.code, caught.value.pointer) == (CONTRADICT, "/runs/0/counters")
    if condition["where"] == "holds":
        judged(broken, "violated")
    if condition["is"] == "equal" and not constant:
        with pytest.raises(Refusal):
            judged({**none, **dict.fromkeys(left, 1)})
