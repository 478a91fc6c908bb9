"""Policies: what they give is legal, the same in any process, and what each of them is about."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from lockstep.lifecycle import Pool, relation
from lockstep.schedule.policies import (
    ADVERSARIAL,
    CANONICAL,
    CONTINUOUS,
    POLICIES,
    Batching,
    Settings,
    policy,
)
from lockstep.schedule.policies.batching import chunk_tokens
from lockstep.schedule.policies.swarm import (
    PAUSES_PER_REQUEST,
    PREEMPTIONS_PER_REQUEST,
    Features,
    Swarm,
)
from lockstep.schedule.policy import Policy
from lockstep.schedule.simulate import Simulated, check, simulate
from lockstep.schedule.workload import Request, Workload
from lockstep.schedule.workloads import Shape, make_workload, pool_for

from .conftest import refusal

# Few tokens, so that prompts share beginnings; small blocks, so that they have edges.
PROMPTS = st.lists(st.integers(1, 2), min_size=1, max_size=14).map(tuple)


@st.composite
def workloads(draw: st.DrawFn) -> Workload:
    prompts = draw(st.lists(PROMPTS, min_size=1, max_size=6))
    return Workload(
        tuple(
            Request(
                f"r{number}",
                prompt,
                draw(st.integers(1, 6)),
                arrival=draw(st.integers(0, 5)),
                salt=draw(st.sampled_from(["", "s"])),
                ignore_eos=draw(st.booleans()),
            )
            for number, prompt in enumerate(prompts)
        )
    )


@st.composite
def runs(draw: st.DrawFn) -> tuple[Workload, Pool, dict[str, int]]:
    """A workload, a pool from the smallest that it fits to one that holds all, and early ends."""
    workload = draw(workloads())
    size = draw(st.integers(1, 8))
    least, most = pool_for(workload, size, tight=True).blocks, pool_for(workload, size).blocks
    pool = Pool(draw(st.integers(least, most)), size)
    ends = {r.id: draw(st.integers(1, r.max_new)) for r in workload.requests if draw(st.booleans())}
    return workload, pool, ends


def assert_legal(
    run: tuple[Workload, Pool, dict[str, int]], make: Callable[[], Policy]
) -> Simulated:
    workload, pool, ends = run
    made = simulate(workload, pool, make(), ends)
    assert made.run.unfinished == ()
    # The check, which sees the schedule alone, gets the same events.
    assert check(workload, made.schedule).events == made.run.events
    # Recorded without a step too many: nothing but arrivals is waited for at the end.
    assert made.schedule.steps[-1][-1].event == "finish"
    for n in (2, 3):
        assert set(made.run.n_grams(n)) <= relation().n_grams(n)
    heeds = {request.id: not request.ignore_eos for request in workload.requests}
    decodes = Counter(event.request for event in made.run.events if event.event == "decode")
    for request in workload.requests:
        ended = ends.get(request.id, request.max_new) if heeds[request.id] else request.max_new
        assert decodes[request.id] == ended
    return made


@given(run=runs(), name=st.sampled_from(sorted(POLICIES)), seed=st.integers(0, 2**53 - 1))
def test_named_policies_give_legal_schedules(
    run: tuple[Workload, Pool, dict[str, int]], name: str, seed: int
) -> None:
    assert_legal(run, lambda: policy(name, seed))


SETTINGS = st.builds(
    Settings,
    max_batch=st.integers(1, 6),
    token_budget=st.one_of(st.none(), st.integers(1, 20)),
    chunks=st.lists(st.sampled_from(["1", "S-1", "S", "S+1", "7"]), max_size=3).map(tuple),
    lookup=st.booleans(),
    preempt_after=st.lists(st.integers(0, 5), max_size=4, unique=True).map(tuple),
    preempted=st.sampled_from([None, (), ("r0",), ("r1", "r2")]),
    order=st.sampled_from(["never", "always", "alternate"]),
    take=st.sampled_from(["never", "always", "alternate"]),
    evict=st.sampled_from(["never", "always", "alternate"]),
)


@given(run=runs(), settings=SETTINGS)
def test_every_setting_gives_legal_schedules(
    run: tuple[Workload, Pool, dict[str, int]], settings: Settings
) -> None:
    assert_legal(run, lambda: Batching(settings))


@given(
    run=runs(),
    seed=st.integers(0, 999),
    features=st.builds(
        Features, **{field.name: st.booleans() for field in dataclasses.fields(Features)}
    ),
)
def test_every_swarm_gives_legal_schedules(
    run: tuple[Workload, Pool, dict[str, int]], seed: int, features: Features
) -> None:
    made = assert_legal(run, lambda: Swarm(seed, features))
    counts, logs = made.run.counts, "".join(str(log) for log in made.run.logs().values())
    requests = len(run[0].requests)
    assert counts["preempt_rc"] <= PREEMPTIONS_PER_REQUEST * requests
    assert counts["cache_hit"] == 0 or features.lookups
    assert counts["chunk"] == 0 or features.chunks
    if not (features.preempts_prefills or features.preempts_decodes):
        assert counts["preempt_rc"] == 0
    if not features.preempts_prefills:
        assert "'chunk', 'preempt_rc'" not in logs
    if not features.preempts_decodes:
        assert "'decode', 'preempt_rc'" not in logs
    named = [action.blocks for step in made.schedule.steps for action in step if action.blocks]
    assert not named or features.highest or features.evicts_highest
    # Pauses are bounded: so are steps without an action once all have arrived.
    idle = sum(not actions for actions in made.schedule.steps[5:])
    assert idle <= PAUSES_PER_REQUEST * requests


WORKLOAD = make_workload(Shape("prefixes", requests=6, block_size=4, max_new=6), 5)
TIGHT = pool_for(WORKLOAD, 4, tight=True)


def made_by(settings: Settings, workload: Workload = WORKLOAD, pool: Pool = TIGHT) -> Simulated:
    return simulate(workload, pool, Batching(settings))


def test_canonical_runs_each_request_alone_and_whole() -> None:
    made = made_by(CANONICAL)
    order = [event.request for event in made.run.events]
    alone = [name for n, name in enumerate(order) if n == 0 or order[n - 1] != name]
    assert alone == [request.id for request in WORKLOAD.submission]
    for request in WORKLOAD.requests:
        log = [event for event in made.run.logs()[request.id] if event != "evict"]
        assert log == ["admit", *["decode"] * request.max_new, "finish"]
    # The pool is too small for what earlier requests left in it.
    assert made.run.counts["evict"] > 0


def test_continuous_fills_its_budget_and_never_exceeds_it() -> None:
    large = make_workload(Shape("prefixes", arrivals=2), 5)
    counts = simulate(large, pool_for(large, 16), policy("continuous")).run.counts
    assert counts["chunk"] > 0
    assert counts["cache_hit"] > 0
    assert counts["preempt_rc"] == 0
    assert counts["evict"] == 0
    narrow = Settings(token_budget=5, lookup=False)
    made = made_by(narrow)
    computed: Counter[int] = Counter()
    seen: Counter[str] = Counter()
    prompts = {request.id: len(request.prompt) for request in WORKLOAD.requests}
    for event in made.run.events:
        if event.event == "chunk":
            computed[event.step] += event.tokens
            seen[event.request] += event.tokens
        elif event.event == "decode":
            known = prompts[event.request]
            prompts[event.request] += 1
            computed[event.step] += known - seen[event.request]
            seen[event.request] = known
    assert max(computed.values()) == 5


def test_adversarial_shows_each_of_its_extremes() -> None:
    made = simulate(WORKLOAD, TIGHT, policy("adversarial"))
    chunks = {event.tokens for event in made.run.events if event.event == "chunk"}
    assert {1, 3, 4, 5} <= chunks
    logs = made.run.logs().values()
    pairs = {pair for log in logs for pair in pairwise(log)}
    assert {("chunk", "preempt_rc"), ("decode", "preempt_rc"), ("resume", "cache_hit")} <= pairs
    named = {action.event for step in made.schedule.steps for action in step if action.blocks}
    assert named == {"chunk", "decode", "evict"}


def test_a_request_is_preempted_at_each_output_that_was_asked_for() -> None:
    for outputs in range(6):
        settings = dataclasses.replace(CONTINUOUS, preempt_after=(outputs,), preempted=("r3",))
        made = made_by(settings, pool=pool_for(WORKLOAD, 4))
        emitted = 0
        at = []
        for event in made.run.logs()["r3"]:
            emitted += event == "decode"
            at += [emitted] if event == "preempt_rc" else []
        request = WORKLOAD.submission[WORKLOAD.numbers["r3"]]
        # Nobody is preempted once it has emitted all that it may.
        assert at == ([outputs] if outputs < request.max_new else []) or outputs == 0
        assert made.run.counts["preempt_rc"] == len(at)


def test_nobody_is_preempted_before_a_first_token_of_its_own() -> None:
    # The budget is gone with the first prefill: the others wait, admitted and without a token.
    workload = Workload(tuple(Request(f"r{number}", (1, 2, 3, 4), 2) for number in range(3)))
    starved = Settings(token_budget=1, lookup=False, preempt_after=(0,))
    made = simulate(workload, pool_for(workload, 2), Batching(starved))
    assert made.run.counts["preempt_rc"] == 3
    only = [event.event for event in made.run.events if event.step == 1]
    assert only[0] == "preempt_rc"
    assert only.count("preempt_rc") == 1


def swarm_with(*on: str) -> Features:
    return Features(**{field.name: field.name in on for field in dataclasses.fields(Features)})


def test_a_swarm_preempts_and_pauses_up_to_its_bounds_and_no_further() -> None:
    long = Workload((Request("a", (1,) * 8, 400, ignore_eos=True),))
    pool = pool_for(long, 16)
    for seed in range(3):
        preempting = simulate(long, pool, Swarm(seed, swarm_with("preempts_decodes")))
        assert preempting.run.counts["preempt_rc"] == PREEMPTIONS_PER_REQUEST
        arriving = Workload((*long.requests, Request("b", (1,), 1, arrival=300)))
        waiting = simulate(arriving, Pool(64, 16), Swarm(seed, swarm_with("pauses")))
        idle = sum(not actions for actions in waiting.schedule.steps)
        # One pauses by itself until it has no pause left; the first may follow its admission.
        assert idle in (PAUSES_PER_REQUEST - 1, PAUSES_PER_REQUEST)


def test_orders_are_turned_round() -> None:
    def batches(order: str) -> list[list[str]]:
        settings = dataclasses.replace(CANONICAL, max_batch=6, order=order)
        made = made_by(settings, pool=pool_for(WORKLOAD, 4))
        return [
            [action.request for action in step if action.event == "decode"]
            for step in made.schedule.steps
        ]

    forward, reverse, alternate = map(batches, ("never", "always", "alternate"))
    assert [batch[::-1] for batch in forward] == reverse != forward
    turned = [batch[::-1] if n % 2 else batch for n, batch in enumerate(forward)]
    assert turned == alternate


def test_what_is_no_policy_or_setting_is_refused() -> None:
    assert refusal(lambda: policy("greedy")).code == "BAD_VALUE"
    for faulty in (
        {"max_batch": 0},
        {"token_budget": 0},
        {"chunks": ("S-2",)},
        {"chunks": ("0",)},
        {"chunks": ("٣",)},
    ):
        name = next(iter(faulty))
        assert refusal(lambda f=faulty: Settings(**f)).pointer == name
    assert [chunk_tokens(text, 1) for text in ("1", "S-1", "S", "S+1", "12")] == [1, 1, 1, 2, 12]
    assert ADVERSARIAL.chunks == ("1", "S-1", "S", "S+1")


MAKE = """
from lockstep.lifecycle import Pool
from lockstep.schedule.policies import POLICIES, policy
from lockstep.schedule.simulate import simulate
from lockstep.schedule.workloads import Shape, make_workload, pool_for
for kind in ("edges", "prefixes"):
    workload = make_workload(Shape(kind, requests=6, block_size=4), 11)
    print(workload.sha256)
    for name in POLICIES:
        for seed in (0, 1):
            pool = pool_for(workload, 4, tight=seed == 1)
            print(name, simulate(workload, pool, policy(name, seed)).schedule.sha256)
"""


def test_schedules_are_the_same_in_any_process() -> None:
    outputs = set()
    for seed in ("0", "1", "4242"):
        done = subprocess.run(
            [sys.executable, "-c", MAKE],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
            timeout=60,
            check=True,
        )
        outputs.add(done.stdout)
    assert len(outputs) == 1
    lines = outputs.pop().splitlines()
    assert len(lines) == 2 * (1 + 2 * len(POLICIES))
    # Seeds and policies matter.
    assert len(set(lines)) > 2 * (len(POLICIES) + 1)


# Measured over these runs; the denominators follow from the relation.
FLOORS = {2: 25, 3: 77}
SWARM_RUNS = 120


def test_the_swarm_reaches_most_n_grams() -> None:
    seen: dict[int, set[tuple[str, ...]]] = {n: set() for n in FLOORS}
    for seed in range(SWARM_RUNS):
        shape = Shape(("edges", "prefixes")[seed % 2], requests=6, block_size=4, max_new=6)
        workload = make_workload(shape, seed)
        pool = pool_for(workload, 4, tight=True)
        pool = Pool(pool.blocks + (0, 4, 16)[seed % 3], 4)
        run = simulate(workload, pool, Swarm(seed)).run
        for n, grams in seen.items():
            grams |= set(run.n_grams(n))
    for n, grams in seen.items():
        legal = relation().n_grams(n)
        assert grams <= legal
        assert len(grams) >= FLOORS[n], sorted(legal - grams)
        assert FLOORS[n] > len(legal) * 9 // 10
