"""A server as a process: its first line, its signals, its faults, and what it cannot do."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from lockstep.errors import LockstepError
from lockstep.serve import run

COMMAND = [
    sys.executable,
    "-c",
    "import sys; from lockstep.cli import main; sys.exit(main())",
    "serve",
]


def begin(*options: str, **variables: str) -> tuple[subprocess.Popen[str], str, list[str]]:
    """Start a server, and give it with its URL and the lines before that."""
    process = subprocess.Popen(
        [*COMMAND, "--tiny", "--port", "0", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **variables},
    )
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        if line.startswith("lockstep: serving at "):
            return process, line.split()[-1], lines
        lines.append(line)
    raise AssertionError(process.communicate())


def end(process: subprocess.Popen[str], number: int) -> tuple[int, str]:
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    return process.returncode, said


def refused(*options: str) -> tuple[int, str]:
    done = subprocess.run(
        [*COMMAND, *options], capture_output=True, text=True, timeout=60, check=False
    )
    return done.returncode, done.stderr


def test_a_signal_lets_running_requests_end_and_keeps_the_record(tmp_path: Path) -> None:
    options = ["--log", "json", "--record", str(tmp_path / "kept"), "--api-key-env", "K_OF_TEST"]
    process, url, lines = begin(*options, K_OF_TEST="hush-hush")
    assert lines == []
    body = {"model": "lockstep-tiny", "prompt": "a", "max_tokens": 150, "ignore_eos": True}
    key = {"Authorization": "Bearer hush-hush"}
    with httpx.stream(
        "POST", f"{url}/v1/completions", json={**body, "stream": True}, headers=key, timeout=30
    ) as answer:
        words = answer.iter_lines()
        next(words)
        process.send_signal(signal.SIGTERM)
        assert [word for word in words if word][-1] == "data: [DONE]"
    _, said = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "hush-hush" not in said
    events = [json.loads(line)["event"] for line in said.splitlines()]
    assert "execution_recorded" in events
    assert (tmp_path / "kept" / "execution-000001" / "run.json").exists()
    served = json.loads((tmp_path / "kept" / "server.json").read_text())
    assert (served["mode"], served["fault"]) == ("invariant", None)


def test_a_fault_is_in_force_and_told_everywhere() -> None:
    options = ["--pool-blocks", "2", "--block-size", "32", "--fault", "never_fitting_accepted"]
    process, url, lines = begin(*options)
    try:
        assert lines == []
        version = httpx.get(f"{url}/version").json()
        assert (version["fault"], version["batch_invariant"]) == ("never_fitting_accepted", False)
        body: dict[str, Any] = {"model": "lockstep-tiny", "prompt": [1] * 61, "max_tokens": 4}
        wedged = httpx.post(f"{url}/v1/completions", json=body, timeout=30)
        # The engine as it is refuses it with 422; under the fault it is let in and goes nowhere.
        assert (wedged.status_code, wedged.json()["error"]["code"]) == (500, "POLICY_STUCK")
        fine = httpx.post(f"{url}/v1/completions", json={**body, "prompt": "a"}, timeout=30).json()
        assert fine["system_fingerprint"].endswith("fault:never_fitting_accepted")
        assert fine["lockstep"]["fault"] == "never_fitting_accepted"
        assert 'fault="never_fitting_accepted"' in httpx.get(f"{url}/metrics").text
    finally:
        status, said = end(process, signal.SIGINT)
    assert status == 0
    assert "fault never_fitting_accepted: not batch-invariant" in said


def test_a_port_that_is_taken_is_told() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        status, said = refused("--tiny", "--port", str(taken.getsockname()[1]))
    assert (status, "ADDRESS_UNAVAILABLE" in said) == (2, True)
    assert "Traceback" not in said


def test_a_model_that_is_not_there_is_told(tmp_path: Path) -> None:
    status, said = refused("--model", str(tmp_path / "none"), "--port", "0")
    assert (status, "FILE_UNREADABLE" in said) == (2, True)
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--tiny", "--mode", "slow"], "USAGE"),
        (["--tiny", "--log", "xml"], "USAGE"),
        (["--tiny", "--metrics-compat", "tgi"], "USAGE"),
        (["--tiny", "--policy", "canonical"], "USAGE"),
        (["--tiny", "--api-key-env", "NOT_SET_IN_TESTS"], "USAGE"),
        (["--tiny", "--record", __file__], "USAGE"),
        (["--tiny", "--pool-blocks", "1048576", "--block-size", "4096"], "MEMORY_SHORT"),
    ],
)
def test_what_cannot_be_acted_on_is_told(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    code: str,
) -> None:
    from lockstep.cli import main

    monkeypatch.setattr(sys, "argv", ["lockstep", "serve", "--port", "0", *options])
    assert main() == 2
    assert code in capsys.readouterr().err


@pytest.mark.parametrize("options", [[], ["--tiny", "--model", "x"]])
def test_one_model_is_named(monkeypatch: pytest.MonkeyPatch, options: list[str]) -> None:
    from lockstep.cli import main

    monkeypatch.setattr(sys, "argv", ["lockstep", "serve", *options])
    assert main() == 2


def test_a_missing_library_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "LIBRARIES", ("no_such_library_here",))
    with pytest.raises(LockstepError) as caught:
        run.require_libraries()
    assert (caught.value.code, caught.value.expected) == ("LIBRARY_MISSING", "no_such_library_here")


def test_an_address_has_a_url() -> None:
    with run.listen("127.0.0.1", 0) as bound:
        assert run.url_of(bound) == f"http://127.0.0.1:{bound.getsockname()[1]}"
    with pytest.raises(LockstepError, match="ADDRESS_UNAVAILABLE"):
        run.listen("192.0.2.1", 0)


@pytest.mark.parametrize(("host", "alone"), [("127.0.0.1", True), ("0.0.0.0", False)])
def test_an_address_of_this_machine_alone_is_told_from_others(host: str, alone: bool) -> None:
    with run.listen(host, 0) as bound:
        assert run.is_loopback(bound) is alone


def test_an_answer_does_not_wait_for_an_acknowledgement() -> None:
    """A kernel delays one for 40 ms at least, which hides from a gauge what runs in between."""
    process, url, _ = begin()
    try:
        with httpx.Client(base_url=url) as client:
            taken = [client.get("/metrics").elapsed.total_seconds() for _ in range(20)]
        assert sorted(taken)[10] < 0.025
    finally:
        end(process, signal.SIGINT)
