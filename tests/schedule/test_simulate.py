"""Schedules against the rules, without a model: what is legal, and each refusal [SCHED-11] on."""

from __future__ import annotations

from typing import Any

import pytest

from lockstep.lifecycle import Pool
from lockstep.schedule import simulate as module
from lockstep.schedule.policies import policy
from lockstep.schedule.policy import StepPolicy, View
from lockstep.schedule.schedule import Action, Schedule, parse_schedule
from lockstep.schedule.simulate import Simulation, check, simulate
from lockstep.schedule.workload import Request, Workload, parse_workload

from .conftest import refusal

ADMIT, FINISH = {"event": "admit"}, {"event": "finish"}


def steps_of(document: dict[str, Any], steps: list[list[dict[str, Any]]]) -> Schedule:
    return parse_schedule({**document, "steps": steps})


@pytest.fixture
def workload(workload_document: dict[str, Any]) -> Workload:
    return parse_workload(workload_document)


def act(event: str, request: str, **members: Any) -> dict[str, Any]:
    return {"event": event, "request": request, **members}


def test_a_legal_schedule_passes_and_says_what_happened(
    workload: Workload, schedule_document: dict[str, Any]
) -> None:
    # `a` ends after one token of two: it heeds an end of sequence. `b` needs both of its own.
    schedule = parse_schedule(schedule_document)
    run = check(workload, schedule)
    assert run.unfinished == ()
    assert run.logs() == {
        "a": ("admit", "chunk", "decode", "finish"),
        "b": ("admit", "decode", "decode", "finish"),
    }
    assert run.counts["decode"] == 3
    assert run.n_grams(2)[("decode", "finish")] == 2
    assert [event.step for event in run.events] == [0, 0, 1, 1, 2, 2, 3, 3]


def test_unfinished_ones_pass_only_where_that_is_asked_for(
    workload: Workload, schedule_document: dict[str, Any]
) -> None:
    for kept in range(4):
        beginning = steps_of(schedule_document, schedule_document["steps"][:kept])
        fault = refusal(lambda b=beginning: check(workload, b, source="s.json"))
        assert (fault.code, fault.pointer) == ("SCHEDULE_UNFINISHED", "s.json:/steps")
        assert fault.got == "a, b"
        assert check(workload, beginning, partial=True).unfinished == ("a", "b")


FIRST = [act("admit", "a"), act("chunk", "a", tokens=3)]
REFUSALS: dict[str, tuple[list[list[dict[str, Any]]], str, str]] = {
    "an unknown request": ([FIRST, [act("admit", "z")]], "REQUEST_UNKNOWN", "/steps/1/0"),
    "admitted before arrival": ([[act("admit", "b")]], "NOT_ARRIVED", "/steps/0/0"),
    "no cell": ([[act("decode", "a")]], "EVENT_NOT_ALLOWED", "/steps/0/0"),
    "preempted without a token": (
        [[act("admit", "a"), act("preempt_rc", "a")]],
        "EVENT_NOT_ALLOWED",
        "/steps/0/1",
    ),
    "not the head of the queue": ([[], [act("admit", "b")]], "EVENT_NOT_ALLOWED", "/steps/1/0"),
    "a chunk of all that is left": (
        [[act("admit", "a"), act("chunk", "a", tokens=5)]],
        "EVENT_NOT_ALLOWED",
        "/steps/0/1",
    ),
    "a block that is not free": (
        [FIRST, [act("chunk", "a", tokens=1), act("admit", "b"), act("decode", "b", blocks=[0])]],
        "EVENT_NOT_ALLOWED",
        "/steps/1/2",
    ),
    "an eviction without need": (
        [[act("admit", "a"), act("evict", "a")]],
        "EVENT_NOT_ALLOWED",
        "/steps/0/1",
    ),
    "a hit on nothing": (
        [[act("admit", "a"), act("cache_hit", "a")]],
        "EVENT_NOT_ALLOWED",
        "/steps/0/1",
    ),
    "a hit on what is published in the same step": (
        [[], [act("admit", "a"), act("decode", "a"), act("admit", "b"), act("cache_hit", "b")]],
        "EVENT_NOT_ALLOWED",
        "/steps/1/3",
    ),
    "a hit on blocks of another content": (
        [FIRST, [act("admit", "b"), act("cache_hit", "b", blocks=[1])]],
        "PREFIX_NOT_HELD",
        "/steps/1/1",
    ),
    "an action after a chunk": (
        [[*FIRST, act("decode", "a")]],
        "STEP_ORDER",
        "/steps/0/2",
    ),
    "a finish in the step of the decode": (
        [[act("admit", "a"), act("decode", "a"), act("finish", "a")]],
        "STEP_ORDER",
        "/steps/0/2",
    ),
    "a finish too early where an end is ignored": (
        [FIRST, [act("admit", "b"), act("decode", "b")], [act("finish", "b")]],
        "REQUEST_NOT_ENDED",
        "/steps/2/0",
    ),
    "a decode after max_new": (
        [FIRST, *[[act("decode", "a")]] * 3],
        "REQUEST_ENDED",
        "/steps/3/0",
    ),
    "a preemption after max_new": (
        [FIRST, *[[act("decode", "a")]] * 2, [act("preempt_rc", "a")]],
        "REQUEST_ENDED",
        "/steps/3/0",
    ),
    "an event after the finish": (
        [FIRST, *[[act("decode", "a")]] * 2, [act("finish", "a")], [act("decode", "a")]],
        "EVENT_NOT_ALLOWED",
        "/steps/4/0",
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_an_illegal_action_is_refused_at_its_step_with_its_reason(
    workload: Workload, schedule_document: dict[str, Any], name: str
) -> None:
    steps, code, pointer = REFUSALS[name]
    schedule = steps_of(schedule_document, steps)
    fault = refusal(lambda: check(workload, schedule, partial=True, source="s.json"))
    assert (fault.code, fault.pointer.removesuffix("/request")) == (code, f"s.json:{pointer}")
    step, index = map(int, pointer.split("/")[2:])
    action = steps[step][index]
    assert f"{action['event']} of {action['request']}" in str(fault)


def test_a_pool_that_a_request_can_never_fit_is_refused_at_once(
    workload: Workload, schedule_document: dict[str, Any]
) -> None:
    small = parse_schedule({**schedule_document, "pool": {"blocks": 3, "block_size": 2}})
    fault = refusal(lambda: check(workload, small, source="s.json"))
    assert (fault.code, fault.pointer) == ("REQUEST_NEVER_FITS", "s.json:/pool")
    assert refusal(lambda: Simulation(workload, small.pool)).code == "REQUEST_NEVER_FITS"


def test_a_named_block_outside_the_pool_is_refused(workload: Workload) -> None:
    for event in ("chunk", "decode", "evict", "cache_hit"):
        run = Simulation(workload, Pool(8, 2))
        run.act(Action("admit", "a"))
        action = Action(event, "a", tokens=2 * (event == "chunk"), blocks=(8,))
        fault = refusal(lambda r=run, a=action: r.act(a))
        assert fault.code in ("EVENT_NOT_ALLOWED", "PREFIX_NOT_HELD")


def test_unknown_requests_are_named_with_some_of_those_that_there_are() -> None:
    many = Workload(tuple(Request(f"r{number:02}", (1,), 1) for number in range(20)))
    schedule = Schedule(Pool(20, 2), ((Action("admit", "x"),),))
    fault = refusal(lambda: check(many, schedule))
    assert "r00, r01" in str(fault)
    assert "and 12 more" in str(fault)


def test_stand_ins_share_prompts_but_no_outputs() -> None:
    same = Workload(tuple(Request(name, (1, 2, 3), 5, arrival=n) for n, name in enumerate("ab")))
    run = Simulation(same, Pool(8, 2))
    for event in ("admit", "decode"):
        run.act(Action(event, "a"))
    run.end_step()
    run.act(Action("admit", "b"))
    assert run.hit(1) == 1
    assert run.state.cached[:2] == (True, False)
    run.act(Action("decode", "a"))
    run.end_step()
    # The second block holds a prompt's token and an emitted one.
    assert run.state.cached[:2] == (True, True)
    assert run.hit(1) == 1


class Stuck(StepPolicy):
    """Does nothing."""

    def actions(self, view: View) -> Any:
        return iter(())


def test_a_policy_that_does_nothing_is_stuck_once_nobody_will_arrive(workload: Workload) -> None:
    fault = refusal(lambda: simulate(workload, Pool(8, 2), Stuck()))
    # `b` arrives at step 1; until then a policy may wait.
    assert (fault.code, fault.pointer) == ("POLICY_STUCK", "/steps/1")
    assert fault.got == "none, with 2 unfinished"


def test_a_policy_without_end_is_stopped(
    workload: Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SCHEDULE_STEPS", 3)
    fault = refusal(lambda: simulate(workload, Pool(4, 2), policy("canonical")))
    assert fault.code == "LIMIT_SIZE"


def test_early_ends_are_as_given(workload: Workload) -> None:
    made = simulate(workload, Pool(8, 2), policy("continuous"), ends={"a": 1, "b": 1})
    decodes = [event.request for event in made.run.events if event.event == "decode"]
    assert (decodes.count("a"), decodes.count("b")) == (1, 2), "b ignores its end"
    assert check(workload, made.schedule).events == made.run.events
