"""Models told as runs: by the producer's machine, then by the verifier's."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from lockstep.errors import LockstepError
from lockstep.proofs.lifecycle.trace import replay
from lockstep.proofs.lifecycle.transition_system import Run, foils, witnesses
from lockstep.proofs.solvers import Answered
from lockstep_verify.derive.lifecycle_machine import check_traces
from lockstep_verify.errors import Refusal

# One process asks the solvers for all of them.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("lifecycle-traces")]

NAMES = [run.query.name for run in (*witnesses(), *foils())]
Answers = dict[str, tuple[Run, Answered]]


def documents(answered: Answers, solver: str) -> list[dict[str, Any]]:
    return [replay(run, one.models[solver]).document() for run, one in answered.values()]


@pytest.mark.parametrize("solver", ["z3", "cvc5"])
@pytest.mark.parametrize("name", NAMES)
def test_model_runs_on_the_machine(answered: Answers, name: str, solver: str) -> None:
    run, one = answered[name]
    trace = replay(run, one.models[solver])
    assert len(trace.steps) >= run.steps
    assert trace.document()["name"] == name


@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_verifier_runs_every_trace(answered: Answers, solver: str) -> None:
    check_traces(documents(answered, solver), "/predicate/traces")


@pytest.mark.parametrize("name", [name for name in NAMES if "/foil/" in name])
def test_no_weakened_run_shows_its_goal_under_the_rules(answered: Answers, name: str) -> None:
    run, one = answered[name]
    with pytest.raises(LockstepError) as caught:
        replay(replace(run, weakening=None), one.models["z3"])
    assert caught.value.code == "COUNTEREXAMPLE_NOT_REPLAYED"


@pytest.mark.parametrize(
    ("constant", "pointer"),
    [
        ("computed_0_1", "computed_0_1"),
        ("references_0_2", "references_0_2"),
        ("outputs_1_2", "outputs_1_2"),
        ("event_0", ""),
    ],
)
def test_model_that_differs_is_refused(answered: Answers, constant: str, pointer: str) -> None:
    run, one = answered["lifecycle/witness/decoding/finish"]
    values = {**one.models["z3"], constant: int(one.models["z3"][constant]) + 1}
    with pytest.raises(LockstepError) as caught:
        replay(run, values)
    assert caught.value.code == "COUNTEREXAMPLE_NOT_REPLAYED"
    assert caught.value.pointer.endswith(pointer)


def test_run_to_another_goal_is_refused(answered: Answers) -> None:
    run, one = answered["lifecycle/witness/decoding/finish"]
    for goal in ("no_deadlock", "only_cells", "exclusive_write", "idle_holds_nothing"):
        with pytest.raises(LockstepError) as caught:
            replay(replace(run, goal=goal), one.models["z3"])
        assert (caught.value.expected, caught.value.got) == (goal, "not shown")


def at(name: str) -> int:
    return NAMES.index(f"lifecycle/{name}")


def edit(name: str, change: Callable[[dict[str, Any]], None]) -> Callable[[list[Any]], None]:
    return lambda traces: change(traces[at(name)])


FINISH, EVICT = "witness/decoding/finish", "witness/admitted/evict"


@pytest.mark.parametrize(
    ("damage", "code", "place"),
    [
        (lambda ts: ts.pop(), "BAD_VALUE", ""),
        (lambda ts: ts.reverse(), "BAD_VALUE", "/0/name"),
        (edit(FINISH, lambda t: t["requests"].pop()), "BAD_VALUE", f"/{at(FINISH)}/requests"),
        (edit(FINISH, lambda t: t["steps"].pop()), "BAD_VALUE", f"/{at(FINISH)}/steps"),
        (
            edit(FINISH, lambda t: t["requests"][0].update(prompt=9)),
            "COUNTEREXAMPLE_NOT_REPLAYED",
            f"/{at(FINISH)}/requests/0",
        ),
        (
            edit(FINISH, lambda t: t["requests"][1].update(max_new=0)),
            "COUNTEREXAMPLE_NOT_REPLAYED",
            f"/{at(FINISH)}/requests/1",
        ),
        (
            edit(FINISH, lambda t: t["steps"][1].update(event="finish")),
            "COUNTEREXAMPLE_NOT_REPLAYED",
            f"/{at(FINISH)}/steps/1",
        ),
        (
            edit(FINISH, lambda t: t["steps"][1]["blocks"].append(9)),
            "COUNTEREXAMPLE_NOT_REPLAYED",
            f"/{at(FINISH)}/steps/1",
        ),
        (
            edit(FINISH, lambda t: t["steps"][1].update(request=7)),
            "COUNTEREXAMPLE_NOT_REPLAYED",
            f"/{at(FINISH)}/steps/1",
        ),
        (
            edit(FINISH, lambda t: t["steps"][2].update(event="preempt_rc")),
            "COUNTEREXAMPLE_NOT_REPLAYED",
            f"/{at(FINISH)}",
        ),
        (
            edit(EVICT, lambda t: t["steps"][4]["blocks"].clear()),
            "COUNTEREXAMPLE_NOT_REPLAYED",
            f"/{at(EVICT)}",
        ),
        (
            edit(
                "foil/never_fitting_accepted",
                lambda t: t["requests"].__setitem__(
                    slice(None), [{"prompt": 1, "max_new": 1}, {"prompt": 1, "max_new": 1}]
                ),
            ),
            "COUNTEREXAMPLE_NOT_REPLAYED",
            f"/{at('foil/never_fitting_accepted')}",
        ),
        (
            edit("foil/preempted_keeps_blocks", lambda t: t["steps"][2].update(event="decode")),
            "COUNTEREXAMPLE_NOT_REPLAYED",
            f"/{at('foil/preempted_keeps_blocks')}",
        ),
        (
            edit("foil/victim_without_tokens", lambda t: t["steps"][1].update(event="resume")),
            "COUNTEREXAMPLE_NOT_REPLAYED",
            f"/{at('foil/victim_without_tokens')}",
        ),
    ],
)
def test_verifier_refuses_damaged_traces(
    answered: Answers, damage: Callable[[list[Any]], None], code: str, place: str
) -> None:
    traces = copy.deepcopy(documents(answered, "z3"))
    damage(traces)
    with pytest.raises(Refusal) as caught:
        check_traces(traces, "/traces")
    assert (caught.value.code, caught.value.pointer) == (code, f"/traces{place}")
