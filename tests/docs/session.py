"""A shell in which a document's blocks run one after another, as a reader would run them."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Self

from tests.docs.documents import ROOT, Block, matches, steps

PORT = "8000"
"""The port that documents name; a session takes one that is free in its place."""
SECONDS = 900
"""The longest that a block may take."""
_NOT_SHOWN = frozenset({".git", ".venv", "results", "build", "dist", ".lake", "lockstep.toml"})


class Session:
    """A home and a working folder that looks like the checkout, for one document.

    Args:
        folder: is empty; the session's own.
        port: what stands for port 8000; None for one that is free.
    """

    def __init__(self, folder: Path, port: int | None = None) -> None:
        self.home = folder / "home"
        self.work = folder / "work"
        self.home.mkdir()
        self.work.mkdir()
        for entry in ROOT.iterdir():
            if entry.name not in _NOT_SHOWN and not entry.name.startswith("."):
                (self.work / entry.name).symlink_to(entry)
        self.port = str(port or _free_port())
        self.environment = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(self.home),
            "LC_ALL": "C.UTF-8",
            "COLUMNS": "100",
            "TERM": "dumb",
        }
        self._beside: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        """Give itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End what goes on beside, as Ctrl-C does."""
        for process in self._beside:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGINT)
        for process in self._beside:
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def run(self, block: Block) -> None:
        """Write a block's file, start it beside, or run it and hold it against what is shown.

        Raises:
            AssertionError: a command ends otherwise, or prints something else, than is shown.
        """
        if "file" in block.options:
            (self.work / block.options["file"]).write_text(block.text, "utf-8")
        elif not block.runs:
            return
        elif "beside" in block.options:
            self._start(block)
        elif block.language == "sh":
            self._call(block, block.text, int(block.options.get("exit", "0")))
        else:
            pairs = steps(block)
            for at, (command, shown) in enumerate(pairs, 1):
                due = int(block.options.get("exit", "0")) if at == len(pairs) else 0
                printed = self._call(block, command, due)
                told = f"{block.place}: {command}\nshown:\n{shown}\nprinted:\n{printed}"
                assert matches(shown, printed), told

    def _shell(self, text: str) -> list[str]:
        return ["bash", "-euo", "pipefail", "-c", text.replace(PORT, self.port)]

    def _call(self, block: Block, text: str, due: int) -> str:
        done = subprocess.run(
            self._shell(text),
            cwd=self.work,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=SECONDS,
            check=False,
        )
        printed = done.stdout.decode("utf-8").replace(self.port, PORT)
        assert done.returncode == due, f"{block.place}: exit {done.returncode}\n{text}\n{printed}"
        return printed

    def _start(self, block: Block) -> None:
        """Start a block, and wait until something listens at the port."""
        process = subprocess.Popen(
            self._shell(block.text),
            cwd=self.work,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._beside.append(process)
        until = time.monotonic() + SECONDS
        while process.poll() is None and time.monotonic() < until:
            with suppress(OSError), socket.create_connection(("127.0.0.1", int(self.port)), 1):
                return
            time.sleep(0.2)
        raise AssertionError(f"{block.place}: nothing listens, exit {process.poll()}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
