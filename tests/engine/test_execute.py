"""Executions: the same bits for a request whatever its schedule, ends, refusals, observers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from lockstep.engine.backends import open_backend
from lockstep.engine.checkpoint import Checkpoint
from lockstep.engine.execute import StepView, execute
from lockstep.engine.model import Model
from lockstep.engine.run import Output, Run
from lockstep.engine.sampling import Sampling
from lockstep.schedule.schedule import Schedule
from lockstep.schedule.workload import Request, Workload
from tests.refusals import refused

MakeSchedule = Callable[..., Schedule]

PROMPT = tuple(int(token) for token in np.random.default_rng(1).integers(1, 256, 21))
A = Request("a", PROMPT, 6, ignore_eos=True)
B = Request("b", (*PROMPT[:12], 7, 8, 9), 4, ignore_eos=True, sampling=Sampling("0.9", 30, seed=4))
BOTH = Workload((A, B))


def alone(model: Model, schedule: MakeSchedule, request: Request) -> Output:
    """What a request comes to by itself: its prompt at once, then decodes."""
    decodes = ["decode r"] * (request.max_new - 1)
    plan = schedule(40, 16, "admit r, decode r", *decodes, "finish r")
    run = execute(model, Workload((request,)), _named(plan, request.id))
    assert run.counters["chunks"] == run.counters["cache_hits"] == run.counters["preemptions"] == 0
    return run.outputs[request.id]


def _named(plan: Schedule, name: str) -> Schedule:
    steps = tuple(tuple(replace(action, request=name) for action in step) for step in plan.steps)
    return replace(plan, steps=steps)


def holds(run: Run, model: Model, schedule: MakeSchedule, *requests: Request) -> None:
    for request in requests:
        expected = alone(model, schedule, request)
        assert len(expected.tokens) == len(expected.logit_digests) == request.max_new
        assert run.outputs[request.id] == expected


def test_in_company_as_alone(model: Model, schedule: MakeSchedule) -> None:
    plan = schedule(
        40,
        4,
        "admit a, admit b, decode b",
        "decode a, decode b",
        "decode b, decode a",
        "decode a, decode b",
        "finish b, decode a",
        "decode a",
        "decode a",
        "finish a",
    )
    run = execute(model, BOTH, plan)
    holds(run, model, schedule, A, B)
    assert run.counters["shared_batches"] == 3 and run.counters["batch_requests_max"] == 2
    assert run.counters["drawn_tokens"] == 4 and run.counters["output_rows"] == 10


@pytest.mark.parametrize("cuts", [(1,), (20,), (4, 4, 12), (3, 8, 1, 1, 6)])
def test_in_chunks_as_whole(model: Model, schedule: MakeSchedule, cuts: tuple[int, ...]) -> None:
    chunks = [f"chunk a {cut}" for cut in cuts]
    plan = schedule(9, 4, "admit a", *chunks, *["decode a"] * 6, "finish a")
    run = execute(model, Workload((A,)), plan)
    holds(run, model, schedule, A)
    assert run.counters["chunks"] == len(cuts) and run.counters["rows"] == 26


def test_a_backend_that_follows_the_batch_is_told_by_its_chunks(
    checkpoint: Checkpoint, schedule: MakeSchedule
) -> None:
    # The control: with `fast` the comparisons of this file fail, as they should.
    fast = Model(checkpoint, open_backend("fast"))
    whole = alone(fast, schedule, A)
    plan = schedule(9, 4, "admit a, chunk a 5", *["decode a"] * 6, "finish a")
    chunked = execute(fast, Workload((A,)), plan).outputs["a"]
    assert chunked.logit_digests[0] != whole.logit_digests[0]


@pytest.mark.parametrize("after", range(1, 6))
def test_preempted_and_resumed_as_undisturbed(
    model: Model, schedule: MakeSchedule, after: int
) -> None:
    again = ["preempt_rc a, resume a, chunk a 5", *["decode a"] * (6 - after)]
    plan = schedule(20, 4, "admit a, decode a", *["decode a"] * (after - 1), *again, "finish a")
    run = execute(model, Workload((A,)), plan)
    holds(run, model, schedule, A)
    assert run.counters["preemptions"] == run.counters["resumes"] == 1
    assert run.counters["recomputed_rows"] == 21 + after - 1


def test_a_hit_as_a_miss(model: Model, schedule: MakeSchedule) -> None:
    steps = ["admit a, decode a", *["decode a"] * 5, "finish a, admit b{}, decode b"]
    rest = [*["decode b"] * 3, "finish b"]
    texts = [step.format(", cache_hit b") for step in steps] + rest
    hit = execute(model, BOTH, schedule(9, 4, *texts))
    miss = execute(model, BOTH, schedule(40, 4, *[step.format("") for step in steps], *rest))
    assert hit.outputs == miss.outputs
    holds(hit, model, schedule, A, B)
    # Prompts agree in 12 tokens: three blocks.
    assert hit.counters["hit_blocks"] == hit.counters["foreign_hit_blocks"] == 3
    assert hit.counters["rows"] == miss.counters["rows"] - 12


def test_after_eviction_as_before(model: Model, schedule: MakeSchedule) -> None:
    c = Request("c", PROMPT[::-1], 6, ignore_eos=True)
    plan = schedule(
        7,
        4,
        "admit a, decode a",
        *["decode a"] * 5,
        "finish a, admit c, chunk c 4, evict b".removesuffix(", evict b"),
        *["evict c, " * 6 + "decode c"],
        *["decode c"] * 5,
        "finish c",
    )
    workload = Workload((A, c))
    run = execute(model, workload, plan)
    holds(run, model, schedule, A, c)
    assert run.counters["evictions"] == 6 and run.counters["published_blocks"] == 12


def test_a_hit_of_ones_own_after_a_preemption(model: Model, schedule: MakeSchedule) -> None:
    plan = schedule(
        9,
        4,
        "admit a, decode a",
        *["decode a"] * 3,
        "preempt_rc a, resume a, cache_hit a, decode a",
        "decode a",
        "finish a",
    )
    run = execute(model, Workload((A,)), plan)
    holds(run, model, schedule, A)
    # 24 tokens are computed and known is 25: six blocks, the last with outputs in it.
    assert run.counters["hit_blocks"] == 6 and run.counters["foreign_hit_blocks"] == 0
    assert run.counters["recomputed_rows"] == 0


@pytest.mark.parametrize("size", [1, 3, 8, 32])
def test_in_blocks_of_any_size_as_in_others(
    model: Model, schedule: MakeSchedule, size: int
) -> None:
    plan = schedule(64, size, "admit a, chunk a 7", *["decode a"] * 6, "finish a")
    holds(execute(model, Workload((A,)), plan), model, schedule, A)


def test_in_other_blocks_as_in_these(model: Model, schedule: MakeSchedule) -> None:
    named = ("chunk a 9 [8 0 5]", "decode a [3 7 1 6]")
    plan = schedule(9, 4, f"admit a, {named[0]}", named[1], *["decode a"] * 5, "finish a")
    run = execute(model, Workload((A,)), plan)
    holds(run, model, schedule, A)
    assert run.events[1].blocks == (8, 0, 5) and run.events[2].blocks == (3, 7, 1, 6)


def test_across_the_split(model: Model, schedule: MakeSchedule) -> None:
    prompt = tuple(int(token) for token in np.random.default_rng(2).integers(1, 256, 510))
    long = Request("long", prompt, 4, ignore_eos=True)
    plan = schedule(40, 16, "admit long, chunk long 300", "chunk long 207", "decode long")
    plan = replace(plan, steps=plan.steps + schedule(1, 1, *["decode long"] * 3).steps)
    plan = replace(plan, steps=plan.steps + schedule(1, 1, "finish long").steps)
    run = execute(model, Workload((long,)), plan)
    holds(run, model, schedule, long)
    assert run.counters["splits_crossed"] == 1 and run.counters["split_rows"] == 1


@pytest.fixture
def stopping(model: Model, checkpoint: Checkpoint, schedule: MakeSchedule) -> tuple[Model, int]:
    """The model with the fourth token that b emits as a stop token, and that token's place."""
    tokens = alone(model, schedule, replace(B, max_new=9)).tokens
    stop = tokens[3]
    config = replace(checkpoint.config, eos_token_ids=(stop,))
    stopped = Model(replace(checkpoint, config=config), open_backend("host"))
    return stopped, tokens.index(stop) + 1


def test_a_stop_token_ends_a_request(stopping: tuple[Model, int], schedule: MakeSchedule) -> None:
    model, count = stopping
    request = replace(B, max_new=9, ignore_eos=False)
    decodes = ["decode b"] * (count - 1)
    plan = schedule(9, 4, "admit b, decode b", *decodes, "finish b")
    run = execute(model, Workload((request,)), plan)
    assert run.outputs["b"].reason == "eos" and run.counters["stopped"] == 1
    whole = alone(model, schedule, replace(B, max_new=9))
    assert whole.reason == "length" and whole.tokens[:count] == run.outputs["b"].tokens
    assert run.outputs["b"].tokens[-1] in model.config.eos_token_ids


@pytest.mark.parametrize("event", ["decode b", "preempt_rc b"])
def test_a_schedule_that_goes_on_after_the_end_is_refused(
    stopping: tuple[Model, int], schedule: MakeSchedule, event: str
) -> None:
    model, count = stopping
    request = replace(B, max_new=9, ignore_eos=False)
    plan = schedule(9, 4, "admit b, decode b", *["decode b"] * (count - 1), event)
    fault = refused("REQUEST_ENDED", lambda: execute(model, Workload((request,)), plan))
    assert fault.pointer == f"/steps/{count}/0"
    assert "an end of sequence" in str(fault) and fault.got == event.split()[0]


def test_requests_are_submitted_when_they_arrive(model: Model, schedule: MakeSchedule) -> None:
    late = replace(A, arrival=2)
    plan = schedule(40, 4, "admit b, decode b", "", "decode b, admit a", "decode a, decode b")
    run = execute(model, Workload((late, B)), plan, partial=True)
    assert run.unfinished == ("a", "b")
    assert {name: len(out.tokens) for name, out in run.outputs.items()} == {"a": 1, "b": 3}
    assert run.counters["steps"] == 4 and run.counters["batches"] == 3
    early = schedule(40, 4, "admit b, decode b", "admit a")
    fault = refused("NOT_ARRIVED", lambda: execute(model, Workload((late, B)), early))
    assert fault.pointer == "/steps/1/0"


def test_an_unfinished_schedule_is_refused_unless_asked_for(
    model: Model, schedule: MakeSchedule
) -> None:
    plan = schedule(40, 4, "admit a, decode a")
    fault = refused("SCHEDULE_UNFINISHED", lambda: execute(model, BOTH, plan))
    assert fault.got == "a, b"
    run = execute(model, BOTH, plan, partial=True)
    assert run.outputs["b"] == Output((), (), "unfinished")
    assert run.outputs["a"].reason == "unfinished" and len(run.outputs["a"].tokens) == 1


@pytest.mark.parametrize(
    ("code", "place", "request_"),
    [
        ("TOKEN_OUT_OF_RANGE", "/requests/1/prompt/1", replace(B, prompt=(1, 256))),
        ("SEQUENCE_TOO_LONG", "/requests/1", replace(B, max_new=4096)),
        ("REQUEST_NEVER_FITS", "/pool", replace(B, max_new=30)),
    ],
)
def test_what_cannot_be_served_is_refused_before_anything_runs(
    model: Model, schedule: MakeSchedule, code: str, place: str, request_: Request
) -> None:
    seen: list[StepView] = []

    class Seeing:
        def after_step(self, view: StepView) -> None:
            seen.append(view)

    plan = schedule(10, 4, "admit a, decode a")
    workload = Workload((A, request_))
    fault = refused(code, lambda: execute(model, workload, plan, Seeing(), partial=True))
    assert fault.pointer == place and seen == []


@pytest.mark.parametrize(
    ("code", "place", "steps"),
    [
        ("REQUEST_UNKNOWN", "/steps/1/0", ("admit a", "decode z")),
        ("EVENT_NOT_ALLOWED", "/steps/1/1", ("admit a, decode a", "decode a, decode b")),
        ("STEP_ORDER", "/steps/0/2", ("admit a, decode a, decode a",)),
        ("REQUEST_NOT_ENDED", "/steps/1/0", ("admit a, decode a", "finish a")),
    ],
)
def test_an_illegal_schedule_is_refused_with_place_and_reason(
    model: Model, schedule: MakeSchedule, code: str, place: str, steps: tuple[str, ...]
) -> None:
    fault = refused(code, lambda: execute(model, BOTH, schedule(40, 4, *steps), partial=True))
    assert fault.pointer == place and place in str(fault)


def test_an_observer_sees_steps_and_changes_nothing(model: Model, schedule: MakeSchedule) -> None:
    plan = schedule(40, 4, "admit a, admit b, chunk a 9", "decode b, decode a", "decode a")
    seen: list[tuple[int, list[str], tuple[int, ...], tuple[int, ...]]] = []
    cached: list[np.ndarray] = []

    class Seeing:
        def after_step(self, view: StepView) -> None:
            events = [f"{event.event} {event.request}" for event in view.events]
            seen.append((view.step, events, view.logits.shape, view.tokens))
            keys, values = view.execution.keys_values(0)
            assert len(keys) == len(values) == 2
            cached.append(np.stack([*keys, *values]))

    run = execute(model, BOTH, plan, Seeing(), partial=True)
    assert run.trajectory == execute(model, BOTH, plan, partial=True).trajectory
    a, b = run.outputs["a"].tokens, run.outputs["b"].tokens
    assert seen == [
        (0, ["admit a", "admit b", "chunk a"], (0, 256), ()),
        (1, ["decode b", "decode a"], (2, 256), (b[0], a[0])),
        (2, ["decode a"], (1, 256), (a[1],)),
    ]
    assert [part.shape for part in cached] == [(4, n, 2, 16) for n in (9, 21, 22)]
    assert cached[2][:, :9].tobytes() == cached[0].tobytes()
    assert np.isfinite(cached[2]).all()


def test_events_and_n_grams_are_told_by_request(model: Model, schedule: MakeSchedule) -> None:
    plan = schedule(40, 4, "admit a, admit b, chunk a 9", "decode b, decode a", "decode a")
    run = execute(model, BOTH, plan, partial=True)
    assert run.logs() == {
        "a": ("admit", "chunk", "decode", "decode"),
        "b": ("admit", "decode"),
    }
    assert run.n_grams(2)["admit", "chunk"] == 1 and run.n_grams(2).total() == 4
    chunk = run.events[2]
    assert (chunk.step, chunk.tokens, chunk.blocks) == (0, 9, (0, 1, 2))
    assert chunk.published == (0, 1)


def test_nothing_is_written_into_a_block_that_another_holds(
    model: Model, schedule: MakeSchedule, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Planting:
        """The defect: a second holder of the block that the next decode writes."""

        def after_step(self, view: StepView) -> None:
            ledger = view.execution.ledger
            ledger.pool.references[ledger.state.requests[0].table[5]] = 2
            monkeypatch.setattr(model, "forward", lambda *_: pytest.fail("it was written"))

    plan = schedule(9, 4, "admit a, decode a", "decode a")
    fault = refused(
        "BLOCK_NOT_EXCLUSIVE",
        lambda: execute(model, Workload((A,)), plan, Planting(), partial=True),
    )
    assert fault.pointer == "block 5, slot 1" and "2 holders" in str(fault.got)
