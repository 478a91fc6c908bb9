"""What the producer refuses to sign: records whose numbers contradict each other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lockstep.errors import LockstepError
from lockstep.relations.catalogue import declared, event_counters
from lockstep.relations.consistency import require_consistent, require_distinct
from lockstep.relations.observation import Observation


def refusal(run: Observation) -> str:
    with pytest.raises(LockstepError) as caught:
        require_consistent(run)
    return caught.value.code


def test_records_as_runs_leave_them(records: Any) -> None:
    for run in (*records.runs, *records.controls):
        require_consistent(run)
    require_distinct(records.runs, records.controls)


@pytest.mark.parametrize("counter", sorted(event_counters().values()))
def test_an_event_is_counted_as_its_pairs_are(records: Any, counter: str) -> None:
    run = records.run("MR3", 8)
    for by in (1, -1):
        counters = {**run.counters, counter: run.counters[counter] + by}
        assert refusal(replace(run, counters=counters)) == "COUNTERS_CONTRADICT"


def test_triples_follow_from_pairs(records: Any) -> None:
    run = records.run("MR3", 8)
    gram = ("decode", "preempt_rc", "resume")
    without = {key: count for key, count in run.n_grams.items() if key != gram}
    assert refusal(replace(run, n_grams=without)) == "COUNTERS_CONTRADICT"
    more = {**run.n_grams, gram: run.n_grams[gram] + 1}
    assert refusal(replace(run, n_grams=more)) == "COUNTERS_CONTRADICT"
    strange = {**run.n_grams, ("admit", "chunk", "chunk"): 1}
    assert refusal(replace(run, n_grams=strange)) == "COUNTERS_CONTRADICT"


def test_conditions_of_the_relation(records: Any) -> None:
    run = records.run("MR6", 8)
    assert refusal(replace(run, counters={**run.counters, "shapes": 9})) == "COUNTERS_CONTRADICT"
    assert refusal(replace(run, executions=1)) == "COUNTERS_CONTRADICT"
    held = replace(run, positions=run.positions + 1)
    assert refusal(held) == "COUNTERS_CONTRADICT"
    # One that ended early has compared less than a whole one.
    require_consistent(replace(held, outcome="violated"))


def test_counters_of_other_relations(records: Any) -> None:
    for name in declared():
        run = records.run(name, 8)
        assert refusal(replace(run, counters={**run.counters, "dreams": 1})) == "BAD_VALUE"
    run = records.run("KERNEL-EQ", 8)
    assert refusal(replace(run, counters={**run.counters, "decodes": 1})) == "BAD_VALUE"


def test_kernels_are_compared_without_executions(records: Any) -> None:
    run = records.run("KERNEL-EQ", 8)
    for members in ({"executions": 1}, {"requests": 1}, {"workloads": ("0" * 64,)}):
        assert refusal(replace(run, **members)) == "COUNTERS_CONTRADICT"


def shared(*runs: Observation) -> str:
    with pytest.raises(LockstepError) as caught:
        require_distinct(runs, ())
    return caught.value.code


def test_a_schedule_is_of_one_block_size(records: Any) -> None:
    first, second = records.run("MR1", 8), records.run("MR1", 16)
    require_distinct([first, second], [])
    assert shared(first, replace(second, schedules=first.schedules)) == "BAD_VALUE"


def test_a_schedule_is_no_workload(records: Any) -> None:
    run = records.run("MR1", 8)
    assert shared(run, replace(run, seed=1, workloads=run.schedules)) == "BAD_VALUE"


def test_two_seeds_draw_two_lists_of_workloads(records: Any) -> None:
    run = records.run("MR1", 8)
    assert shared(run, replace(run, seed=1, schedules=("f" * 64,))) == "BAD_VALUE"
    other = records.make("MR1", 8, run.subject, 1)
    require_distinct([run, other], [])
