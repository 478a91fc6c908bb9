"""Calling the independent verifier, as a process of its own."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lockstep.errors import LockstepError


@dataclass(frozen=True)
class Report:
    """What the verifier said: its exit status and one object a file [OUT-2]."""

    exit: int
    results: tuple[dict[str, Any], ...]


def verify(
    files: Sequence[Path], *options: str, env: dict[str, str] | None = None, before: int = 0
) -> Report:
    """Verify files with `lockstep-verify --json`.

    Args:
        files: certificates, or a published document with `--unsigned` among the options.
        options: further command line options.
        env: the environment of the process, this one's by default.
        before: how many withdrawals are told of before the files.

    Raises:
        LockstepError: INTERNAL, the verifier gave no result for each file.
    """
    command = [sys.executable, "-m", "lockstep_verify", "--json", *options, *map(str, files)]
    done = subprocess.run(command, capture_output=True, env=env, check=False)
    try:
        results = tuple(json.loads(line) for line in done.stdout.splitlines())
    except ValueError:
        results = ()
    if len(results) != len(files) + before:
        said = (done.stdout + done.stderr).decode("utf-8", "replace")[:500]
        raise LockstepError("INTERNAL", " ".join(command[3:]), "one result a file", said)
    return Report(done.returncode, results)
