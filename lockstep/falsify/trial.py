"""Trials: one file, the setting that it is verified in, and the code that the verifier gives.

Trials of one setting share a process. Whatever a process fails to answer counts as INTERNAL, so
that a falsification is never taken for refused because nothing came back.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from lockstep import limits
from lockstep.certificate.lcj import encode

Place = Callable[[Path], None]
"""Makes the thing to be verified at a path: a file, or what is no file."""


@dataclass(frozen=True)
class Setting:
    """What surrounds a verification.

    Attributes:
        policy: the policy's bytes, or None for a user who has none.
        remembered: the last version of the policy that was seen, if one was.
        subject: the content of the user's subject file, if one is given.
        evidence: paths and contents of the evidence folder, if one is given.
        interpreter: options of the interpreter.
        environment: changed variables of the environment.
        text: whether the report is for people; JSON otherwise.
    """

    policy: bytes | None
    remembered: int | None = None
    subject: bytes | None = None
    evidence: tuple[tuple[str, bytes], ...] | None = None
    interpreter: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    text: bool = False


@dataclass(frozen=True)
class Trial:
    """A named file in its setting."""

    name: str
    place: Place
    setting: Setting
    file: str = ""
    """The file's name, where it matters."""


def holding(data: bytes) -> Place:
    """Give a place that is a regular file of these bytes."""

    def put(path: Path) -> None:
        path.write_bytes(data)

    return put


@dataclass(frozen=True)
class Answer:
    """The code that was given for a trial, and the report of its process where that is text."""

    code: str
    report: bytes = b""


def judge(trials: Sequence[Trial], clock: str) -> dict[str, Answer]:
    """Verify every trial, one process for each setting, and give the answers by name.

    Args:
        trials: their names are distinct.
        clock: the verifier's clock [TIME-2].
    """
    answers: dict[str, Answer] = {}
    with tempfile.TemporaryDirectory(prefix="lockstep-falsify-") as scratch:
        settings = list(dict.fromkeys(trial.setting for trial in trials))

        def one(setting: Setting) -> dict[str, Answer]:
            folder = Path(scratch, str(settings.index(setting))).resolve()
            folder.mkdir()
            chosen = [trial for trial in trials if trial.setting == setting]
            return _judge(chosen, setting, clock, folder)

        with ThreadPoolExecutor(limits.FALSIFY_PROCESSES) as pool:
            for found in pool.map(one, settings):
                answers |= found
    return answers


def _judge(
    trials: Sequence[Trial], setting: Setting, clock: str, folder: Path
) -> dict[str, Answer]:
    certificates = folder / "certificates"
    certificates.mkdir()
    files = []
    for trial in trials:
        files.append(certificates / (trial.file or f"{trial.name}.cert.json"))
        trial.place(files[-1])
    options = _options(setting, clock, folder)
    command = [sys.executable, *setting.interpreter, "-m", "lockstep_verify", *options]
    surroundings = os.environ | {
        "XDG_CONFIG_HOME": str(folder / "config"),
        "XDG_STATE_HOME": str(folder / "state"),
        **dict(setting.environment),
    }
    try:
        done = subprocess.run(
            [*command, *map(str, files)],
            capture_output=True, env=surroundings, check=False, timeout=limits.FALSIFY_SECONDS,
        )  # fmt: skip
        output = done.stdout
    except subprocess.TimeoutExpired:
        output = b""
    if setting.text:
        codes = [line.split(b" ")[0].decode("ascii", "replace") for line in _heads(output, files)]
    else:
        codes = _codes(output)
    if len(codes) != len(trials):
        codes = ["INTERNAL"] * len(trials)
    return {
        trial.name: Answer(code, output if setting.text else b"")
        for trial, code in zip(trials, codes, strict=True)
    }


def _codes(output: bytes) -> list[str]:
    try:
        return [str(json.loads(line)["code"]) for line in output.splitlines()]
    except (ValueError, KeyError, TypeError):
        return []


def _heads(output: bytes, files: Sequence[Path]) -> list[bytes]:
    """Give the first line for each file; the lines below a head are indented [EXIT-3]."""
    heads = [line for line in output.splitlines() if line and not line.startswith(b" ")]
    return heads if len(heads) == len(files) else []


def _options(setting: Setting, clock: str, folder: Path) -> list[str]:
    options = ["--at", clock] if setting.text else ["--json", "--at", clock]
    if setting.policy is not None:
        policy, state = folder / "trust.json", folder / "seen"
        policy.write_bytes(setting.policy)
        state.mkdir()
        options += ["--trust", str(policy), "--state", str(state)]
        if setting.remembered is not None:
            name = hashlib.sha256(os.fsencode(policy)).hexdigest()
            seen = encode({"version": setting.remembered})
            (state / f"policy-{name}.json").write_bytes(seen)
    if setting.subject is not None:
        (folder / "subject").write_bytes(setting.subject)
        options += ["--subject", str(folder / "subject")]
    if setting.evidence is not None:
        evidence = folder / "evidence"
        evidence.mkdir()
        for path, data in setting.evidence:
            file = evidence.joinpath(*path.split("/"))
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        options += ["--evidence", str(evidence)]
    return options
