"""Where an engine is installed: Lockstep's own environment, or one of the engine's own.

What is asked of an engine runs in the interpreter of its environment, which has the engine's
libraries and none of Lockstep's: a probe is one file that needs no more than these.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lockstep.errors import LockstepError
from lockstep.limits import OBSERVED_SECONDS

PROBES = Path(__file__).resolve().parent / "probes"
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
"""Of each probe: an engine that would fetch something fails instead."""


@dataclass(frozen=True)
class Environment:
    """An environment that holds an engine.

    Attributes:
        folder: of the environment, as `python -m venv` makes it; None for Lockstep's own.
    """

    folder: Path | None = None

    def program(self, name: str) -> str:
        """Give the path of a program of the environment, which need not be there."""
        folder = Path(sys.executable).parent if self.folder is None else self.folder / "bin"
        return str(folder / name)

    def identity(
        self, distributions: Sequence[str], files: Sequence[str]
    ) -> tuple[str, dict[str, str]]:
        """Give the version of a distribution, and the SHA-256 of files of it.

        Args:
            distributions: names that it may have; the first that is there is taken.
            files: paths within it, as its record has them.

        Raises:
            LockstepError: LIBRARY_MISSING where none, or one of the files, is not there.
        """
        asked = {"distributions": list(distributions), "files": list(files)}
        found = self.ask("identity.py", asked)
        if found["missing"] is not None:
            names = " or ".join(distributions)
            where = "Lockstep's own environment" if self.folder is None else str(self.folder)
            hint = f"Install {names} there, or name the engine's environment with --environment."
            raise LockstepError(
                "LIBRARY_MISSING", "--engine", f"{names} in {where}", f"no {found['missing']}", hint
            )
        return found["version"], found["files"]

    def ask(
        self, probe: str, request: object, variables: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """Run a probe, which reads a request and writes an answer, both JSON.

        Args:
            probe: its file among PROBES.
            request: what it reads.
            variables: set for it besides the caller's.

        Raises:
            LockstepError: LIBRARY_MISSING where there is no interpreter; ENGINE_NOT_OBSERVED where
                the probe gives no answer: its last line of error says why.
        """
        python = sys.executable if self.folder is None else self.program("python")
        try:
            done = subprocess.run(
                # Isolated: neither the probe's folder nor the caller's settings bring modules in.
                [python, "-I", str(PROBES / probe)],
                input=json.dumps(request),
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=OBSERVED_SECONDS,
                env={**os.environ, **OFFLINE, **(variables or {})},
                check=False,
            )
        except OSError as fault:
            hint = "Name a folder as `python -m venv` makes it."
            raise LockstepError(
                "LIBRARY_MISSING", "--environment", "an interpreter", fault.strerror, hint
            ) from None
        except subprocess.TimeoutExpired:
            expected = f"an answer within {OBSERVED_SECONDS} s"
            raise LockstepError("ENGINE_NOT_OBSERVED", "--engine", expected, "none") from None
        if done.returncode:
            lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
            told = (lines or [f"status {done.returncode}"])[-1][:400]
            raise LockstepError("ENGINE_NOT_OBSERVED", "--engine", "an answer", told)
        try:
            answer: dict[str, Any] = json.loads(done.stdout)
        except ValueError:
            told = repr(done.stdout[:200])
            raise LockstepError("ENGINE_NOT_OBSERVED", "--engine", "an answer", told) from None
        return answer
