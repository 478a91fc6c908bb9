"""The ledger, without a model: what an action leaves open, what is refused, and where it shows."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lockstep.engine.ledger import Ledger
from lockstep.errors import LockstepError
from lockstep.lifecycle import Machine, Pool
from lockstep.schedule.schedule import Schedule
from lockstep.schedule.workload import Request
from tests.refusals import refused

MakeSchedule = Callable[..., Schedule]

STOP = 0
PROMPT = (1, 2, 3, 4, 5)


def ledger(*requests: Request, blocks: int = 6, size: int = 2) -> Ledger:
    made = Ledger(Pool(blocks, size), bytes(32), frozenset({STOP}))
    for request in requests or (Request("a", PROMPT, 3), Request("b", PROMPT, 3)):
        made.submit(request)
    return made


def play(made: Ledger, plan: Schedule, tokens: tuple[int, ...] = ()) -> None:
    """Apply the steps of a schedule; decodes emit the tokens, then 100, 101, ….

    The last step is left open.
    """
    emitted = iter([*tokens, *range(100, 200)])
    for number, actions in enumerate(plan.steps):
        for place, action in enumerate(actions):
            made.apply(action, f"/steps/{number}/{place}")
        if number + 1 < len(plan.steps):
            made.complete([next(emitted) for work in made.work if work.emits])


def test_blocks_are_chosen_where_an_action_leaves_them_open(schedule: MakeSchedule) -> None:
    made = ledger()
    play(made, schedule(6, 2, "admit a, chunk a 3", "decode a", "decode a", ""))
    a = made.state.requests[0]
    assert a.table == (0, 1, 2, 3) and made.tokens(0) == (*PROMPT, 100, 101)
    # Blocks 0 and 1 hold the prompt, block 2 its last token and the first output.
    assert [block for block, _ in made.index.entries()] == [0, 1, 2]
    assert made.prefix(0) == (0, 1, 2) and made.prefix(1) == (0, 1)


def test_a_lookup_leaves_a_token_to_compute(schedule: MakeSchedule) -> None:
    made = ledger(Request("a", (1, 2, 3, 4), 3), Request("b", (1, 2, 3, 4), 3))
    play(made, schedule(6, 2, "admit a, decode a", ""))
    assert [block for block, _ in made.index.entries()] == [0, 1]
    assert made.prefix(1) == (0,)


def test_a_hit_may_be_a_beginning_of_the_run_and_nothing_else(schedule: MakeSchedule) -> None:
    for named in ("[0]", "[0 1]", ""):
        made = ledger(blocks=9)
        text = f"admit b, cache_hit b {named}".rstrip()
        play(made, schedule(9, 2, "admit a, decode a", text))
        assert made.state.requests[1].table == ((0,) if named == "[0]" else (0, 1))
    for named in ("[1]", "[1 0]", "[0 1 2]", "[5]"):
        made = ledger(blocks=9)
        plan = schedule(9, 2, "admit a, decode a", f"admit b, cache_hit b {named}")
        fault = refused("PREFIX_NOT_HELD", lambda made=made, plan=plan: play(made, plan))
        assert fault.pointer == "/steps/1/1"


def test_salts_part_the_index(schedule: MakeSchedule) -> None:
    made = ledger(Request("a", PROMPT, 3, salt="x"), Request("b", PROMPT, 3), blocks=9)
    play(made, schedule(9, 2, "admit a, decode a", "admit b, decode b", ""))
    assert made.prefix(1) == (4, 5) and made.prefix(0) == (0, 1)


def test_content_is_offered_once(schedule: MakeSchedule) -> None:
    made = ledger(blocks=9)
    # In one step: the first action's blocks are offered. In later steps: nothing is.
    play(made, schedule(9, 2, "admit a, admit b, chunk a 4, chunk b 4", "decode b", ""))
    assert [block for block, _ in made.index.entries()] == [0, 1]
    assert made.state.cached[:4] == (True, True, False, False)


def test_what_a_step_publishes_is_granted_from_the_next_on(schedule: MakeSchedule) -> None:
    made = ledger(blocks=9)
    fault = refused(
        "EVENT_NOT_ALLOWED",
        lambda: play(made, schedule(9, 2, "admit a, decode a, admit b, cache_hit b")),
    )
    assert fault.pointer == "/steps/0/3"
    assert (fault.expected, fault.got) == ("cache_hit of b: one or more blocks", "none")


def test_the_block_released_first_is_evicted_first(schedule: MakeSchedule) -> None:
    made = ledger(Request("a", (1, 2, 3), 1), Request("b", (4, 5, 6), 1), Request("c", PROMPT, 3))
    one = "admit a, admit b, decode b, decode a"
    play(made, schedule(6, 2, one, "finish b, finish a", ""))
    assert made.pool.evictable == (0, 2)
    play(made, schedule(6, 2, "admit c, chunk c 4", ""))
    assert made.pool.free == (4, 5)
    # c owes two blocks and finds two free ones: nothing is evicted for it.
    refused("EVENT_NOT_ALLOWED", lambda: play(made, schedule(6, 2, "evict c")))


def test_an_eviction_takes_the_content_out_of_the_index(schedule: MakeSchedule) -> None:
    made = ledger(Request("a", (1, 2, 3, 4), 2), Request("b", (5,) * 7, 1), blocks=4)
    play(made, schedule(4, 2, "admit a, decode a", "decode a", "finish a", "admit b, evict b", ""))
    # The end of a's table goes first.
    assert made.prefix(0) == (0,) and made.pool.free == (1, 2, 3)
    assert [block for block, _ in made.index.entries()] == [0]


@pytest.mark.parametrize(
    ("code", "place", "told", "steps"),
    [
        ("REQUEST_UNKNOWN", "/steps/0/0/request", "submitted", ("admit z",)),
        ("EVENT_NOT_ALLOWED", "/steps/0/0", "head of the queue", ("admit b",)),
        ("EVENT_NOT_ALLOWED", "/steps/0/0", "a cell", ("decode a",)),
        ("EVENT_NOT_ALLOWED", "/steps/0/0", "an event", ("fork a",)),
        ("EVENT_NOT_ALLOWED", "/steps/0/1", "1 to 4 tokens", ("admit a, chunk a 5",)),
        ("EVENT_NOT_ALLOWED", "/steps/0/1", "1 to 4 tokens", ("admit a, chunk a 0",)),
        ("EVENT_NOT_ALLOWED", "/steps/0/1", "1 to 4 tokens", ("admit a, chunk a 99",)),
        ("EVENT_NOT_ALLOWED", "/steps/0/1", "free", ("admit a, chunk a 2 [6]",)),
        ("EVENT_NOT_ALLOWED", "/steps/0/1", "free", ("admit a, chunk a 2 [-1]",)),
        ("EVENT_NOT_ALLOWED", "/steps/0/1", "free", ("admit a, chunk a 4 [1 1]",)),
        ("EVENT_NOT_ALLOWED", "/steps/0/1", "free", ("admit a, decode a [0 1 2 9]",)),
        ("EVENT_NOT_ALLOWED", "/steps/0/1", "4 blocks", ("admit a, decode a [0 1]",)),
        ("EVENT_NOT_ALLOWED", "/steps/0/1", "a slack of 4", ("admit a, admit b",)),
        ("EVENT_NOT_ALLOWED", "/steps/0/1", "a cell", ("admit a, preempt_rc a",)),
        ("EVENT_NOT_ALLOWED", "/steps/0/1", "4 free blocks", ("admit a, evict a",)),
        ("STEP_ORDER", "/steps/0/2", "finish of a", ("admit a, decode a, finish a",)),
        ("STEP_ORDER", "/steps/0/2", "decode of a", ("admit a, chunk a 1, decode a",)),
        ("STEP_ORDER", "/steps/0/2", "preempt_rc of a", ("admit a, decode a, preempt_rc a",)),
        ("REQUEST_NOT_ENDED", "/steps/1/0", "3 outputs", ("admit a, decode a", "finish a")),
    ],
)
def test_what_is_not_legal_is_refused_with_place_and_reason(
    schedule: MakeSchedule, code: str, place: str, told: str, steps: tuple[str, ...]
) -> None:
    fault = refused(code, lambda: play(ledger(), schedule(6, 2, *steps)))
    assert fault.pointer == place
    assert told in str(fault.expected)


@pytest.mark.parametrize("event", ["decode a", "preempt_rc a", "chunk a 1", "evict a"])
def test_after_a_stop_token_only_finish_is_left(schedule: MakeSchedule, event: str) -> None:
    made = ledger()
    play(made, schedule(6, 2, "admit a, decode a", "decode a", ""), (7, STOP))
    assert made.ended(0) and made.stopped(0)
    fault = refused("REQUEST_ENDED", lambda: play(made, schedule(6, 2, event)))
    name = event.split()[0]
    assert fault.expected == f"{name} of a: finish after token 0, an end of sequence"
    play(made, schedule(6, 2, "finish a"))
    assert made.state.requests[0].state == "FINISHED"


def test_a_stop_token_may_be_ignored(schedule: MakeSchedule) -> None:
    made = ledger(Request("a", PROMPT, 3, ignore_eos=True))
    play(made, schedule(6, 2, "admit a, decode a", "decode a", "decode a", ""), (STOP, STOP, 9))
    assert made.ended(0) and not made.stopped(0)
    fault = refused("REQUEST_ENDED", lambda: play(made, schedule(6, 2, "decode a")))
    assert fault.expected == "decode of a: finish after max_new"


def test_what_never_fits_is_refused_at_submit() -> None:
    made = ledger(Request("a", PROMPT, 7))
    fault = refused("REQUEST_NEVER_FITS", lambda: made.submit(Request("b", PROMPT, 8)))
    assert (fault.pointer, fault.got) == ("request b", 7)
    assert made.number("b") is None and len(made.state.requests) == 1


def test_a_refused_action_changes_nothing(schedule: MakeSchedule) -> None:
    made = ledger()
    play(made, schedule(6, 2, "admit a, chunk a 3", ""))
    before = made.state
    for event in ("decode b", "chunk a 9", "decode a [0 1]", "cache_hit a", "finish a"):
        with pytest.raises(LockstepError):
            play(made, schedule(6, 2, event))
    assert made.state is before and made.work == ()
    play(made, schedule(6, 2, "decode a", ""))
    assert made.prefix(1) == (0, 1)


def _share(made: Ledger) -> None:
    made.pool.references[0] += 1


def _uncached(made: Ledger) -> None:
    made.pool.cached[0] = False


def _leak(made: Ledger) -> None:
    made.pool._free.discard(5)


def _forget(made: Ledger) -> None:
    made.index.withdraw(0)


def _token(made: Ledger) -> None:
    made._sequences[0].tokens.append(3)


def _evictable(made: Ledger) -> None:
    made.pool._evictable[0] = None


def _invariant(made: Ledger) -> None:
    made.state = made.state.with_references({5: 1})
    made.pool.references[5] = 1
    made.pool._free.discard(5)


@pytest.mark.parametrize(
    ("part", "plant"),
    [
        ("references", _share),
        ("cached", _uncached),
        ("free", _leak),
        ("index", _forget),
        ("tokens", _token),
        ("evictable", _evictable),
        ("invariant", _invariant),
    ],
)
def test_ledger_and_machine_must_agree(
    schedule: MakeSchedule, part: str, plant: Callable[[Ledger], None]
) -> None:
    made = ledger()
    play(made, schedule(6, 2, "admit a, chunk a 3", ""))
    made.check()
    plant(made)
    fault = refused("LEDGER_MISMATCH", lambda: made.complete([]))
    assert fault.pointer == f"step 1: {part}"


def test_a_batch_does_not_write_what_another_holds(schedule: MakeSchedule) -> None:
    made = ledger()
    play(made, schedule(6, 2, "admit a, decode a", "decode a"))
    made.assert_exclusive()
    block = made.state.requests[0].table[2]
    made.pool.references[block] = 2
    fault = refused("BLOCK_NOT_EXCLUSIVE", made.assert_exclusive)
    assert fault.pointer == f"block {block}, slot 1"
    refused("BLOCK_NOT_EXCLUSIVE", lambda: made.complete([7]))


def test_a_batch_looks_at_each_block_that_it_writes(schedule: MakeSchedule) -> None:
    for block in (0, 1, 2):
        made = ledger()
        play(made, schedule(6, 2, "admit a, decode a"))
        made.assert_exclusive()
        made.pool.cached[block] = True
        refused("BLOCK_NOT_EXCLUSIVE", made.assert_exclusive)


def test_nothing_is_published_before_it_is_written(
    schedule: MakeSchedule, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = ledger()
    play(made, schedule(6, 2, "admit a, decode a"))
    assert made.index.entries() == [] and made.state.cached[:2] == (True, True)
    # The defect: publication at the time of scheduling, the batch being still to come.
    monkeypatch.setattr(made.pool, "wrote", lambda block, offset: None)
    fault = refused("BLOCK_NOT_WRITTEN", lambda: made.complete([7]))
    assert (fault.pointer, fault.got) == ("block 0", 0)


@pytest.mark.parametrize(
    ("weakening", "part", "steps"),
    [
        ("shared_release", "references", ("admit b, cache_hit b, decode b", "preempt_rc b", "")),
        ("preempted_keeps_blocks", "references", ("preempt_rc a", "")),
        ("lazy_reservation", "invariant", ("admit b, decode b", "")),
    ],
)
def test_a_machine_with_other_rules_shows(
    schedule: MakeSchedule, weakening: str, part: str, steps: tuple[str, ...]
) -> None:
    made = Ledger(Pool(20, 2), bytes(32), frozenset(), Machine(weakened=frozenset({weakening})))
    made.submit(Request("a", PROMPT, 9))
    made.submit(Request("b", PROMPT, 9))
    plan = schedule(20, 2, "admit a, decode a", *steps)
    fault = refused("LEDGER_MISMATCH", lambda: play(made, plan))
    assert fault.pointer.endswith(part)
