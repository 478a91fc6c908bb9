"""The verifier as a process that answers one request after another, within time and memory."""

import base64
import json
import resource
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from lockstep import limits

COMMAND = (sys.executable, "-m", "lockstep_verify", "--protocol")


@dataclass(frozen=True)
class Answer:
    """What came back: a code, `TIMEOUT` or `CRASH`; counts and verdict if it verified."""

    code: str
    seconds: float
    pointer: str = ""
    verdict: str | None = None
    counts: dict[str, int] | None = None


class Verifier:
    """A verifier process; started anew after a crash, a timeout or a silence.

    Args:
        policy: the policy's bytes.
        clock: the verifier's clock.
        command: the process, which speaks the protocol of `conformance/README.md`.
        bounded: whether its address space is bounded; a runtime that reserves much and uses little
            does not start within the bound.
    """

    def __init__(
        self, policy: bytes, clock: str, command: Sequence[str] = COMMAND, bounded: bool = True
    ) -> None:
        self._bounded = bounded
        self._command = command
        self._policy = base64.b64encode(policy).decode("ascii")
        self._clock = clock
        self._process: subprocess.Popen[bytes] | None = None
        self._answered = False

    def __enter__(self) -> "Verifier":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._stop()

    def judge(self, certificate: bytes, evidence: dict[str, bytes] | None = None) -> Answer:
        """Verify a certificate under the policy, with sidecars if any are given."""
        held: dict[str, str] | None = None
        if evidence is not None:
            held = {path: base64.b64encode(data).decode() for path, data in evidence.items()}
        request = {
            "id": "mutant", "area": "hunt", "op": "certificate",
            "certificate": base64.b64encode(certificate).decode("ascii"),
            "policy": self._policy, "at": self._clock,
            "last_version": None, "subject": None, "evidence": held,
        }  # fmt: skip
        process = self._running()
        limit = limits.MUTANT_SECONDS if self._answered else limits.MUTANT_FIRST_SECONDS
        started = time.monotonic()
        line = self._exchange(process, json.dumps(request).encode("ascii") + b"\n", limit)
        seconds = time.monotonic() - started
        if not line.endswith(b"\n"):
            died = process.poll() is not None or seconds < limit
            self._stop()
            return Answer("CRASH" if died else "TIMEOUT", seconds)
        self._answered = True
        try:
            reply: dict[str, Any] = json.loads(line)
            value = reply.get("value") or {}
            pointer = reply.get("pointer") or ""
            return Answer(
                str(reply["code"]), seconds, pointer, value.get("verdict"), value.get("counts")
            )
        except (ValueError, KeyError, AttributeError):
            self._stop()
            return Answer("CRASH", seconds)

    def _exchange(self, process: subprocess.Popen[bytes], request: bytes, limit: float) -> bytes:
        assert process.stdin is not None and process.stdout is not None  # noqa: S101 - pipes
        try:
            process.stdin.write(request)
            process.stdin.flush()
        except OSError:
            return b""
        if not select.select([process.stdout], [], [], limit)[0]:
            return b""
        # An answer is one line that is written at once.
        return process.stdout.readline()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
            self._answered = False
            if self._bounded and hasattr(resource, "prlimit"):
                most = (limits.MUTANT_MEMORY_BYTES, limits.MUTANT_MEMORY_BYTES)
                resource.prlimit(self._process.pid, resource.RLIMIT_AS, most)
        return self._process

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()
