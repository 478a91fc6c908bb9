"""Calling the independent verifier, as a process of its own."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from lockstep.certificate.read import SUFFIX
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


def verify_bytes(
    held: Sequence[bytes],
    trust: Path | None,
    withdrawals: Mapping[str, bytes] = MappingProxyType({}),
) -> Report:
    """Verify copies of bytes: those that are used next, whatever happens to their files meanwhile.

    Args:
        held: certificates.
        trust: a policy; the verifier's own choice where none is given.
        withdrawals: certificates to heed, by the names that the verifier's lines are to call them.

    Returns:
        The results of the withdrawals, then those of the certificates.

    Raises:
        LockstepError: FILE_UNREADABLE, the policy is no file; INTERNAL, as `verify`.
    """
    options = []
    if trust is not None:
        if not trust.is_file():
            hint = "Give the policy's file; lockstep keys init writes one."
            raise LockstepError("FILE_UNREADABLE", str(trust), "a trust policy", "no file", hint)
        options += ["--trust", str(trust)]
    with tempfile.TemporaryDirectory() as scratch:
        copies = _written(Path(scratch, "certificates"), held)
        folder = Path(scratch, "withdrawals")
        places = map(str, _written(folder, list(withdrawals.values())))
        names = dict(zip(places, withdrawals, strict=True))
        if withdrawals:
            options += ["--withdrawals", str(folder)]
        said = verify(copies, *options, before=len(withdrawals))
    return Report(said.exit, tuple(_renamed(result, names) for result in said.results))


def _written(folder: Path, held: Sequence[bytes]) -> list[Path]:
    folder.mkdir()
    copies = [folder / f"{number:06}{SUFFIX}" for number in range(len(held))]
    for copy, data in zip(copies, held, strict=True):
        copy.write_bytes(data)
    return copies


def _renamed(result: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Give a result whose lines call withdrawals by their names instead of the copies' places."""
    lines = result["lines"]
    for place, name in names.items():
        lines = [line.replace(place, name) for line in lines]
    return {**result, "lines": lines}
