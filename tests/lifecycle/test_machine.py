"""The reference machine: what each guard refuses, what each event changes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lockstep.errors import LockstepError
from lockstep.lifecycle import Machine, Pool, State, Step, claims
from lockstep.lifecycle.explore import submitted
from lockstep.lifecycle.machine import not_exclusive, written
from lockstep.lifecycle.state import empty

MACHINE = Machine()

ADMIT = Step(0, "admit")
# Prompt 5 and max_new 3 at block size 2: three blocks computed, four reserved.
DECODE = Step(0, "decode", blocks=(0, 1, 2, 3), published=(0, 1))
CHUNK = Step(0, "chunk", 3, (0, 1), (0,))
PREEMPT = Step(0, "preempt_rc")


def pool(*steps: Step, blocks: int = 5) -> State:
    """Two requests, the first of need 4 and the second of need 2, after some steps."""
    state = submitted(MACHINE, empty(Pool(blocks, 2)), ((5, 3), (3, 1)))
    return MACHINE.run(state, steps)


def refused(state: State, step: Step) -> LockstepError:
    with pytest.raises(LockstepError) as caught:
        MACHINE.step(state, step)
    assert caught.value.code == "EVENT_NOT_ALLOWED"
    assert caught.value.pointer == f"request {step.request}: {step.event}"
    return caught.value


def test_what_can_never_fit_is_refused_at_submit() -> None:
    fits = MACHINE.submit(empty(Pool(4, 2)), 5, 3)
    assert fits.queue == (0,) and fits.requests[0].need(fits.pool) == 4
    with pytest.raises(LockstepError) as caught:
        MACHINE.submit(fits, 6, 3)
    fault = caught.value
    assert (fault.code, fault.pointer, fault.got) == ("REQUEST_NEVER_FITS", "request 1", 5)


@pytest.mark.parametrize(("prompt", "max_new", "name"), [(0, 1, "prompt"), (1, 0, "max_new")])
def test_lengths_are_positive(prompt: int, max_new: int, name: str) -> None:
    with pytest.raises(LockstepError) as caught:
        MACHINE.submit(empty(Pool(4, 2)), prompt, max_new)
    assert (caught.value.code, caught.value.pointer) == ("BAD_VALUE", f"request 0: {name}")


def cached_pool() -> State:
    """The first request has left blocks 0 and 1 cached; the second is admitted; one is free."""
    return pool(ADMIT, DECODE, Step(0, "finish"), Step(1, "admit"), blocks=4)


@pytest.mark.parametrize(
    ("state", "step", "expected"),
    [
        (pool(), Step(2, "admit"), "a submitted request"),
        (pool(), Step(-1, "admit"), "a submitted request"),
        (pool(), Step(0, "abort"), "an event"),
        (pool(), Step(0, "decode"), "a cell"),
        (pool(ADMIT, DECODE), Step(0, "chunk", 1), "a cell"),
        (pool(), Step(1, "admit"), "the head of the queue"),
        (pool(ADMIT), Step(1, "admit"), "a slack of 2 blocks"),
        (pool(ADMIT, CHUNK, PREEMPT), Step(1, "admit"), "the head of the queue"),
        (pool(ADMIT), Step(0, "cache_hit"), "one or more blocks"),
        (pool(ADMIT), Step(0, "cache_hit", blocks=(0,)), "distinct blocks, each cached"),
        (cached_pool(), Step(1, "cache_hit", blocks=(0, 0)), "distinct blocks, each cached"),
        (cached_pool(), Step(1, "cache_hit", blocks=(0, 1)), "fewer than 3 granted tokens"),
        (pool(ADMIT), Step(0, "chunk", 0), "1 to 4 tokens"),
        (pool(ADMIT), Step(0, "chunk", 5, (0, 1, 2)), "1 to 4 tokens"),
        (pool(ADMIT), Step(0, "chunk", 3, (0,)), "2 blocks to take"),
        (pool(ADMIT), Step(0, "chunk", 3, (0, 0)), "distinct blocks, each free"),
        (pool(ADMIT), Step(0, "chunk", 3, (0, 9)), "distinct blocks, each free"),
        (pool(ADMIT), Step(0, "decode", blocks=(0, 1, 2)), "4 blocks to take"),
        (cached_pool(), Step(1, "decode", blocks=(0, 2)), "distinct blocks, each free"),
        (
            pool(ADMIT),
            Step(0, "chunk", 3, (0, 1), (1,)),
            "distinct blocks, each complete, its own and not yet cached",
        ),
        (
            pool(ADMIT, CHUNK),
            Step(0, "chunk", 1, (), (0,)),
            "distinct blocks, each complete, its own and not yet cached",
        ),
        (cached_pool(), Step(1, "evict", blocks=(0,)), "fewer than 2 free blocks"),
        (pool(ADMIT, CHUNK), Step(0, "evict", blocks=(0,)), "fewer than 2 free blocks"),
        (pool(), Step(0, "finish"), "a cell"),
        (pool(ADMIT), Step(0, "preempt_rc"), "a cell"),
        (pool(ADMIT, DECODE), Step(0, "decode", 1), "no count of tokens"),
        (pool(), Step(0, "admit", blocks=(0,)), "no blocks"),
        (pool(), Step(0, "admit", published=(0,)), "no published blocks"),
    ],
)
def test_guard_refuses(state: State, step: Step, expected: str) -> None:
    assert refused(state, step).expected == expected


def scarce() -> State:
    """Two cached blocks are evictable, two are free, and the second request, of need 4, owes."""
    state = submitted(MACHINE, empty(Pool(4, 2)), ((5, 3), (7, 1)))
    return MACHINE.run(state, (ADMIT, DECODE, Step(0, "finish"), Step(1, "admit")))


def test_evict_takes_one_cached_unreferenced_block() -> None:
    state = scarce()
    assert refused(state, Step(1, "evict")).expected == "one block"
    assert refused(state, Step(1, "evict", blocks=(0, 1))).expected == "one block"
    unreferenced = "distinct blocks, each cached and unreferenced"
    assert refused(state, Step(1, "evict", blocks=(2,))).expected == unreferenced
    after = MACHINE.step(state, Step(1, "evict", blocks=(0,)))
    assert after.free == (0, 2, 3) and after.evictable == (1,)
    assert after.requests == state.requests and after.slack == state.slack
    held = MACHINE.step(scarce(), Step(1, "cache_hit", blocks=(0,)))
    assert refused(held, Step(1, "evict", blocks=(0,))).expected == unreferenced


def test_a_request_that_emitted_everything_may_only_finish() -> None:
    state = pool(ADMIT, DECODE, Step(0, "decode"), Step(0, "decode"))
    assert state.requests[0].outputs == state.requests[0].max_new == 3
    assert refused(state, Step(0, "decode")).expected == "fewer than 3 outputs"
    assert refused(state, Step(0, "preempt_rc")).expected == "fewer than 3 outputs"
    assert MACHINE.step(state, Step(0, "finish")).requests[0].state == "FINISHED"


def test_a_victim_without_tokens_is_refused_by_the_guard_too() -> None:
    clause = MACHINE.refusal(pool(ADMIT), PREEMPT)
    assert clause is not None and clause.expected == "a computed token"
    weakened = Machine(weakened=frozenset({"victim_without_tokens"}))
    assert weakened.refusal(pool(ADMIT), PREEMPT) is None


def test_preemption_gives_back_blocks_and_goes_to_the_head() -> None:
    state = pool(ADMIT, DECODE, PREEMPT)
    request = state.requests[0]
    assert (request.state, request.computed, request.outputs) == ("PREEMPTED", 0, 1)
    assert request.table == () and state.queue == (0, 1)
    assert state.free == (2, 3, 4) and state.evictable == (0, 1)
    resumed = MACHINE.run(state, (Step(0, "resume"), Step(0, "cache_hit", blocks=(0, 1))))
    assert resumed.requests[0].computed == 4 and resumed.references[:2] == (1, 1)
    # What it had emitted is recomputed with the prompt.
    after = MACHINE.step(resumed, Step(0, "decode", blocks=(2, 3), published=(2,)))
    assert (after.requests[0].computed, after.requests[0].outputs) == (6, 2)


def test_shared_blocks_are_counted_and_outlive_one_holder() -> None:
    state = pool(ADMIT, DECODE, blocks=6)
    state = MACHINE.run(state, (Step(1, "admit"), Step(1, "cache_hit", blocks=(0,))))
    assert state.references == (2, 1, 1, 1, 0, 0)
    state = MACHINE.step(state, Step(0, "finish"))
    assert state.references == (1, 0, 0, 0, 0, 0) and state.evictable == (1,)
    assert state.requests[1].owed(state.pool) == 1


def test_a_step_writes_from_its_first_uncomputed_position() -> None:
    state = pool(ADMIT, CHUNK)
    step = Step(0, "chunk", 1)
    assert written(state, step) == (1,)
    assert written(state, Step(0, "decode", blocks=(2, 3))) == (1, 2)
    assert not_exclusive(state, step) == ()
    assert not_exclusive(state.with_cached({1: True}), step) == (1,)
    assert not_exclusive(state.with_references({1: 2}), step) == (1,)


def test_a_run_says_which_step_is_refused() -> None:
    with pytest.raises(LockstepError) as caught:
        pool(ADMIT, CHUNK, Step(0, "finish"))
    assert caught.value.pointer == "step 2: request 0: finish"


@pytest.mark.parametrize("event", ["cache_hit", "chunk", "decode", "evict", "preempt_rc"])
def test_guards_of_the_active_refuse_a_waiting_request(event: str) -> None:
    clause = MACHINE.refusal(pool(), Step(0, event))
    assert clause is not None and clause.expected == "an active request"


def test_guards_that_name_a_state_refuse_another() -> None:
    queued, preempted = pool(), pool(ADMIT, CHUNK, PREEMPT)
    for state, event, wanted in (
        (queued, "resume", "PREEMPTED"),
        (preempted, "admit", "QUEUED"),
        (queued, "finish", "DECODING"),
    ):
        clause = MACHINE.refusal(state, Step(0, event))
        assert clause is not None and clause.expected == f"a request that is {wanted}"


def test_a_lookup_comes_before_the_first_computed_token() -> None:
    clause = MACHINE.refusal(pool(ADMIT, CHUNK), Step(0, "cache_hit", blocks=(0,)))
    assert clause is not None and clause.expected == "no computed token"


def test_an_unknown_weakening_is_refused() -> None:
    with pytest.raises(LockstepError) as caught:
        Machine(weakened=frozenset({"lazy_reservations"}))
    assert (caught.value.code, caught.value.got) == ("BAD_VALUE", "lazy_reservations")


def doctored(clause: str) -> State:
    """A state that breaks one clause of the invariant."""
    state = pool(ADMIT, CHUNK)
    first, second = state.requests
    if clause == "references_match_holders":
        return state.with_references({4: 1})
    if clause == "exclusive_writer":
        return state.with_cached({1: True})
    if clause == "idle_holds_nothing":
        return state.with_request(1, replace(second, computed=1))
    if clause == "admitted_computed_nothing":
        admitted = replace(pool(ADMIT).requests[0], computed=1)
        return pool(ADMIT).with_request(0, admitted)
    if clause == "prefilling_is_partial":
        return state.with_request(0, replace(first, computed=5, outputs=0))
    if clause == "decoding_owes_nothing":
        decoding = pool(ADMIT, DECODE)
        return decoding.with_request(0, replace(decoding.requests[0], computed=4))
    if clause == "reservations_are_covered":
        return state.with_request(0, replace(first, max_new=30))
    assert clause == "queue_is_waiting"
    return replace(state, queue=(1, 1))


@pytest.mark.parametrize("clause", [clause.__name__ for clause in claims.INVARIANT])
def test_each_clause_of_the_invariant_can_break(clause: str) -> None:
    assert claims.broken(pool(ADMIT, CHUNK)) == ()
    assert clause in claims.broken(doctored(clause))


def test_a_block_twice_in_a_table_is_noticed() -> None:
    state = pool(ADMIT, CHUNK)
    twice = state.with_request(0, replace(state.requests[0], table=(0, 0)))
    assert not claims.references_match_holders(twice.with_references({0: 2, 1: 0}))


def test_an_open_block_with_two_holders_is_noticed() -> None:
    assert not claims.exclusive_writer(pool(ADMIT, CHUNK).with_references({1: 2}))


def test_stuck_needs_an_unfinished_request() -> None:
    assert not claims.stuck(MACHINE, empty(Pool(2, 2)))
    accepting = Machine(weakened=frozenset({"never_fitting_accepted"}))
    assert claims.stuck(accepting, accepting.submit(empty(Pool(2, 2)), 5, 1))
    assert not claims.stuck(accepting, accepting.submit(empty(Pool(2, 2)), 3, 1))
