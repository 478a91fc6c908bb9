"""The engine's thread: what it records, how executions turn over, and what a fault leaves."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lockstep.engine.execute import execute
from lockstep.engine.model import Model
from lockstep.engine.opening import open_model
from lockstep.engine.sampling import Sampling
from lockstep.engine.tiny import TinyModel, make_tiny
from lockstep.errors import LockstepError
from lockstep.lifecycle import Pool
from lockstep.schedule.schedule import read_schedule
from lockstep.schedule.workload import Request, read_workload
from lockstep.serve import served
from lockstep.serve.engine import Engine
from lockstep.serve.policy import Driving
from lockstep.serve.served import Updates
from lockstep.serve.ticket import Ticket, Update

POOL = Pool(24, 8)


@pytest.fixture(scope="module")
def model() -> Model:
    return open_model(TinyModel()).model


class Bench:
    """An engine, and all that it tells."""

    def __init__(self, model: Model, **options: Any) -> None:
        self.told: dict[str, list[Update]] = {}
        self.lines: list[tuple[str, str]] = []
        self._changed = threading.Condition()
        driving = options.pop("driving", Driving(max_batch=8, chunk_tokens=32))
        self.engine = Engine(
            model,
            POOL,
            driving,
            1000,
            self._deliver,
            lambda *line: self.lines.append(line),
            **options,
        )
        self.engine.start()
        self._serial = 0

    def ask(self, count: int, **fields: Any) -> list[Ticket]:
        tickets = []
        for _ in range(count):
            self._serial += 1
            n = self._serial
            given: dict[str, Any] = {
                "prompt": tuple((n * 5 + place) % 250 + 1 for place in range(1 + n * 3 % 30)),
                "max_new": 6,
                "sampling": Sampling("0.8", seed=n),
                **fields,
            }
            tickets.append(Ticket(Request(f"c0.{n}", **given), lambda update: None))
        self.engine.submit(tickets)
        return tickets

    def wait(self, tickets: list[Ticket]) -> list[Update]:
        names = [ticket.request.id for ticket in tickets]

        def ended() -> bool:
            return all(name in self.told and self.told[name][-1].last for name in names)

        with self._changed:
            assert self._changed.wait_for(ended, 120)
        return [self.told[name][-1] for name in names]

    def idle(self) -> None:
        end = time.monotonic() + 60
        while self.engine.figures.running:
            assert time.monotonic() < end
            time.sleep(0.005)

    def _deliver(self, updates: Updates) -> None:
        with self._changed:
            for ticket, update in updates:
                self.told.setdefault(ticket.request.id, []).append(update)
            self._changed.notify_all()


@pytest.fixture
def bench(model: Model) -> Iterator[Any]:
    made: list[Bench] = []

    def make(**options: Any) -> Bench:
        made.append(Bench(model, **options))
        return made[-1]

    yield make
    for one in made:
        one.engine.stop()


@pytest.mark.parametrize("policy", ["continuous", "adversarial", "swarm"])
def test_what_was_served_is_executed_again(
    bench: Any, model: Model, tmp_path: Path, policy: str
) -> None:
    driving = Driving(policy, max_batch=6, chunk_tokens=20, seed=5)
    one = bench(record=tmp_path, driving=driving)
    first = one.ask(9)
    one.wait(first[:2])
    one.wait([*first, *one.ask(6, ignore_eos=True)])
    one.engine.reset().result(60)
    one.wait(one.ask(3))
    one.idle()
    one.engine.stop()
    folders = sorted(tmp_path.iterdir())
    assert [folder.name for folder in folders] == ["execution-000001", "execution-000002"]
    for folder in folders:
        workload = read_workload(folder / "workload.json")
        run = execute(model, workload, read_schedule(folder / "schedule.json"))
        stated = json.loads((folder / "run.json").read_text())
        assert stated["trajectory_sha256"] == run.trajectory.sha256
        for output in stated["outputs"]:
            told = [update.token for update in one.told[output["request"]]]
            assert told == output["tokens"]
            assert output["tokens"] == list(run.outputs[output["request"]].tokens)


def test_the_command_runs_a_record_again_to_the_byte(
    bench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    from lockstep.cli import main

    one = bench(record=tmp_path / "kept")
    one.wait(one.ask(5))
    one.idle()
    one.engine.stop()
    kept = tmp_path / "kept" / "execution-000001"
    make_tiny(tmp_path / "tiny")
    files = ["--workload", str(kept / "workload.json"), "--schedule", str(kept / "schedule.json")]
    out = tmp_path / "again"
    command = ["lockstep", "run", "--model", str(tmp_path / "tiny"), *files, "--out", str(out)]
    monkeypatch.setattr(sys, "argv", command)
    assert main() == 0
    for name in ("workload.json", "schedule.json", "trajectory.json", "run.json"):
        assert (out / name).read_bytes() == (kept / name).read_bytes()


def test_a_stop_tells_those_who_wait_and_keeps_what_was_done(
    bench: Any, model: Model, tmp_path: Path
) -> None:
    one = bench(record=tmp_path, driving=Driving(max_batch=2))
    tickets = one.ask(3, max_new=100, ignore_eos=True, prompt=(1, 2))
    while not one.told:
        time.sleep(0.001)
    one.engine.stop()
    assert [update.fault.code for update in one.wait(tickets)] == ["SERVER_STOPPING"] * 3
    assert not one.engine.alive
    with pytest.raises(LockstepError, match="SERVER_STOPPING"):
        one.ask(1)
    with pytest.raises(LockstepError, match="SERVER_STOPPING"):
        one.engine.reset()
    folder = tmp_path / "execution-000001"
    workload = read_workload(folder / "workload.json")
    run = execute(model, workload, read_schedule(folder / "schedule.json"), partial=True)
    assert json.loads((folder / "run.json").read_text())["outputs"][0]["reason"] == "unfinished"
    assert run.unfinished == ("c0.1", "c0.2")


def test_a_fault_fails_its_execution_and_the_next_one_serves(
    bench: Any, model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = bench(record=tmp_path)
    forward = Model.hidden
    calls = []

    def broken(self: Model, *arguments: Any) -> Any:
        calls.append(1)
        if len(calls) == 3:
            raise LockstepError("KERNEL_INPUT", "/planted")
        return forward(self, *arguments)

    monkeypatch.setattr(Model, "hidden", broken)
    failed = one.wait(one.ask(2, ignore_eos=True))
    assert [update.fault.code for update in failed] == ["KERNEL_INPUT"] * 2
    assert [update.reason for update in one.wait(one.ask(2, ignore_eos=True))] == ["length"] * 2
    assert one.engine.figures.failures == 1
    assert one.engine.figures.outcomes == {"failed": 2, "length": 2}
    folder = tmp_path / "execution-000001"
    assert sorted(path.name for path in folder.iterdir()) == [
        "schedule.partial.json",
        "workload.json",
    ]
    schedule = read_schedule(folder / "schedule.partial.json")
    assert len(schedule.steps) == 3
    execute(model, read_workload(folder / "workload.json"), schedule, partial=True)


def test_a_defect_that_has_no_code_is_told_as_internal(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = bench()
    monkeypatch.setattr(served, "score", lambda *arguments: 1 // 0)
    [failed] = one.wait(one.ask(1))
    assert failed.fault.code == "INTERNAL"
    assert "ZeroDivisionError" in str(failed.fault)
    monkeypatch.undo()
    assert one.wait(one.ask(1))[0].fault is None


def test_a_request_that_never_fits_fails_alone(bench: Any) -> None:
    one = bench()
    beside = one.ask(1, ignore_eos=True)
    with pytest.raises(LockstepError, match="REQUEST_NEVER_FITS"):
        one.engine.check(Ticket(Request("c0.9", (1,) * 300, 1), lambda update: None))
    # Past that check the execution refuses it anew, and nobody else is touched.
    [never] = one.wait(one.ask(1, prompt=(1,) * 300))
    assert never.fault.code == "REQUEST_NEVER_FITS"
    assert one.wait(beside)[0].reason == "length"
    assert one.engine.figures.failures == 0


def test_an_idle_engine_begins_anew_after_its_bound(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(served, "EXECUTION_REQUESTS", 3)
    one = bench()
    for _ in range(4):
        one.wait(one.ask(2))
        one.idle()
    assert one.engine.figures.executions == 2


def test_a_full_execution_lets_nobody_in_till_it_has_ended(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(served, "EXECUTION_REQUESTS", 4)
    monkeypatch.setattr(served, "EXECUTION_REQUESTS_MOST", 4)
    one = bench(driving=Driving(max_batch=3))
    tickets = one.ask(11)
    assert all(update.fault is None for update in one.wait(tickets))
    assert one.engine.figures.executions == 3
    assert [ticket.execution for ticket in tickets] == [1] * 4 + [2] * 4 + [3] * 3


def test_events_bound_an_execution_too(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served, "EXECUTION_EVENTS", 10)
    monkeypatch.setattr(served, "EXECUTION_EVENTS_MOST", 10)
    one = bench(driving=Driving(max_batch=1))
    one.wait(one.ask(6, ignore_eos=True))
    assert one.engine.figures.executions > 1


def test_what_waits_outside_is_forgotten_when_dropped(bench: Any) -> None:
    one = bench(driving=Driving(max_batch=1))
    running, *waiting = one.ask(3, max_new=60, ignore_eos=True, prompt=(1, 2))
    while not one.told:
        time.sleep(0.001)
    for ticket in waiting:
        one.engine.drop(ticket)
        one.engine.drop(ticket)
    assert one.wait([running])[0].reason == "length"
    one.idle()
    assert one.engine.figures.outcomes == {"dropped": 2, "length": 1}
    assert set(one.told) == {running.request.id}
    assert one.engine.figures.waiting == 0


def test_a_record_that_cannot_be_written_ends_the_server(bench: Any, tmp_path: Path) -> None:
    one = bench(record=tmp_path / "kept")
    one.wait(one.ask(1))
    one.idle()
    (tmp_path / "kept").write_text("in the way")
    with pytest.raises(LockstepError, match="SERVER_STOPPING"):
        one.engine.reset().result(60)
    assert not one.engine.alive
    assert any(event == "engine_ended" for event, _ in one.lines)
