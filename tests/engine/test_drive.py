"""Policies: what they are shown, what is recorded, and random ones that leave every bit alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.engine.drive import drive
from lockstep.engine.execute import Execution, execute
from lockstep.engine.ledger import Ledger
from lockstep.engine.model import Model
from lockstep.engine.run import Output
from lockstep.engine.sampling import Sampling
from lockstep.engine.view import LedgerView
from lockstep.errors import LockstepError
from lockstep.lifecycle import Machine, Pool
from lockstep.lifecycle.claims import broken, enabled
from lockstep.schedule.policy import View
from lockstep.schedule.schedule import Action, Schedule
from lockstep.schedule.workload import Request, Workload

MACHINE = Machine()
SHARED = tuple(range(40, 60))
REQUESTS = (
    Request("a", (*SHARED[:9], 1), 5, ignore_eos=True),
    Request("b", (*SHARED[:9], 2, 3), 4, ignore_eos=True, sampling=Sampling("0.8", 50, seed=1)),
    Request("c", SHARED[:17], 3, arrival=2, sampling=Sampling("1.2", 0, "0.9", "0.01", 2)),
    Request("d", (9,), 6, arrival=5, ignore_eos=True, salt="d", sampling=Sampling("1", seed=1)),
    Request("e", SHARED[:17], 3, arrival=5, ignore_eos=True),
)
WORKLOAD = Workload(REQUESTS)


@dataclass
class Wandering:
    """Draws each next action from all that are legal; preempts rarely, so that runs end."""

    random: Random

    def next_action(self, view: View) -> Action | None:
        choices: dict[str, list[int]] = {}
        for number in range(len(view.state.requests)):
            for event in MACHINE.relation.events:
                if self.open(view, number, event):
                    choices.setdefault(event, []).append(number)
        # A step may be idle while something is to arrive, and else has an action.
        numbers = range(len(view.state.requests))
        may_end = view.waiting_arrivals or any(view.computing(number) for number in numbers)
        if not choices or (may_end and self.random.random() < 0.15):
            return None
        return self.pick(view, choices)

    def open(self, view: View, number: int, event: str) -> bool:
        if view.computing(number) or not enabled(MACHINE, view.state, number, event):
            return False
        if (event == "finish") != view.ended(number) and event in ("finish", "decode"):
            return False
        if event == "cache_hit" and not view.hit(number):
            return False
        return event != "preempt_rc" or (not view.ended(number) and self.random.random() < 0.1)

    def pick(self, view: View, choices: dict[str, list[int]]) -> Action:
        event = self.random.choice(sorted(choices))
        number = self.random.choice(choices[event])
        request, size = view.state.requests[number], view.state.pool.block_size
        tokens = 0
        if event == "chunk":
            room = (len(request.table) + len(view.state.free)) * size
            most = min(request.known - 1, room) - request.computed
            tokens = self.random.randint(1, most)
        return Action(event, view.request(number).id, tokens)


@pytest.fixture(scope="module")
def alone(model: Model) -> dict[str, Output]:
    """What each request comes to by itself: its prompt at once, then decodes."""
    outputs = {}
    for request in REQUESTS:
        decodes = tuple((Action("decode", request.id),) for _ in range(request.max_new - 1))
        first = (Action("admit", request.id), Action("decode", request.id))
        plan = Schedule(Pool(4, 16), (first, *decodes, (Action("finish", request.id),)))
        run = execute(model, WORKLOAD.alone(request.id), plan)
        outputs[request.id] = run.outputs[request.id]
    return outputs


@settings(max_examples=12)
@given(st.integers(0, 10**6), st.sampled_from([1, 2, 3, 5, 8, 16]), st.integers(0, 20))
def test_random_schedules_leave_each_request_its_bits(
    model: Model, alone: dict[str, Output], seed: int, size: int, spare: int
) -> None:
    need = max(-(-(len(r.prompt) + r.max_new) // size) for r in REQUESTS)
    pool = Pool(need + spare, size)
    schedule, run = drive(model, WORKLOAD, pool, Wandering(Random(seed)))
    assert run.outputs == alone
    assert run.unfinished == () and all(log[-1] == "finish" for log in run.logs().values())
    legal = MACHINE.relation.n_grams(2)
    assert set(run.n_grams(2)) <= legal
    assert execute(model, WORKLOAD, schedule) == run


def test_random_schedules_do_all_that_there_is(model: Model) -> None:
    totals: dict[str, int] = {}
    for seed in range(6):
        _, run = drive(model, WORKLOAD, Pool(10 + 3 * seed, 2), Wandering(Random(seed)))
        for name, count in run.counters.items():
            totals[name] = totals.get(name, 0) + count
    # Sequences are shorter than a split, and no token that is drawn here ends one.
    idle = {name for name, count in totals.items() if not count}
    assert idle == {"split_rows", "splits_crossed", "stopped"}


@given(st.integers(0, 10**6), st.sampled_from([1, 2, 3, 7]), st.integers(0, 9))
def test_ledger_and_machine_agree_on_random_schedules(seed: int, size: int, spare: int) -> None:
    # Without a model: tokens are drawn from three, so that contents meet and some stop early.
    random = Random(seed)
    need = max(-(-(len(r.prompt) + r.max_new) // size) for r in REQUESTS)
    ledger = Ledger(Pool(need + spare, size), bytes(32), frozenset({0}))
    policy, view = Wandering(random), LedgerView(ledger, WORKLOAD)
    for request in REQUESTS:
        ledger.submit(request)
    for _ in range(60):
        while (action := policy.next_action(view)) is not None:
            ledger.apply(action)
            assert broken(ledger.state) == ()
        ledger.assert_exclusive()
        ledger.complete([random.randrange(3) for work in ledger.work if work.emits])
    assert ledger.step == 60


@dataclass
class Listed:
    """Gives the actions of a list, None ending a step, and notes what it was shown."""

    actions: list[Action | None]
    seen: list[object] = field(default_factory=list)
    look: Callable[[View], object] = lambda view: None

    def next_action(self, view: View) -> Action | None:
        self.seen.append(self.look(view))
        return self.actions.pop(0) if self.actions else None


def test_a_policy_is_shown_the_state_as_it_is(model: Model) -> None:
    late = Workload((Request("a", (1, 2, 3), 2, ignore_eos=True), Request("z", (1, 2, 3), 1, 1)))

    def look(view: View) -> object:
        a, z = view.number("a"), view.number("z")
        assert a == 0 and view.request(0).id == "a" and z in (None, 1)
        hits = None if z is None else view.hit(z)
        state = view.state.requests[0].state
        shown = (view.step, view.waiting_arrivals, state, view.computing(0), view.ended(0))
        return (*shown, hits)

    actions: list[Action | None] = [
        Action("admit", "a"),
        Action("decode", "a"),
        None,
        Action("decode", "a"),
        None,
        Action("finish", "a"),
        Action("admit", "z"),
        Action("cache_hit", "z"),
        Action("decode", "z"),
        None,
        Action("finish", "z"),
        None,
    ]
    policy = Listed(list(actions), look=look)
    schedule, run = drive(model, late, Pool(4, 2), policy)
    assert policy.seen == [
        (0, 1, "QUEUED", False, False, None),
        (0, 1, "ADMITTED", False, False, None),
        (0, 1, "DECODING", True, False, None),
        (1, 0, "DECODING", False, False, 1),
        # Its last token is known once the batch has run.
        (1, 0, "DECODING", True, True, 1),
        (2, 0, "DECODING", False, True, 1),
        *[(2, 0, "FINISHED", False, True, 1)] * 4,
        *[(3, 0, "FINISHED", False, True, 1)] * 2,
    ]
    assert schedule.steps == tuple(
        tuple(step) for step in (actions[0:2], actions[3:4], actions[5:9], actions[10:11])
    )
    assert execute(model, late, schedule).trajectory == run.trajectory


def test_a_policy_that_gives_nothing_is_stuck(model: Model) -> None:
    late = Workload((Request("a", (1, 2), 1, ignore_eos=True, arrival=3),))
    with pytest.raises(LockstepError) as caught:
        drive(model, late, Pool(4, 2), Listed([]))
    # Steps 0 to 2 wait for the arrival.
    assert (caught.value.code, caught.value.pointer) == ("POLICY_STUCK", "/steps/3")
    assert caught.value.got == "none, with 1 unfinished"


def test_a_policy_that_never_ends_is_stopped(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lockstep.engine.drive.SCHEDULE_STEPS", 4)
    turns = [Action("admit", "a"), Action("chunk", "a", 1)]
    again = [None, Action("preempt_rc", "a"), Action("resume", "a"), Action("chunk", "a", 1)]
    with pytest.raises(LockstepError) as caught:
        drive(model, WORKLOAD.alone("a"), Pool(40, 2), Listed([*turns, *again * 9]))
    assert (caught.value.code, caught.value.expected) == ("LIMIT_SIZE", "at most 4 steps")


def test_a_policys_illegal_action_is_refused(model: Model) -> None:
    actions: list[Action | None] = [Action("admit", "a"), None, Action("finish", "a")]
    with pytest.raises(LockstepError) as caught:
        drive(model, WORKLOAD.alone("a"), Pool(9, 2), Listed(actions))
    assert (caught.value.code, caught.value.pointer) == ("EVENT_NOT_ALLOWED", "/steps/1/0")


def test_what_has_not_arrived_is_unknown(model: Model) -> None:
    execution = Execution(model, WORKLOAD, Pool(20, 2))
    assert [request.id for request in execution.view.arriving] == ["c", "d", "e"]
    with pytest.raises(LockstepError) as caught:
        execution.act(Action("admit", "c"))
    assert (caught.value.code, caught.value.got) == ("REQUEST_UNKNOWN", "c")
