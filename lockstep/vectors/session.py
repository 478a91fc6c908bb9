"""An implementation under test, spoken to line by line (conformance/README.md)."""

import contextlib
import json
import queue
import subprocess
import threading
from collections.abc import Sequence
from typing import Any

FIRST_ANSWER_SECONDS = 10.0
"""Starting an interpreter and reading the spec's data takes a while on a loaded machine."""
ANSWER_SECONDS = 5.0
RESTARTS = 10
"""An implementation that dies more often fails whatever is left, and the run ends soon."""


class NoAnswer(Exception):
    """Thrown when the implementation died, fell silent, or wrote something else."""


class _Process:
    """One start of the command; a thread reads its answers, so that waiting can end."""

    def __init__(self, command: Sequence[str]) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.answers: queue.Queue[bytes] = queue.Queue()
        self.limit = FIRST_ANSWER_SECONDS
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None  # noqa: S101 - it was asked for
        with self.process.stdout as stream:
            for line in stream:
                self.answers.put(line)
        self.answers.put(b"")

    def ask(self, line: bytes) -> bytes:
        # A process that reads nothing must not block the runner for ever.
        writer = threading.Thread(target=self._write, args=(line,), daemon=True)
        writer.start()
        try:
            answer = self.answers.get(timeout=self.limit)
        except queue.Empty:
            raise NoAnswer(f"no answer within {self.limit:g} s") from None
        if not answer:
            raise NoAnswer(f"the process ended with status {self.process.wait()}")
        self.limit = ANSWER_SECONDS
        return answer

    def _write(self, line: bytes) -> None:
        assert self.process.stdin is not None  # noqa: S101 - it was asked for
        try:
            self.process.stdin.write(line)
            self.process.stdin.flush()
        except (OSError, ValueError):
            return

    def stop(self, patience: float) -> int | None:
        """End its input and give its status, None where it had to be killed."""
        assert self.process.stdin is not None  # noqa: S101 - it was asked for
        try:
            if patience:
                self.process.stdin.close()
                return self.process.wait(patience)
        except (OSError, subprocess.TimeoutExpired):
            pass
        self.process.kill()
        self.process.wait()
        with contextlib.suppress(OSError):
            # What it did not read cannot be flushed any more.
            self.process.stdin.close()
        return None


class Session:
    """A command that answers requests, started anew when it fails to."""

    def __init__(self, command: Sequence[str]) -> None:
        self.command = tuple(command)
        self.restarts = 0
        self._process: _Process | None = None

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send a request and give the answer.

        Raises:
            NoAnswer: with what happened instead.
        """
        if self.restarts > RESTARTS:
            raise NoAnswer(f"not asked: the process failed {self.restarts} times")
        line = json.dumps(request, sort_keys=True, separators=(",", ":")).encode("ascii") + b"\n"
        try:
            if self._process is None:
                self._process = _Process(self.command)
            return _answer(self._process.ask(line), request["id"])
        except (NoAnswer, OSError) as fault:
            self.restarts += 1
            if self._process is not None:
                self._process.stop(0)
                self._process = None
            raise NoAnswer(str(fault)) from None

    def close(self) -> str | None:
        """End the session; give what was wrong with the way it ended, if anything was."""
        if self._process is None:
            return None
        status = self._process.stop(ANSWER_SECONDS)
        self._process = None
        if status == 0:
            return None
        return "did not end at the end of its input" if status is None else f"ended with {status}"


def _answer(line: bytes, wanted: str) -> dict[str, Any]:
    try:
        answer = json.loads(line)
    except ValueError:
        raise NoAnswer(f"wrote something else than JSON: {line[:80]!r}") from None
    if not isinstance(answer, dict) or answer.get("id") != wanted:
        raise NoAnswer(f"answered something else: {line[:80]!r}")
    return answer
