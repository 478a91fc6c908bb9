"""Trajectories: recomputed from the spec by other code, and different wherever a part is."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from lockstep.engine.execute import StepView, execute
from lockstep.engine.ledger import Ledger
from lockstep.engine.model import Model
from lockstep.engine.run import Run
from lockstep.engine.trajectory import (
    Difference,
    Parts,
    Recorder,
    Trajectory,
    first_difference,
)
from lockstep.lifecycle import Pool
from lockstep.schedule.schedule import Schedule
from lockstep.schedule.workload import Request, Workload

MakeSchedule = Callable[..., Schedule]

WORKLOAD = Workload(
    (
        Request("a", (5, 6, 7, 8, 9), 3, ignore_eos=True),
        Request("b", (5, 6, 7, 1), 3, salt="s", ignore_eos=True),
        Request("c", (5, 6, 7, 8, 2), 2, ignore_eos=True),
    )
)
STEPS = (
    "admit a, admit b, chunk a 3",
    "decode b, decode a",
    "preempt_rc b, decode a",
    "resume b, decode b, decode a",
    "finish a, admit c, cache_hit c, decode c",
    "decode c, decode b",
    "finish b, finish c",
)


def number(value: int) -> bytes:
    return value.to_bytes(8, "big")


def numbers(*values: int) -> bytes:
    return b"".join(value.to_bytes(8, "big") for value in values)


def h(tag: str, *fields: bytes) -> bytes:
    """[ENG-2], written once more."""
    text = b"".join(number(len(f)) + f for f in (tag.encode(), *fields))
    return hashlib.sha256(text).digest()


@dataclass
class BySpec:
    """Recomputes the chain from what an observer sees, by [ENG-16] and [ENG-17]."""

    digest: bytes = h("lockstep/trajectory/1", number(12), number(2))
    views: list[StepView] = field(default_factory=list)

    def after_step(self, view: StepView) -> None:
        self.views.append(view)
        ledger = view.execution.ledger
        logits = b"".join(np.float32(x).tobytes() for row in view.logits.tolist() for x in row)
        emitted, work, output = b"", b"", 0
        for item in view.work:
            for row, token in enumerate(item.tokens):
                position = item.first + row
                slot = item.table[position // 2] * 2 + position % 2
                last = item.emits and row == len(item.tokens) - 1
                work += numbers(item.number, position, token, slot, int(last))
            if item.emits:
                position = item.first + len(item.tokens)
                emitted += numbers(item.number, position, view.tokens[output])
                output += 1
        entries = b"".join(number(b) + digest for b, digest in ledger.index.entries())
        self.digest = h(
            "lockstep/step/1",
            self.digest,
            number(view.step),
            h("lockstep/emitted/1", emitted),
            h("lockstep/logits/1", logits),
            h("lockstep/rows/1", work),
            h("lockstep/ledger/1", self.ledger(ledger)),
            h("lockstep/prefixes/1", entries),
        )

    def ledger(self, ledger: Ledger) -> bytes:
        states = ["QUEUED", "ADMITTED", "PREFILLING", "DECODING", "PREEMPTED", "FINISHED"]
        state, text = ledger.state, number(12)
        for block in range(12):
            cached = int(state.cached[block])
            text += numbers(state.references[block], cached, ledger.pool.written[block])
        evictable = ledger.pool.evictable
        text += numbers(len(evictable), *evictable, len(state.requests))
        for place, request in enumerate(state.requests):
            text += numbers(states.index(request.state), request.computed, request.outputs)
            text += numbers(int(ledger.stopped(place)), len(request.table), *request.table)
        return text + numbers(len(state.queue), *state.queue)


@pytest.fixture
def run(model: Model, schedule: MakeSchedule) -> Run:
    return execute(model, WORKLOAD, schedule(12, 2, *STEPS))


def test_the_digest_is_that_of_the_spec(model: Model, schedule: MakeSchedule, run: Run) -> None:
    spec = BySpec()
    again = execute(model, WORKLOAD, schedule(12, 2, *STEPS), spec)
    assert again == run and len(spec.views) == len(STEPS)
    assert run.trajectory.sha256 == spec.digest.hex()
    assert len(run.trajectory.chain) == len(STEPS) + 1
    assert first_difference(run.trajectory, again.trajectory) is None


def test_a_replay_has_the_same_digest(model: Model, schedule: MakeSchedule, run: Run) -> None:
    for _ in range(2):
        assert execute(model, WORKLOAD, schedule(12, 2, *STEPS)).trajectory == run.trajectory


@pytest.mark.parametrize("part", Parts._fields)
@pytest.mark.parametrize("step", [0, 3, 6])
def test_a_part_that_differs_is_named(run: Run, part: str, step: int) -> None:
    steps = list(run.trajectory.steps)
    steps[step] = steps[step]._replace(**{part: bytes(32)})
    # What follows differs too, and does not hide the first.
    steps[6] = steps[6]._replace(emitted=bytes([1]) * 32) if step != 6 else steps[6]
    other = Trajectory(run.trajectory.pool, tuple(steps))
    assert first_difference(run.trajectory, other) == Difference(step, part)
    chains = zip(run.trajectory.chain, other.chain, strict=True)
    assert [mine == its for mine, its in chains] == [n <= step for n in range(8)]


def test_pools_and_lengths_that_differ_are_named(run: Run) -> None:
    whole = run.trajectory
    shorter = Trajectory(whole.pool, whole.steps[:4])
    assert first_difference(whole, shorter) == Difference(4, "length")
    assert first_difference(shorter, whole) == Difference(4, "length")
    other = Trajectory(Pool(12, 3), whole.steps)
    assert first_difference(whole, other) == Difference(0, "pool")
    assert len({whole.sha256, shorter.sha256, other.sha256}) == 3


def recorded(
    view: StepView, tokens: tuple[int, ...] | None = None, logits: np.ndarray | None = None
) -> Parts:
    recorder = Recorder(Pool(12, 2))
    return recorder.record(
        view.execution.ledger,
        view.work,
        view.logits if logits is None else logits,
        view.tokens if tokens is None else tokens,
    )


def differing(a: Parts, b: Parts) -> list[str]:
    return [name for name, mine, its in zip(Parts._fields, a, b, strict=True) if mine != its]


@dataclass
class Planting:
    """Compares, in step 3, the parts as they are with the parts after a small change."""

    found: dict[str, list[str]] = field(default_factory=dict)

    def after_step(self, view: StepView) -> None:
        if view.step != 3:
            return
        parts, ledger = recorded(view), view.execution.ledger
        pool, state = ledger.pool, ledger.state

        for byte in (0, view.logits.nbytes - 1):
            data = bytearray(view.logits.tobytes())
            data[byte] ^= 1
            logits = np.frombuffer(bytes(data), dtype=np.float32).reshape(view.logits.shape)
            self.found[f"logit byte {byte}"] = differing(parts, recorded(view, logits=logits))
        zeros = [np.full((1, 2), zero, dtype=np.float32) for zero in (0.0, -0.0)]
        one, other = (recorded(view, logits=zero) for zero in zeros)
        self.found["sign of zero"] = differing(one, other)
        tokens = (view.tokens[0], view.tokens[1] ^ 1)
        self.found["token"] = differing(parts, recorded(view, tokens))

        works = list(view.work)
        for name, work in (
            ("order", works[::-1]),
            ("row's token", [works[0], works[1]._replace(tokens=(9,))]),
            ("slot", [works[0], works[1]._replace(table=works[1].table[::-1])]),
            ("output row", [works[0]._replace(emits=False), works[1]]),
        ):
            changed = replace(view, work=tuple(work))
            emitted = view.tokens[: sum(item.emits for item in work)]
            self.found[name] = differing(parts, recorded(changed, emitted))

        pool.references[11] += 1
        self.found["references"] = differing(parts, recorded(view))
        pool.references[11] -= 1
        pool.written[11] += 1
        self.found["written"] = differing(parts, recorded(view))
        pool.written[11] -= 1
        ledger.state = replace(state, queue=(*state.queue, 1))
        self.found["queue"] = differing(parts, recorded(view))
        ledger.state = state
        block, digest = ledger.index.entries()[0]
        ledger.index.withdraw(block)
        self.found["no entry"] = differing(parts, recorded(view))
        ledger.index.offer(block, bytes([digest[0] ^ 1]) + digest[1:])
        self.found["entry's hash"] = differing(parts, recorded(view))
        ledger.index.withdraw(block)
        ledger.index.offer(block, digest)
        assert recorded(view) == parts


def test_one_byte_changes_its_part_alone(model: Model, schedule: MakeSchedule) -> None:
    planting = Planting()
    execute(model, WORKLOAD, schedule(12, 2, *STEPS), planting)
    logit_bytes = [name for name in planting.found if name.startswith("logit byte")]
    assert len(logit_bytes) == 2
    assert planting.found == {
        **{name: ["logits"] for name in (*logit_bytes, "sign of zero")},
        "token": ["emitted"],
        "order": ["emitted", "work"],
        "row's token": ["work"],
        "slot": ["work"],
        "output row": ["emitted", "work"],
        "references": ["ledger"],
        "written": ["ledger"],
        "queue": ["ledger"],
        "no entry": ["prefixes"],
        "entry's hash": ["prefixes"],
    }


def test_the_first_difference_of_two_schedules(model: Model, schedule: MakeSchedule) -> None:
    run = execute(model, WORKLOAD, schedule(12, 2, *STEPS))
    later = (*STEPS[:3], "resume b, decode a, decode b", *STEPS[4:])
    other = execute(model, WORKLOAD, schedule(12, 2, *later))
    # The same tokens in another order of rows.
    assert first_difference(run.trajectory, other.trajectory) == Difference(3, "emitted")
    assert run.outputs == other.outputs
