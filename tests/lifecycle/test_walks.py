"""Random runs: the invariant and its consequences hold, and every legal n-gram is realised."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.errors import LockstepError
from lockstep.lifecycle import Machine, Pool, State, claims, relation
from lockstep.lifecycle.explore import Walk, candidates, open_steps, submitted, walk
from lockstep.lifecycle.relation import observed_n_grams
from lockstep.lifecycle.state import empty

MACHINE = Machine()


@st.composite
def walks(draw: st.DrawFn) -> Walk:
    pool = Pool(draw(st.integers(1, 5)), draw(st.integers(1, 3)))
    room = pool.blocks * pool.block_size
    lengths = st.integers(1, room).flatmap(
        lambda prompt: st.tuples(st.just(prompt), st.integers(1, max(1, room - prompt)))
    )
    fitting = lengths.filter(lambda pair: sum(pair) <= room)
    requests = () if room < 2 else tuple(draw(st.lists(fitting, min_size=1, max_size=3)))
    state = submitted(MACHINE, empty(pool), requests)
    return walk(MACHINE, state, draw(st.integers(0, 40)), Random(draw(st.integers(0, 2**32))))


@given(walks())
@settings(max_examples=80, deadline=None)
def test_invariant_holds_in_every_state(run: Walk) -> None:
    assert [claims.broken(state) for state in run.states] == [()] * len(run.states)
    assert not any(claims.stuck(MACHINE, state) for state in run.states)
    assert all(
        claims.exclusive_write(state, step)
        for state, step in zip(run.states, run.steps, strict=False)
    )


@given(walks())
@settings(max_examples=80, deadline=None)
def test_no_guard_holds_outside_the_relation(run: Walk) -> None:
    for state in run.states:
        for number, request in enumerate(state.requests):
            for event in MACHINE.relation.events:
                steps = list(candidates(MACHINE, state, number, event))
                assert bool(steps) == claims.enabled(MACHINE, state, number, event)
                if (request.state, event) in MACHINE.relation.unreachable:
                    assert not steps


@given(walks())
@settings(max_examples=80, deadline=None)
def test_all_but_preemption_lowers_the_distance(run: Walk) -> None:
    distances = [claims.distance(state) for state in run.states]
    assert all(min(distance) >= 0 for distance in distances)
    for before, after, step in zip(distances, distances[1:], run.steps, strict=False):
        assert after < before or step.event == "preempt_rc"


@given(walks())
@settings(max_examples=80, deadline=None)
def test_logs_hold_legal_n_grams_alone(run: Walk) -> None:
    for log in run.logs:
        for n in (2, 3):
            assert set(observed_n_grams(log, n)) <= relation().n_grams(n)
        assert "decode" not in log or log.index("admit") < log.index("decode")


@pytest.mark.parametrize("n", [2, 3])
def test_every_legal_n_gram_is_realised(n: int) -> None:
    random, missing = Random(1), set(relation().n_grams(n))
    for _ in range(2000):
        lengths = tuple((random.randint(1, 5), random.randint(1, 3)) for _ in range(3))
        run = walk(MACHINE, submitted(MACHINE, empty(Pool(4, 2)), lengths), 40, random)
        for log in run.logs:
            missing -= set(observed_n_grams(log, n))
        if not missing:
            break
    assert not missing


def test_without_preemption_every_request_finishes() -> None:
    random = Random(3)
    for _ in range(30):
        lengths = tuple((random.randint(1, 6), random.randint(1, 2)) for _ in range(3))
        state = submitted(MACHINE, empty(Pool(4, 2)), lengths)
        while steps := [s for s in open_steps(MACHINE, state) if s.event != "preempt_rc"]:
            state = MACHINE.step(state, random.choice(steps))
        assert {request.state for request in state.requests} == {"FINISHED"}


def finds(weakened: frozenset[str], seen: str) -> bool:
    """Whether walks under weakened rules come upon a state or step that breaks a claim."""
    machine, random = Machine(weakened=weakened), Random(5)

    def breaks(state: State) -> bool:
        return seen in claims.broken(state) or (seen == "stuck" and claims.stuck(machine, state))

    for _ in range(400):
        lengths = tuple((random.randint(1, 6), random.randint(1, 4)) for _ in range(3))
        try:
            state = submitted(machine, empty(Pool(4, 2)), lengths)
        except LockstepError:
            continue
        if any(map(breaks, walk(machine, state, 30, random).states)):
            return True
    return False


@pytest.mark.parametrize(
    ("weakening", "seen"),
    [
        ("unreserved_admission", "reservations_are_covered"),
        ("unreserved_admission", "stuck"),
        ("lazy_reservation", "decoding_owes_nothing"),
        ("preempted_keeps_blocks", "idle_holds_nothing"),
        ("shared_release", "references_match_holders"),
    ],
)
def test_walks_find_what_weakened_rules_break(weakening: str, seen: str) -> None:
    assert finds(frozenset({weakening}), seen)
    assert not finds(frozenset(), seen)
