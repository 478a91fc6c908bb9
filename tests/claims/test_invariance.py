"""The fold of relations between executions, over made-up records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import jsonschema
import pytest

from lockstep import spec
from lockstep.claims import invariance_totals
from lockstep.claims.invariance import NOT_ASKED, predicate, require_room
from lockstep.claims.invariance_totals import OUTCOMES, VERDICTS, fold, weakening_never_raises
from lockstep.errors import LockstepError
from lockstep.relations.observation import Observation

Records = Any

DEVICE = {"backend": "triton", "triton_kernels": "compiled", "device": "A GPU"}


@pytest.fixture
def folded(records: Records) -> dict[str, Any]:
    return records.fold()


def refusal(act: Callable[[], object]) -> str:
    with pytest.raises(LockstepError) as caught:
        act()
    return caught.value.code


def test_the_predicate_has_the_shape_of_the_schema(folded: dict[str, Any]) -> None:
    schema = spec.load("schemas/invariance.schema.json")
    jsonschema.Draft202012Validator(schema).validate(folded)


def test_denominators_come_from_the_specification(folded: dict[str, Any]) -> None:
    relations = spec.load("relations.json")["relations"]
    assert folded["counts"]["demanded"] == sum(len(one["block_sizes"]) for one in relations)
    # facts: 25 pairs and 79 triples are the words of the thirteen cells [LIFE-3].
    assert folded["counts"]["two_grams_legal"] == 25
    assert folded["counts"]["three_grams_legal"] == 79
    assert sum(claim["demanded"] for claim in folded["claims"]) == folded["counts"]["demanded"]


def test_where_everything_holds(folded: dict[str, Any]) -> None:
    assert folded["verdict"] == "INVARIANT"
    assert {claim["verdict"] for claim in folded["claims"]} == {"HOLDS"}
    assert folded["counts"]["holds"] == folded["counts"]["demanded"]
    assert [control["shown"] for control in folded["controls"]] == ["shown", "not_comparable"]


def test_one_violated_run_shows_in_its_claim_and_the_verdict(records: Records) -> None:
    records.change("MR3", 32, outcome="violated", differences=1, first=True)
    folded = records.fold()
    verdicts = {claim["name"]: claim["verdict"] for claim in folded["claims"]}
    assert folded["verdict"] == "VIOLATED"
    assert verdicts["I2"] == "VIOLATED"
    assert verdicts["I1"] == "HOLDS"
    assert folded["counts"]["differences"] == 1


@pytest.mark.parametrize("outcome", ["vacuous", "not_run"])
def test_not_looking_is_unproven(records: Records, outcome: str) -> None:
    records.change("MR3", 32, outcome="violated", differences=1, first=True)
    records.change("MR1", 8, outcome=outcome, reason="why")
    folded = records.fold()
    assert folded["verdict"] == "UNPROVEN"
    assert folded["counts"]["violated"] == folded["counts"][outcome] == 1


def test_what_nobody_ran_is_said(records: Records) -> None:
    records.drop("MR7", 64)
    folded = records.fold()
    (run,) = [run for run in folded["runs"] if run["outcome"] != "holds"]
    assert (run["relation"], run["block_size"], run["outcome"]) == ("MR7", 64, "not_run")
    assert run["reason"] == NOT_ASKED
    assert folded["verdict"] == "UNPROVEN"


def test_several_seeds_say_the_least_of_them(records: Records) -> None:
    records.runs += [
        records.make(run.relation, run.block_size, run.subject, 1) for run in records.runs
    ]
    folded = records.fold()
    assert (folded["seeds"], folded["verdict"]) == (2, "INVARIANT")
    assert folded["counts"]["runs"] == 2 * folded["counts"]["demanded"]
    records.runs[-1] = replace(records.runs[-1], outcome="vacuous", reason="zero: shapes")
    assert records.fold()["verdict"] == "UNPROVEN"


def test_a_seed_that_was_left_out_was_not_run(records: Records) -> None:
    records.runs.append(records.make("MR2", 16, records.subject, 2))
    folded = records.fold()
    assert folded["seeds"] == 3
    assert folded["counts"]["not_run"] == folded["counts"]["demanded"]
    assert folded["counts"]["runs"] == 3 * folded["counts"]["demanded"]
    seeds = [run["seed"] for run in folded["runs"] if run["relation"] == "MR7"]
    assert seeds == [0, 1, 2] * 5


@pytest.mark.parametrize("outcome", ["holds", "vacuous", "not_run"])
def test_a_required_control_that_shows_nothing_leaves_all_unproven(
    records: Records, outcome: str
) -> None:
    records.controls[0] = replace(
        records.controls[0], outcome=outcome, differences=0, first_difference=None
    )
    folded = records.fold()
    assert folded["controls"][0]["shown"] == "not_shown"
    assert folded["verdict"] == "UNPROVEN"
    assert {claim["verdict"] for claim in folded["claims"]} == {"UNPROVEN"}


def test_a_control_that_was_not_run_is_not_shown(records: Records) -> None:
    records.controls.clear()
    folded = records.fold()
    assert [control["shown"] for control in folded["controls"]] == ["not_shown", "not_shown"]
    assert folded["counts"]["controls"] == 2


def test_more_seeds_than_a_certificate_holds_are_refused(records: Records) -> None:
    most = spec.load("schemas/invariance.schema.json")["properties"]["runs"]["maxItems"]
    seeds = most // len(records.runs)
    require_room(seeds)
    assert refusal(lambda: require_room(seeds + 1)) == "LIMIT_SIZE"
    records.runs.append(records.make("MR2", 16, records.subject, 1 << 40))
    assert refusal(records.fold) == "LIMIT_SIZE"


def test_runs_of_two_subjects_are_not_folded(records: Records) -> None:
    records.runs[3] = replace(
        records.runs[3], subject=replace(records.subject, sources_sha256="9" * 64)
    )
    assert refusal(records.fold) == "NOT_COMPARABLE"


def test_runs_of_another_model_or_environment_are_not_folded(records: Records) -> None:
    other = {**records.arguments(), "model_digest": "9" * 64}
    assert refusal(lambda: predicate(**other)) == "NOT_COMPARABLE"
    stated = {**records.environment, "binding_sha256": "9" * 64}
    wrong = {**records.arguments(), "environment": stated}
    assert refusal(lambda: predicate(**wrong)) == "NOT_COMPARABLE"


@pytest.mark.parametrize("member", ["dtype", "model_digest", "binding_sha256", "sources_sha256"])
def test_a_control_of_another_subject_is_not_folded(records: Records, member: str) -> None:
    control = records.controls[0]
    value = "float16" if member == "dtype" else "9" * 64
    records.controls[0] = replace(control, subject=replace(control.subject, **{member: value}))
    assert refusal(records.fold) == "NOT_COMPARABLE"


def test_a_control_says_what_its_bits_depend_on(folded: dict[str, Any]) -> None:
    told = {entry["name"]: entry["value"] for entry in folded["controls"][0]["binding"]}
    assert (told["backend"], told["dtype"]) == ("fast", "float32")
    assert {"blas", "blas_kernel", "numpy", "kernels_sha256"} <= set(told)


@pytest.mark.parametrize(
    "members",
    [
        {"workloads": ()},
        {"schedules": ()},
        {"executions": 25},
        {"requests": 23},
        {"positions": 95},
        {"counters": {}},
        {"n_grams": {}},
    ],
)
def test_a_control_that_saw_something_else_than_its_twin_shows_nothing(
    records: Records, members: dict[str, Any]
) -> None:
    control, other = records.controls
    twin = records.run("MR1", 16)
    assert invariance_totals.repeats(control, twin)
    for one, required in ((replace(control, **members), True), (replace(other, **members), False)):
        assert not invariance_totals.repeats(one, twin)
        assert invariance_totals.shown(one, [twin], required, "host") == "not_shown"


def test_the_subject_controls_nothing(records: Records) -> None:
    control, twin = records.controls[0], records.run("MR1", 16)
    assert invariance_totals.shown(control, [twin], True, "host") == "shown"
    assert invariance_totals.shown(control, [twin], True, "fast") == "not_shown"


def test_kernel_equality_does_not_apply_on_a_device(records: Records) -> None:
    records.move(DEVICE)
    for size in (8, 16):
        records.change("KERNEL-EQ", size, outcome="not_run", reason="it is about host")
    for size in (32, 64, 128):
        records.drop("KERNEL-EQ", size)
    folded = records.fold()
    assert folded["verdict"] == "INVARIANT"
    assert [one["block_size"] for one in folded["does_not_apply"]] == [8, 16, 32, 64, 128]
    assert folded["claims"][-1]["verdict"] == invariance_totals.DOES_NOT_APPLY


def test_what_does_not_apply_and_was_run_all_the_same_is_refused(records: Records) -> None:
    records.move(DEVICE)
    assert refusal(records.fold) == "BAD_VALUE"


@pytest.mark.parametrize(
    "kernels",
    [
        {},
        {"triton_kernels": "interpreted", "device": "A GPU"},
        {"triton_kernels": "compiled"},
        {"triton_kernels": "compiled", "device": "cpu"},
    ],
)
def test_nothing_else_makes_kernel_equality_not_apply(
    records: Records, kernels: dict[str, str]
) -> None:
    records.move({"backend": "triton", **kernels})
    records.change("KERNEL-EQ", 8, outcome="not_run", reason="it is about host")
    folded = records.fold()
    assert folded["does_not_apply"] == []
    assert folded["verdict"] == "UNPROVEN"


@pytest.mark.parametrize("which", ["runs", "controls"])
def test_a_record_that_stands_twice_is_refused(records: Records, which: str) -> None:
    held: list[Observation] = getattr(records, which)
    held.append(held[0])
    assert refusal(records.fold) == "BAD_VALUE"


def test_a_block_size_or_control_that_is_none_is_refused(records: Records) -> None:
    extra = replace(records.runs[0], block_size=9)
    records.runs.append(extra)
    assert refusal(records.fold) == "BAD_VALUE"
    records.runs.remove(extra)
    records.controls.append(replace(records.controls[0], block_size=8))
    assert refusal(records.fold) == "BAD_VALUE"


def test_coverage_is_counted_by_population(folded: dict[str, Any], records: Records) -> None:
    rows = {(row["population"], row["n"]): row for row in folded["coverage"]["n_grams"]}
    assert rows["MR1", 2]["observed"] == len(
        [g for g in records.run("MR1", 8).n_grams if not g[2:]]
    )
    assert rows["KERNEL-EQ", 2]["observed"] == 0
    unseen = folded["coverage"]["unseen"]
    assert len(unseen) == (
        sum(rows["all", n]["legal"] - rows["all", n]["observed"] for n in (2, 3))
    )


def test_weakening_never_raises() -> None:
    assert weakening_never_raises()


def test_the_check_of_weakening_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    def blind_to_what_was_not_run(found: Any, controls: Any, holds: str) -> str:
        return "VIOLATED" if "violated" in found else holds

    monkeypatch.setattr(invariance_totals, "fold", blind_to_what_was_not_run)
    assert not weakening_never_raises()


def test_the_fold_ascends_with_its_outcomes() -> None:
    for seen in product(OUTCOMES, repeat=2):
        least = min(OUTCOMES.index(outcome) for outcome in seen)
        expected = VERDICTS[max(0, least - 1)]
        assert fold(seen, ["shown", "not_comparable"], "INVARIANT") == expected


def test_weakening_any_run_or_control_never_raises_the_verdict(records: Records) -> None:
    rank = VERDICTS.index
    for place, run in enumerate(list(records.runs)):
        if run.block_size != 16:
            continue
        before = [rank("INVARIANT")]
        for outcome in ("violated", "vacuous", "not_run"):
            records.change(run.relation, run.block_size, outcome=outcome)
            before.append(rank(records.fold()["verdict"]))
        assert before == sorted(before, reverse=True)
        assert before[1] < before[0]
        records.runs[place] = run
    for place, control in enumerate(list(records.controls)):
        before = [rank(records.fold()["verdict"])]
        for outcome in ("violated", "holds", "vacuous", "not_run")[place:]:
            records.controls[place] = replace(control, outcome=outcome)
            before.append(rank(records.fold()["verdict"]))
        assert before == sorted(before, reverse=True)
        records.controls[place] = control
