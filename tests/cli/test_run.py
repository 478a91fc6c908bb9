"""`lockstep workload`, `schedule` and `run` as people meet them, on a tiny model."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from lockstep.cli import main
from lockstep.engine.execute import Execution
from lockstep.engine.record import PARTIAL, parse_trajectory, trajectory_document
from lockstep.engine.tiny import make_tiny
from lockstep.schedule.schedule import read_schedule
from lockstep.schedule.simulate import check
from lockstep.schedule.workload import read_workload


class Lockstep:
    """Runs commands in a folder of its own, in this process."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path
    ) -> None:
        self._monkeypatch, self._capsys, self.folder = monkeypatch, capsys, folder
        monkeypatch.chdir(folder)

    def __call__(self, *arguments: str, exit: int = 0) -> str:
        """Run a command that ends in this status, and give what it printed."""
        self._monkeypatch.setattr(sys, "argv", ["lockstep", *arguments])
        status = main()
        printed = self._capsys.readouterr()
        assert status == exit, printed.out + printed.err
        return printed.out + printed.err


@pytest.fixture
def lockstep(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Lockstep:
    """A folder with a model and a workload of four requests."""
    make_tiny(tmp_path / "tiny")
    run = Lockstep(monkeypatch, capsys, tmp_path)
    make = "workload make --kind prefixes --requests 4 --block-size 8 --max-new 5 --seed 2"
    run(*make.split(), "-o", "w.json")
    return run


def load(path: Path) -> Any:
    return json.loads(path.read_bytes())


def edited(folder: Path, name: str, edit: Any) -> str:
    """Write a changed copy of a document and give its name."""
    document = load(folder / name)
    edit(document)
    (folder / "bad.json").write_text(json.dumps(document), "utf-8")
    return "bad.json"


MODEL = ("run", "--model", "tiny", "--workload", "w.json")


def test_a_recorded_schedule_gives_the_same_run(lockstep: Lockstep) -> None:
    policy = ("--policy", "swarm", "--seed", "5", "--block-size", "8", "--blocks", "8")
    made = lockstep(*MODEL, *policy, "--out", "one")
    again = lockstep(*MODEL, "--schedule", "one/schedule.json", "--out", "two")
    assert made.replace("to one", "to two") == again
    folder = lockstep.folder
    for name in ("workload.json", "schedule.json", "trajectory.json", "run.json"):
        assert (folder / "one" / name).read_bytes() == (folder / "two" / name).read_bytes()
    run, trajectory = load(folder / "one/run.json"), load(folder / "one/trajectory.json")
    assert run["workload_sha256"] == read_workload(folder / "w.json").sha256
    assert run["schedule_sha256"] == read_schedule(folder / "one/schedule.json").sha256
    assert run["trajectory_sha256"] == trajectory["sha256"] == trajectory["steps"][-1]["chain"]
    assert trajectory_document(parse_trajectory(trajectory)) == trajectory
    assert (run["backend"], run["dtype"]) == ("host", "float32")
    workload = read_workload(folder / "w.json")
    for request, output in zip(workload.requests, run["outputs"], strict=True):
        assert output["request"] == request.id
        assert output["reason"] in ("length", "eos")
        assert len(output["tokens"]) == len(output["logit_digests"]) > 0
        assert f"{request.id}: {len(output['tokens'])} tokens, {output['reason']}" in made


def test_policies_agree_on_tokens_and_not_on_trajectories(lockstep: Lockstep) -> None:
    outputs, trajectories = [], set()
    for name in ("canonical", "continuous", "adversarial"):
        lockstep(*MODEL, "--policy", name, "--block-size", "8", "--out", name)
        run = load(lockstep.folder / name / "run.json")
        outputs.append(run["outputs"])
        trajectories.add(run["trajectory_sha256"])
    assert outputs[0] == outputs[1] == outputs[2]
    # This model's end of sequence is reached by a request that heeds it.
    assert {output["reason"] for output in outputs[0]} == {"eos", "length"}
    assert len(trajectories) == 3


def ignore_ends(document: Any) -> None:
    for request in document["requests"]:
        request["ignore_eos"] = True


def test_schedules_are_made_and_checked_without_a_model(lockstep: Lockstep) -> None:
    make = "schedule make w.json --policy adversarial --block-size 8 -o s.json"
    made = lockstep(*make.split())
    checked = lockstep("schedule", "check", "w.json", "s.json")
    assert made.splitlines()[:2] == checked.splitlines()[:2]
    assert checked.splitlines()[-1] == "legal"
    # A model may end a request sooner than a schedule that was made without it knows.
    told = lockstep(*MODEL, "--schedule", "s.json", exit=3)
    assert "REQUEST_ENDED at s.json:/steps/" in told
    ignoring = edited(lockstep.folder, "w.json", ignore_ends)
    ran = lockstep("run", "--model", "tiny", "--workload", ignoring, "--schedule", "s.json")
    assert read_schedule(lockstep.folder / "s.json").sha256 in ran
    shown = lockstep("workload", "show", "w.json")
    assert read_workload(lockstep.folder / "w.json").sha256 in shown


def test_texts_become_a_workload(lockstep: Lockstep) -> None:
    lockstep("workload", "text", "--model", "tiny", "-o", "t.json", "Once upon", "a é")
    prompts = [request.prompt for request in read_workload(lockstep.folder / "t.json").requests]
    assert prompts == [tuple(b"Once upon"), tuple("a é".encode())]
    assert "r1: 16 tokens" in lockstep("run", "--model", "tiny", "--workload", "t.json")


def interrupted(monkeypatch: pytest.MonkeyPatch, steps: int) -> None:
    """Let Ctrl-C come within the step after so many."""
    ended = Execution.end_step

    def end_step(self: Execution) -> None:
        if self.ledger.step == steps:
            raise KeyboardInterrupt
        ended(self)

    monkeypatch.setattr(Execution, "end_step", end_step)


def test_ctrl_c_leaves_the_steps_that_were_taken(
    lockstep: Lockstep, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = ("--policy", "adversarial", "--block-size", "8")
    whole = lockstep(*MODEL, *policy, "--out", "whole")
    with monkeypatch.context() as patch:
        interrupted(patch, 4)
        told = lockstep(*MODEL, *policy, "--out", "cut", exit=2)
        assert "4 steps were taken; cut/schedule.partial.json has them" in told
        assert "interrupted; nothing half-written is left." in told
        assert "nothing is kept of them" in lockstep(*MODEL, *policy, exit=2)
    folder = lockstep.folder
    assert [path.name for path in (folder / "cut").iterdir()] == [PARTIAL]
    kept = read_schedule(folder / "cut" / PARTIAL)
    assert kept.steps == read_schedule(folder / "whole/schedule.json").steps[:4]
    check(read_workload(folder / "w.json"), kept, partial=True)
    refused = lockstep(*MODEL, "--schedule", f"cut/{PARTIAL}", "--out", "none", exit=3)
    assert "SCHEDULE_UNFINISHED at cut/schedule.partial.json:/steps" in refused
    assert not (folder / "none").exists()
    again = lockstep(*MODEL, "--schedule", f"cut/{PARTIAL}", "--unfinished", "--out", "cut")
    assert "unfinished" in again
    assert whole != again
    assert not (folder / "cut" / PARTIAL).exists()
    beginning = load(folder / "cut/trajectory.json")["steps"]
    assert beginning == load(folder / "whole/trajectory.json")["steps"][:4]


def test_bad_input_is_told_with_file_and_place(lockstep: Lockstep) -> None:
    folder = lockstep.folder
    lockstep("schedule", "make", "w.json", "--block-size", "8", "-o", "s.json")

    def token(document: Any) -> None:
        document["requests"][1]["prompt"][3] = 256

    bad = edited(folder, "w.json", token)
    told = lockstep("run", "--model", "tiny", "--workload", bad, "--out", "none", exit=3)
    assert "TOKEN_OUT_OF_RANGE at bad.json:/requests/1/prompt/3" in told

    def unknown(document: Any) -> None:
        document["steps"][0][0]["request"] = "zz"

    bad = edited(folder, "s.json", unknown)
    told = lockstep(*MODEL, "--schedule", bad, "--out", "none", exit=3)
    assert "REQUEST_UNKNOWN at bad.json:/steps/0/0" in told

    def illegal(document: Any) -> None:
        document["steps"][0].insert(0, {"event": "decode", "request": "r0"})

    bad = edited(folder, "s.json", illegal)
    told = lockstep(*MODEL, "--schedule", bad, "--out", "none", exit=3)
    assert "EVENT_NOT_ALLOWED at bad.json:/steps/0/0" in told
    assert "decode of r0" in told
    told = lockstep("schedule", "check", "w.json", bad, exit=3)
    assert "EVENT_NOT_ALLOWED at bad.json:/steps/0/0" in told
    told = lockstep(*MODEL, "--blocks", "2", "--out", "none", exit=3)
    assert "REQUEST_NEVER_FITS" in told
    assert not (folder / "none").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--schedule", "s.json", "--policy", "swarm"), "--policy"),
        (("--schedule", "s.json", "--seed", "1"), "--seed"),
        (("--schedule", "s.json", "--blocks", "9"), "--blocks"),
        (("--schedule", "s.json", "--block-size", "9"), "--block-size"),
        (("--seed", "1"), "the policy swarm"),
        (("--unfinished",), "a policy finishes every request"),
        (("--out", "w.json"), "is no folder"),
        (("--backend", "other"), "one of host"),
    ],
)
def test_options_that_do_not_go_together_are_usage(
    lockstep: Lockstep, arguments: tuple[str, ...], told: str
) -> None:
    assert told in lockstep(*MODEL, *arguments, exit=2)


def test_an_unknown_policy_is_refused(lockstep: Lockstep) -> None:
    assert "one of canonical" in lockstep(*MODEL, "--policy", "other", exit=2)
