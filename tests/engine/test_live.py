"""Executions that grow: the same as those that know everything beforehand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lockstep.engine.execute import StepView, execute
from lockstep.engine.live import LiveExecution
from lockstep.engine.model import Model
from lockstep.engine.sampling import Sampling
from lockstep.errors import LockstepError
from lockstep.lifecycle import Pool
from lockstep.schedule.policies import CONTINUOUS, Batching
from lockstep.schedule.policy import take_step
from lockstep.schedule.schedule import Action, Schedule
from lockstep.schedule.workload import Request

POOL = Pool(12, 8)
DRAWN = Sampling("0.9", seed=4)
FIRST = Request("c0.1", tuple(range(1, 20)), 5, sampling=DRAWN)


def run_with(
    model: Model, later: dict[int, Request], observer: object = None, score: bool = False
) -> tuple[LiveExecution, Schedule]:
    """Run `FIRST`, and each later request from the step of its key."""
    execution = LiveExecution(model, FIRST, POOL, observer)  # type: ignore[arg-type]
    if score:
        execution.score(0)
    policy = Batching(replace(CONTINUOUS, token_budget=16))
    steps: list[tuple[Action, ...]] = []
    while execution.unfinished or len(steps) <= max(later, default=0):
        if len(steps) in later:
            execution.arrive(later[len(steps)])
        steps.append(take_step(policy, execution.view, execution.act))
        execution.end_step()
    return execution, Schedule(POOL, tuple(steps))


def test_a_grown_workload_and_its_schedule_are_an_execution(model: Model) -> None:
    later = {1: replace(FIRST, id="c0.2"), 3: Request("c0.3", (5, 6), 3)}
    execution, schedule = run_with(model, later)
    assert [request.arrival for request in execution.workload.requests] == [0, 1, 3]
    again = execute(model, execution.workload, schedule)
    assert again.trajectory == execution.run().trajectory
    assert again.outputs == execution.run().outputs


def test_requests_of_one_name_choice_and_seed_draw_alike(model: Model) -> None:
    names = ("c0.1.2", "c0.2", "c1.1")
    later = {step: replace(FIRST, id=name) for step, name in enumerate(names, 1)}
    outputs = run_with(model, later)[0].run().outputs
    assert outputs["c0.1.2"].tokens == outputs[FIRST.id].tokens
    assert len({output.tokens for output in outputs.values()}) == 3


@pytest.mark.parametrize(
    ("id", "name", "choice"),
    [
        ("s", "s", 0),
        ("s.0", "s", 0),
        ("s.7", "s", 7),
        ("s.7.9", "s", 7),
        ("s.65535.x.y", "s", 65535),
        ("s.65536", "s", 0),
        ("s.07", "s", 0),
        ("s.x.7", "s", 0),
        ("s..7", "s", 0),
    ],
)
def test_an_id_is_a_name_and_a_choice(id: str, name: str, choice: int) -> None:
    assert Request(id, (1,), 1).stream == (name, choice)


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (replace(FIRST, id="c0.2", max_new=100), "REQUEST_NEVER_FITS"),
        (replace(FIRST, id="c0.2", prompt=(256,)), "TOKEN_OUT_OF_RANGE"),
        (replace(FIRST, id="c0.2", max_new=5000), "SEQUENCE_TOO_LONG"),
        (FIRST, "DUPLICATE_REQUEST"),
    ],
)
def test_what_cannot_be_served_changes_nothing(model: Model, request_: Request, code: str) -> None:
    execution = LiveExecution(model, FIRST, POOL)
    before = execution.ledger.state
    with pytest.raises(LockstepError) as caught:
        execution.arrive(request_)
    assert caught.value.code == code
    assert execution.ledger.state == before
    assert execution.workload.requests == (FIRST,)


def test_nothing_arrives_in_a_step_that_has_begun(model: Model) -> None:
    execution = LiveExecution(model, FIRST, POOL)
    execution.act(Action("admit", FIRST.id))
    with pytest.raises(LockstepError, match="STEP_ORDER"):
        execution.arrive(replace(FIRST, id="c0.2"))


def test_a_workload_is_full_at_its_limit(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lockstep.engine.live.WORKLOAD_REQUESTS", 1)
    with pytest.raises(LockstepError, match="LIMIT_SIZE"):
        LiveExecution(model, FIRST, POOL).arrive(replace(FIRST, id="c0.2"))


class Rows:
    """Keeps prompt rows and logits as they come."""

    def __init__(self) -> None:
        self.prompt: dict[int, np.ndarray] = {}
        self.decoded: list[np.ndarray] = []

    def after_step(self, view: StepView) -> None:
        assert isinstance(view.execution, LiveExecution)
        for row in view.execution.prompt_rows:
            self.prompt[row.position] = row.logits
        self.decoded += list(view.logits)


def test_a_scored_prompt_has_the_logits_of_decoding_it(model: Model) -> None:
    decoded, scored = Rows(), Rows()
    execution, _ = run_with(model, {}, decoded)
    tokens = execution.run().outputs[FIRST.id].tokens
    whole = replace(FIRST, prompt=FIRST.prompt + tokens, max_new=1)
    other = LiveExecution(model, whole, POOL, scored)
    other.score(0)
    policy = Batching(replace(CONTINUOUS, token_budget=7))
    while other.unfinished:
        take_step(policy, other.view, other.act)
        other.end_step()
    assert sorted(scored.prompt) == list(range(len(whole.prompt) - 1))
    for place, row in enumerate(decoded.decoded):
        assert np.array_equal(scored.prompt[len(FIRST.prompt) - 1 + place], row)


def test_scoring_changes_nothing_else(model: Model) -> None:
    plain, schedule = run_with(model, {})
    scored, same = run_with(model, {}, score=True)
    assert same == schedule
    assert scored.run().trajectory == plain.run().trajectory
    assert plain.prompt_rows == ()


def test_an_error_of_a_draw_names_the_request_and_not_its_stream(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: Model, x: object, rows: np.ndarray) -> np.ndarray:
        return np.full((len(rows), self.config.vocab_size), np.nan, dtype=np.float32)

    monkeypatch.setattr(Model, "head", broken)
    with pytest.raises(LockstepError) as caught:
        run_with(model, {})
    assert caught.value.code == "LOGITS_NOT_FINITE"
    assert caught.value.pointer == f"request {FIRST.id}, output 0"
