"""Starting and stopping a server, and learning from its own interpreter what it is."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from lockstep.certify.config import Command
from lockstep.certify.observation import Named
from lockstep.errors import LockstepError

STOP_SECONDS = 30
"""For a server to end after SIGTERM; then it is killed."""
KEPT_LINES = 2000
"""Lines of output that are kept: a start tells in the first of them what it is."""
STARTUP_LINES = 64
"""Of these, how many a certificate holds."""
READY_PATHS = ("/health", "/v1/models")
"""Paths that a server answers when it takes requests, in the order in which they are tried."""

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_PATH = re.compile(r"(?<![\w.:/])(?:~|\.{1,2})?(?:/[\w.+@-]+)+/?")
_UNPRINTABLE = re.compile(r"[^ -~]+")
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_VERSIONS = """
import importlib.metadata, json, platform, sys
found = {}
for name in sys.argv[1:]:
    try:
        found[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        pass
told = f"{platform.python_implementation()} {platform.python_version()}"
print(json.dumps({"interpreter": told, "distributions": found}))
"""


@dataclass
class Started:
    """A server that runs.

    Attributes:
        url: where it is.
        process: of the server.
        lines: of its output, standard output and standard error as they came.
        reader: takes them.
    """

    url: str
    process: subprocess.Popen[str]
    lines: list[str] = field(default_factory=list)
    reader: threading.Thread | None = None


@dataclass(frozen=True)
class Interpreter:
    """What the interpreter of a server says of itself.

    Attributes:
        interpreter: implementation and version; None where the command runs none.
        distributions: versions of those that it has, by ascending name.
    """

    interpreter: str | None
    distributions: tuple[Named, ...]


@asynccontextmanager
async def launched(
    command: Command, endpoint: str | None, tell: Callable[[str], None]
) -> AsyncIterator[Started]:
    """Start a server, wait until it answers, and stop it in the end, whatever the end is.

    Args:
        command: what to start.
        endpoint: URL at which it will be; None where the command has `{port}`.
        tell: takes a line for people.

    Raises:
        LockstepError: USAGE, the command cannot be run or says no port; ENDPOINT_DOWN, it ended
            or did not answer in time; its last lines are told.
    """
    text, url = command.text, endpoint
    if "{port}" in text:
        port = _free_port()
        text, url = text.replace("{port}", str(port)), f"http://127.0.0.1:{port}"
    if url is None:
        hint = "Write {port} where the command has the port, or give --endpoint."
        raise LockstepError("USAGE", "--launch", "a command with a port", None, hint)
    started = _start(text, command, url)
    try:
        await _ready(started, command.ready_seconds, tell)
        yield started
    finally:
        await asyncio.shield(asyncio.to_thread(_stop, started))


def _start(text: str, command: Command, url: str) -> Started:
    arguments, environment = parted(text)
    try:
        process = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            env={**os.environ, **command.environment, **environment, "PYTHONUNBUFFERED": "1"},
            # Ctrl-C is the certifier's; it stops the server itself, with all of its processes.
            start_new_session=True,
        )
    except OSError as fault:
        told = f"{arguments[0]}: {fault.strerror}"
        raise LockstepError("USAGE", "--launch", "a command that can be run", told) from None
    started = Started(url, process)
    started.reader = threading.Thread(target=_drain, args=(started,), daemon=True)
    started.reader.start()
    return started


def _drain(started: Started) -> None:
    """Read all output, so that the server never waits for a reader; keep the first lines."""
    if started.process.stdout is None:
        return
    for line in started.process.stdout:
        if len(started.lines) < KEPT_LINES:
            started.lines.append(line.rstrip("\n"))


async def _ready(started: Started, seconds: int, tell: Callable[[str], None]) -> None:
    import httpx

    loop = asyncio.get_running_loop()
    end, told = loop.time() + seconds, loop.time() + 10
    async with httpx.AsyncClient(base_url=started.url, trust_env=False, timeout=5) as client:
        while True:
            if started.process.poll() is not None:
                raise _down(started, f"it ended with status {started.process.returncode}")
            for path in READY_PATHS:
                with suppress(httpx.HTTPError):
                    # 401 is an answer, too: the key is none of this wait's business.
                    if (await client.get(path)).status_code in (200, 401, 403):
                        return
            if loop.time() > end:
                raise _down(started, f"it did not answer within {seconds} s")
            if loop.time() > told:
                told += 30
                tell("waiting for the server to be ready")
            await asyncio.sleep(0.1)


def _down(started: Started, what: str) -> LockstepError:
    last = [line for line in plain(started.lines) if line.strip()][-1:]
    hint = f"Its last line: {last[0]}" if last else "It said nothing."
    return LockstepError("ENDPOINT_DOWN", "--launch", "a server that answers", what, hint)


def _stop(started: Started) -> None:
    """End the server and all processes that it started."""
    process = started.process
    for number, seconds in ((signal.SIGTERM, STOP_SECONDS), (signal.SIGKILL, STOP_SECONDS)):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
            break
    # Whatever the server left behind of its own group ends as well.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    if started.reader is not None:
        started.reader.join(STOP_SECONDS)
    if process.stdout is not None and not (started.reader and started.reader.is_alive()):
        process.stdout.close()


def _free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return int(bound.getsockname()[1])


def parted(text: str) -> tuple[list[str], dict[str, str]]:
    """Give a command's words, and the variables that it begins with.

    Raises:
        LockstepError: USAGE, it has no words, or quotes that are not closed.
    """
    try:
        words = shlex.split(text)
    except ValueError as fault:
        raise LockstepError("USAGE", "--launch", "a command", str(fault)) from None
    environment: dict[str, str] = {}
    while words and (match := _ASSIGNMENT.fullmatch(words[0])):
        environment[match[1]] = match[2]
        words.pop(0)
    if not words:
        raise LockstepError("USAGE", "--launch", "a command", "none")
    return words, environment


def shown(text: str, hide: Callable[[str], str]) -> str:
    """Give a command without paths of this machine, without keys, at most 400 characters."""
    return plain([hide(text)])[0][:400]


def plain(lines: Sequence[str]) -> list[str]:
    """Give lines in printable ASCII, of paths only the last part."""
    found = []
    for line in lines:
        text = _UNPRINTABLE.sub(" ", _ANSI.sub("", line))
        found.append(_PATH.sub(lambda match: match[0].rstrip("/").rpartition("/")[2], text))
    return found


def startup_lines(
    started: Started, pattern: re.Pattern[str], hide: Callable[[str], str]
) -> tuple[str, ...]:
    """Give the lines of a server's output that say what it is; its URL is as the command has it."""
    wanted = [line.replace(started.url, "URL") for line in started.lines if pattern.search(line)]
    return tuple(line[:400].strip() for line in plain([hide(line) for line in wanted]))[
        :STARTUP_LINES
    ]


def read_interpreter(command: Command, names: Sequence[str]) -> Interpreter:
    """Ask the server's own interpreter what it is, and what it has.

    It is the one that the command runs, or that the first line of the script names that it runs.
    """
    words, environment = parted(command.text.replace("{port}", "0"))
    path = command.interpreter or interpreter_of(words[0])
    if path is None:
        return Interpreter(None, ())
    try:
        done = subprocess.run(
            [path, "-c", _VERSIONS, *names],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
            env={**os.environ, **command.environment, **environment},
        )
        told = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return Interpreter(None, ())
    versions = sorted(told["distributions"].items())
    return Interpreter(
        plain([told["interpreter"]])[0],
        tuple(Named(name, plain([version])[0]) for name, version in versions),
    )


def interpreter_of(program: str) -> str | None:
    """Give the Python that a program is, or that its first line names; None where it is neither."""
    found = shutil.which(program)
    if found is None:
        return None
    if re.fullmatch(r"(python|pypy)[0-9.]*", Path(found).name):
        return found
    try:
        with open(found, "rb") as file:
            first = file.readline(4096).decode("utf-8", "replace")
    except OSError:
        return None
    match = re.match(r"#!\s*(\S*(?:python|pypy)[0-9.]*)\s*$", first)
    if match is not None:
        return match[1]
    named = re.match(r"#!\s*\S*/env\s+((?:python|pypy)[0-9.]*)\s*$", first)
    return shutil.which(named[1]) if named else None
