"""Each kind of failure is shown by an engine, or a policy, that has it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from lockstep.engine import execute as executing
from lockstep.engine import ledger as ledgers
from lockstep.engine.model import Model
from lockstep.errors import LockstepError
from lockstep.fuzz import case as cases
from lockstep.fuzz import judge as judging
from lockstep.fuzz import live as living
from lockstep.fuzz.case import Case, Driven, parse_case
from lockstep.fuzz.failure import Failure, parse_failure
from lockstep.fuzz.judge import examine, judge
from lockstep.lifecycle import Machine, Pool
from lockstep.schedule.policies.batching import Settings
from lockstep.schedule.policies.swarm import Features
from lockstep.schedule.policy import StepPolicy
from lockstep.schedule.schedule import Action
from lockstep.schedule.workload import Request, Workload

ALL_ON = Features(*[True] * 12)
SETTINGS = Driven(settings=Settings(max_batch=2, token_budget=8))


def requests(*prompts: int, max_new: int = 3) -> Workload:
    return Workload(
        tuple(
            Request(f"r{number}", tuple(range(1, length + 1)), max_new, ignore_eos=True)
            for number, length in enumerate(prompts)
        )
    )


TWO = Case(requests(9, 5), Pool(8, 4), SETTINGS)


class Acts(StepPolicy):
    """Gives these actions in its first step, and nothing after."""

    def __init__(self, *actions: Action) -> None:
        super().__init__()
        self.left = [actions]

    def actions(self, view: Any) -> Iterator[Action]:
        yield from self.left.pop() if self.left else ()


def driven_by(monkeypatch: pytest.MonkeyPatch, *actions: Action) -> Case:
    monkeypatch.setattr(cases.Driven, "policy", lambda driven: Acts(*actions))
    return TWO


@pytest.mark.parametrize("by", [SETTINGS, Driven(3, ALL_ON)], ids=["settings", "swarm"])
def test_an_engine_that_is_right(model: Model, by: Driven) -> None:
    found = examine(model, replace(TWO, by=by))
    assert found.failure is None
    assert (found.twice_equal, found.alone_equal) == (True, True)
    again = replace(TWO, by=found.schedule.steps)
    assert judge(model, again) is None
    assert examine(model, again).first.run == found.first.run


def test_a_pool_that_is_too_small_is_rightly_refused(model: Model) -> None:
    found = examine(model, replace(TWO, pool=Pool(2, 4)))
    assert found.failure is None
    assert found.first.refused == "REQUEST_NEVER_FITS"
    assert (found.twice_equal, found.alone_equal) == (None, None)


@pytest.mark.parametrize("by", [SETTINGS, (), ((),) * 3], ids=["policy", "no steps", "steps"])
def test_stuck_in_the_machine(model: Model, monkeypatch: pytest.MonkeyPatch, by: Any) -> None:
    weak = frozenset({"never_fitting_accepted"})
    monkeypatch.setattr(executing, "require_fit", lambda workload, pool: None)
    monkeypatch.setattr(living, "require_requests", lambda schedule, workload: None)
    monkeypatch.setattr(ledgers, "Machine", lambda: Machine(weakened=weak))
    wedge = Case(requests(61, max_new=4), Pool(2, 32), by)
    failure = judge(model, wedge)
    assert failure is not None
    assert failure.signature == ("stuck", "POLICY_STUCK", "machine")
    assert judge(model, replace(wedge, pool=Pool(3, 32), by=SETTINGS)) is None


def test_stuck_by_its_policy(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    failure = judge(model, driven_by(monkeypatch, Action("admit", "r0")))
    assert failure is not None
    assert failure.signature == ("stuck", "POLICY_STUCK", "policy")
    assert failure.where == "/steps/1"


def test_refused(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    failure = judge(model, driven_by(monkeypatch, Action("decode", "r1")))
    assert failure is not None
    assert failure.signature == ("refused", "EVENT_NOT_ALLOWED", "refusal")
    assert failure.where == "/steps/0/0"


def test_an_illegal_step_of_a_schedule_is_no_failure(model: Model) -> None:
    found = examine(model, replace(TWO, by=((Action("decode", "r1"),),)))
    assert found.failure is None
    assert found.first.refused == "EVENT_NOT_ALLOWED"


def test_a_fault(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    def stumble(*arguments: Any) -> Any:
        raise IndexError("nothing there")

    monkeypatch.setattr(Model, "forward", stumble)
    failure = judge(model, TWO)
    assert failure is not None
    assert failure.signature == ("refused", "IndexError", "fault")


def test_starved(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(living, "FUZZ_STEPS", 2)
    failure = judge(model, TWO)
    assert failure is not None
    assert failure.signature == ("starved", "", "steps")


def test_illegal(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "lockstep.engine.run.Run.logs", lambda run: {"r0": ("admit", "decode", "evict")}
    )
    failure = judge(model, TWO)
    assert failure is not None
    assert failure.signature == ("illegal", "", "relation")
    assert failure.where == "/logs/r0/2"


def test_differs_again(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    real, calls = Model.forward, iter(range(1000))

    def drift(self: Model, batch: Any, caches: Any) -> Any:
        return real(self, batch, caches) + next(calls) * 1e-3

    monkeypatch.setattr(Model, "forward", drift)
    found = examine(model, TWO)
    assert found.failure is not None
    assert found.failure.signature == ("differs_again", "", "logits")
    assert (found.twice_equal, found.alone_equal) == (False, None)


def test_a_second_run_that_fails(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    real, runs = judging.live, iter((None, 2))

    def live(*arguments: Any) -> Any:
        if next(runs) is not None:
            monkeypatch.setattr(living, "FUZZ_STEPS", 2)
        return real(*arguments)

    monkeypatch.setattr(judging, "live", live)
    failure = judge(model, TWO)
    assert failure is not None
    assert failure.signature == ("differs_again", "", "starved")


def test_differs_alone(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Model.forward

    def company(self: Model, batch: Any, caches: Any) -> Any:
        return real(self, batch, caches) * (1 + 1e-3 * (len(batch.output_rows) > 1))

    monkeypatch.setattr(Model, "forward", company)
    found = examine(model, TWO)
    assert found.failure is not None
    assert found.failure.signature == ("differs_alone", "", "logits")
    assert found.failure.where.startswith("/outputs/r0/")
    assert (found.twice_equal, found.alone_equal) == (True, False)
    steps = replace(TWO, by=found.schedule.steps)
    assert judge(model, steps) == found.failure
    # The beginning of a run is judged as far as it goes.
    cut = replace(TWO, by=found.schedule.steps[:-1])
    again = judge(model, cut)
    assert again is not None
    assert again.signature == found.failure.signature


def test_a_failure_alone(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    real = judging.alone

    def alone(model: Model, request: Any, block_size: int) -> Any:
        monkeypatch.setattr(living, "FUZZ_STEPS", 1)
        return real(model, request, block_size)

    monkeypatch.setattr(judging, "alone", alone)
    found = examine(model, TWO)
    assert found.failure is not None
    assert found.failure.signature == ("starved", "", "steps")
    assert found.failure.where.startswith("/alone/r0/")
    assert (found.twice_equal, found.alone_equal) == (True, None)


def test_what_cannot_be_run_here_is_no_failure(model: Model) -> None:
    with pytest.raises(LockstepError, match="TOKEN_OUT_OF_RANGE"):
        judge(model, Case(requests(5000), Pool(5003, 1), SETTINGS))


def test_a_failure_document() -> None:
    failure = Failure("refused", "IndexError", "fault", "/steps/0", "no ünprintable " + "x" * 300)
    document = failure.document()
    assert len(document["detail"]) == 200
    assert document["detail"].isascii()
    assert parse_failure(document).signature == failure.signature


@pytest.mark.parametrize("by", [SETTINGS, Driven(3, ALL_ON), (), ((Action("admit", "r0"),), ())])
def test_a_case_document(by: Any) -> None:
    case = replace(TWO, by=by)
    assert parse_case(case.document()) == case
    assert parse_case(case.document()).sha256 == case.sha256


@pytest.mark.parametrize(
    ("edit", "code"),
    [
        ({"steps": [], "policy": SETTINGS.document()}, "BAD_VALUE"),
        ({"steps": None, "policy": None}, "BAD_VALUE"),
        ({"policy": {"seed": 0, "features": {"sleeps": True}, "settings": None}}, "BAD_VALUE"),
        ({"policy": {"seed": 0, "features": None, "settings": None}}, "BAD_VALUE"),
        ({"policy": {"seed": 0}}, "MISSING_FIELD"),
        ({"version": 2}, "BAD_VALUE"),
        ({"note": ""}, "UNKNOWN_FIELD"),
    ],
)
def test_a_case_of_another_form(edit: dict[str, Any], code: str) -> None:
    with pytest.raises(LockstepError) as caught:
        parse_case({**TWO.document(), **edit})
    assert caught.value.code == code
