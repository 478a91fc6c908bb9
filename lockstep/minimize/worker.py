"""Testing cases on an engine, in processes that an operator may be installed in [FIND-7].

Nothing of the engine is imported at the top: in a worker, a mutation is installed first. A worker
is told its engine in its first line, answers each line with one, and ends with its input.
"""

from __future__ import annotations

import contextlib
import json
import select
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO

from lockstep import limits
from lockstep.errors import LockstepError

if TYPE_CHECKING:
    from lockstep.fuzz.case import Case
    from lockstep.minimize.memo import Outcome

Signature = tuple[str, str, str]
"""Kind, code and part of a failure: what makes two failures the same one."""

TOKEN_DEPENDENT = ("REQUEST_ENDED", "REQUEST_NOT_ENDED")
"""Refusals that depend on the tokens that a model emits [SCHED-15]: never a failure of steps."""


@dataclass(frozen=True)
class Engine:
    """What cases are run on.

    Attributes:
        mutation: the operator, None for the engine as it is.
        recipe: of a tiny model, as certificates state it; None for its defaults.
        folder: of a model; None for a tiny one.
        backend: what computes.
        dtype: compute dtype, None for the backend's own.
    """

    mutation: str | None = None
    recipe: dict[str, Any] | None = None
    folder: str | None = None
    backend: str = "host"
    dtype: str | None = None


@dataclass(frozen=True)
class Shown:
    """What running a case showed.

    Attributes:
        failure: as `Failure.document`, None where nothing was wrong.
        trajectory: digest of the run as far as it went, in hex; empty where nothing began.
        case: the document of the case of steps that was run or, of a policy's, was recorded.
    """

    failure: dict[str, Any] | None
    trajectory: str
    case: dict[str, Any]

    @property
    def signature(self) -> Signature | None:
        """Kind, code and part of the failure."""
        if self.failure is None:
            return None
        return self.failure["kind"], self.failure["code"], self.failure["part"]


class Workers:
    """Processes that run cases on one engine; a context that ends them.

    Args:
        engine: what they run on.
        jobs: how many.
    """

    def __init__(self, engine: Engine, jobs: int = 1) -> None:
        self.engine = engine
        self.jobs = jobs
        self._processes = [_started(engine) for _ in range(jobs)]

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for process in self._processes:
            with contextlib.suppress(OSError):
                _pipe(process.stdin).close()
            if fault is not None:
                process.terminate()
            process.wait()
            _pipe(process.stdout).close()

    def show(self, case: Case) -> Shown:
        """Run a case and judge it.

        Raises:
            LockstepError: as `show`, by the worker's words; WORKER_ENDED, it stopped.
        """
        return self._show([case])[0]

    def test(self, cases: Sequence[Case], wanted: Signature) -> list[Outcome]:
        """Test legal cases for a failure, as many at a time as there are workers."""
        return [_outcome(shown, wanted) for shown in self._show(cases)]

    def stated(self) -> dict[str, Any]:
        """Give what a certificate says of the engine: `model` and `environment`."""
        self._send(0, None)
        return self._answer(0)

    def _show(self, cases: Sequence[Case]) -> list[Shown]:
        found: list[Shown] = []
        for begin in range(0, len(cases), self.jobs):
            batch = cases[begin : begin + self.jobs]
            for number, case in enumerate(batch):
                self._send(number, case.document())
            found += [Shown(**self._answer(number)) for number in range(len(batch))]
        return found

    def _send(self, number: int, request: dict[str, Any] | None) -> None:
        _write(_pipe(self._processes[number].stdin), request)

    def _answer(self, number: int) -> dict[str, Any]:
        process = self._processes[number]
        answers = _pipe(process.stdout)
        if not select.select([answers], [], [], limits.CASE_SECONDS)[0]:
            process.kill()
            expected = f"an answer within {limits.CASE_SECONDS} seconds"
            raise LockstepError("WORKER_ENDED", "/worker", expected, "none")
        line = answers.readline()
        if not line:
            raise LockstepError("WORKER_ENDED", "/worker", "an answer", f"status {process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        if "refused" in answer:
            raise LockstepError(**answer["refused"])
        return answer


def _outcome(shown: Shown, wanted: Signature) -> Outcome:
    from lockstep.minimize.memo import Outcome

    if shown.signature == wanted:
        return Outcome("reproduces")
    if shown.failure is not None:
        return Outcome("fails_otherwise", shown.failure["kind"])
    return Outcome("passes")


def _started(engine: Engine) -> subprocess.Popen[bytes]:
    """Start a worker and tell it its engine."""
    command = [sys.executable, "-m", "lockstep.minimize.worker"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    _write(_pipe(process.stdin), asdict(engine))
    return process


def _pipe(pipe: Any) -> BinaryIO:
    if pipe is None:
        raise ValueError("a process without pipes")
    held: BinaryIO = pipe
    return held


def _write(pipe: BinaryIO, value: object) -> None:
    with contextlib.suppress(BrokenPipeError):  # seen where the answer is read
        pipe.write(json.dumps(value).encode("ascii") + b"\n")
        pipe.flush()


def main() -> int:
    """Answer requests until there are no more."""
    # Ctrl-C is for the parent, which ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    engine = Engine(**json.loads(requests.readline()))
    # Whatever a library prints must not pass for an answer.
    sys.stdout = sys.stderr
    try:
        if engine.mutation is not None:
            from lockstep.mutation import load

            load.install(engine.mutation)
        from lockstep.minimize.show import Subject

        subject = Subject(engine)
    except LockstepError as fault:
        requests.readline()
        _write(answers, {"refused": _told(fault)})
        return 3
    for line in requests:
        request = json.loads(line)
        try:
            answer = subject.stated() if request is None else asdict(subject.show(request))
        except LockstepError as fault:
            answer = {"refused": _told(fault)}
        _write(answers, answer)
    return 0


def _told(fault: LockstepError) -> dict[str, Any]:
    """Give a refusal as a line can hold it."""
    texts = {"expected": fault.expected, "got": fault.got, "hint": fault.hint}
    told = {name: None if text is None else str(text) for name, text in texts.items()}
    return {"code": fault.code, "pointer": fault.pointer, **told}


if __name__ == "__main__":
    sys.exit(main())
