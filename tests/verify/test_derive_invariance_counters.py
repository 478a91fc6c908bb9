"""What the numbers of a run cannot say: each of its rules is broken."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from lockstep.errors import LockstepError
from lockstep.relations.consistency import require_consistent
from lockstep_verify import spec
from lockstep_verify.derive.invariance_counters import check_counters, constants
from lockstep_verify.errors import Refusal

BAD = "BAD_VALUE"
CONTRADICT = "COUNTERS_CONTRADICT"
HEX = "0" * 64


def test_a_schedule_is_of_one_block_size(bench: Any, stated: dict[str, Any]) -> None:
    runs = stated["predicate"]["runs"]
    runs[6]["schedules"] = runs[5]["schedules"]
    assert bench.refusal(stated) == (BAD, "/predicate/runs/6/schedules/0")
    runs[6]["schedules"] = [runs[8]["workloads"][0]]
    assert bench.refusal(stated) == (BAD, "/predicate/runs/6/schedules/0")


def test_a_run_of_a_seed_is_no_copy_of_another(bench: Any, records: Any) -> None:
    # Whoever did not run the second seed may copy what the first left.
    for run in list(records.runs):
        records.runs.append(records.make(run.relation, run.block_size, run.subject, 1))
    stated = bench.fold(records)
    runs = stated["predicate"]["runs"]
    runs[3] = {**runs[2], "seed": 1}
    assert bench.refusal(stated) == (BAD, "/predicate/runs/3/workloads")


# Events with the pair that they begin or end, without which no run has them.
@pytest.mark.parametrize(
    ("event", "counter"),
    [(entry["event"], entry["counter"]) for entry in spec.load("relations.json")["events"]],
)
def test_each_event_is_counted_as_its_pairs_are(
    bench: Any, stated: dict[str, Any], event: str, counter: str
) -> None:
    run = stated["predicate"]["runs"][10]
    (entry,) = [entry for entry in run["counters"] if entry["name"] == counter]
    kept = entry["value"]
    for value in (kept + 1, kept - 1):
        entry["value"] = value
        assert bench.refusal(stated) == (CONTRADICT, "/predicate/runs/10/counters")
    entry["value"] = kept
    run["n_grams"] = [entry for entry in run["n_grams"] if event not in entry["events"]]
    assert bench.refusal(stated) == (CONTRADICT, "/predicate/runs/10/counters")


CONDITIONS = [
    pytest.param(condition, id=f"{name} {place}")
    for name, listed in (
        ("all", spec.load("relations.json")["conditions"]),
        *((one["name"], one["conditions"]) for one in spec.load("relations.json")["relations"]),
    )
    for place, condition in enumerate(listed)
]


CONSTANTS = constants()


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


def test_producer_and_verifier_refuse_the_same_records(records: Any) -> None:
    # Each has written the rules for itself; a record that only one of them refuses shows where.
    drawn, refused = random.Random(0), 0
    relations = {entry["name"]: entry for entry in spec.load("relations.json")["relations"]}
    for _ in range(600):
        run = drawn.choice(records.runs)
        counters, grams = dict(run.counters), dict(run.n_grams)
        changed = drawn.choice((counters, grams) if grams else (counters,))
        name = drawn.choice(sorted(changed))
        changed[name] = max(1, drawn.choice((changed[name], changed[name] + 1, changed[name] // 2)))
        outcome = drawn.choice(("holds", "violated"))
        changed_run = replace(run, outcome=outcome, counters=counters, n_grams=grams)
        codes = []
        for check in (
            partial(require_consistent, changed_run),
            partial(check_counters, changed_run.document(), relations[run.relation], ""),
        ):
            try:
                check()
                codes.append("OK")
            except (Refusal, LockstepError) as fault:
                codes.append(fault.code)
        assert codes[0] == codes[1], (changed_run, codes)
        refused += codes[0] != "OK"
    assert 100 < refused < 500
