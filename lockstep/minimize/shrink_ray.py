"""Shrink Ray over the units of a case, as a program of its own.

It is given a file with a unit a line, and a test that asks this process whether a file is
interesting: it needs another Python than this package may run on, and brings much with it.
"""

from __future__ import annotations

import selectors
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from lockstep.errors import LockstepError
from lockstep.fuzz.case import Case
from lockstep.limits import DOCUMENT_BYTES
from lockstep.minimize.memo import Memo

PROGRAM = "shrinkray"
OPTIONS = (
    *("--ui", "basic", "--volume", "quiet", "--formatter", "none", "--input-type", "arg"),
    *("--parallelism", "1", "--timeout", "600", "--assume-deterministic", "--no-history"),
    *("--no-llm", "--trivial-is-not-error"),
)
"""What it is told: one test at a time, each of which it may trust, and nothing but deletions and
what else it knows of files; no model is asked."""

_TEST = """#!{python}
import socket, sys
asked = socket.socket(socket.AF_UNIX)
asked.connect({address!r})
with open(sys.argv[1], "rb") as file:
    asked.sendall(file.read())
asked.shutdown(socket.SHUT_WR)
sys.exit(asked.recv(1) != b"1")
"""


def missing() -> str:
    """Say why it does not run here; empty where it does."""
    if shutil.which(PROGRAM):
        return ""
    return f"no program {PROGRAM} on the PATH; it needs Python 3.12 or later"


def reduce_units(count: int, build: Callable[[list[int]], Case | None], memo: Memo) -> Case:
    """Let it reduce a list of units.

    Args:
        count: of the units, which are named by their place.
        build: gives the case of some units, None where nothing would be left.
        memo: tests.

    Raises:
        LockstepError: LIBRARY_MISSING, there is no such program; WORKER_ENDED, it failed.
    """
    program = shutil.which(PROGRAM)
    if program is None:
        raise LockstepError("LIBRARY_MISSING", PROGRAM, "a program on the PATH", "none")
    with tempfile.TemporaryDirectory() as scratch, socket.socket(socket.AF_UNIX) as server:
        address, test, file = (Path(scratch, name) for name in ("s", "test", "units"))
        server.bind(str(address))
        server.listen()
        test.write_text(_TEST.format(python=sys.executable, address=str(address)), "ascii")
        test.chmod(0o700)
        file.write_text("".join(f"{number}\n" for number in range(count)), "ascii")
        command = [program, *OPTIONS, str(test), str(file)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            _answer(server, process, lambda text: _interesting(text, count, build, memo))
        finally:
            process.kill()
            _, said = process.communicate()
        if process.returncode:
            got = said.decode("utf-8", "replace")[-200:] or f"status {process.returncode}"
            raise LockstepError("WORKER_ENDED", PROGRAM, "a reduced file", got)
        kept = _units(file.read_bytes(), count)
    reduced = None if kept is None else build(kept)
    if reduced is None:
        raise LockstepError("WORKER_ENDED", PROGRAM, "a reduced file", "one of another form")
    return reduced


def _answer(
    server: socket.socket, process: subprocess.Popen[bytes], interesting: Callable[[bytes], bool]
) -> None:
    """Answer tests, one at a time, until the program ends."""
    with selectors.DefaultSelector() as ready:
        ready.register(server, selectors.EVENT_READ)
        while process.poll() is None:
            if not ready.select(timeout=0.05):
                continue
            asked, _ = server.accept()
            with asked:
                text = b""
                while len(text) <= DOCUMENT_BYTES and (more := asked.recv(1 << 16)):
                    text += more
                asked.sendall(b"1" if interesting(text) else b"0")


def _interesting(
    text: bytes, count: int, build: Callable[[list[int]], Case | None], memo: Memo
) -> bool:
    kept = _units(text, count)
    case = None if kept is None else build(kept)
    return case is not None and memo.outcome(case).reproduces


def _units(text: bytes, count: int) -> list[int] | None:
    """Give the units that a file names, ascending; None where it holds anything else."""
    words = text.split()
    if not all(word.isdigit() and len(word) < 10 for word in words):
        return None
    kept = sorted({int(word) for word in words})
    return None if len(kept) < len(words) or any(unit >= count for unit in kept) else kept
