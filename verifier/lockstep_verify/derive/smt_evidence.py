"""What can be asked again of an smt certificate: its script files, and solvers that are here."""

import os
import shutil
import subprocess

from lockstep_verify import limits
from lockstep_verify.bytes import evidence
from lockstep_verify.derive.smt import Asked
from lockstep_verify.errors import Refusal

_ARGUMENTS = {"z3": ("-in", "-smt2"), "cvc5": ("--lang=smt2", "-")}
"""How each solver is told to read SMT-LIB from its standard input."""


def compare_scripts(scripts: list[dict[str, str]], folder: os.PathLike[str] | None) -> int:
    """Compare the script files that lie in the evidence folder; give how many (EV-4, SMT-12).

    Raises:
        Refusal: the codes of `bytes.evidence`.
    """
    compared = 0
    for i, script in enumerate(scripts):
        if folder is not None and os.path.lexists(os.path.join(folder, *script["name"].split("/"))):
            at = f"/predicate/scripts/{i}/sha256"
            evidence(folder, script["name"], script["sha256"], at, limits.SCRIPT_BYTES)
            compared += 1
    return compared


def solve_again(asked: list[Asked], solvers: tuple[str, ...] | None) -> list[str]:
    """Put every query to solver programs; give a line for people on each solver (SMT-14).

    Args:
        asked: the queries.
        solvers: paths of programs, none for those on the PATH, None where nobody asked.

    Raises:
        Refusal: QUERY_NOT_ANSWERED, at the first query that a program answers otherwise; USAGE
            for a program that is none of the solvers or cannot be run.
    """
    if solvers is None:
        return [f"{name}: not asked again (--solve)" for name in _ARGUMENTS]
    programs: dict[str, tuple[str, str]] = {}
    for path in solvers:
        name, version = _identity(path)
        programs[name] = (path, version)
    for name in _ARGUMENTS:
        found = shutil.which(name)
        if found and not solvers:
            programs[name] = (found, _identity(found)[1])
    lines = []
    for name in _ARGUMENTS:
        if name not in programs:
            lines.append(f"{name}: not run here, no program given or on the PATH")
            continue
        path, version = programs[name]
        _solve(name, path, asked)
        lines.append(f"{name}: answered all {len(asked)} queries again here ({version})")
    return lines


def _identity(path: str) -> tuple[str, str]:
    """Ask a program which solver it is."""
    expected = f"a program that says it is {' or '.join(_ARGUMENTS)}"
    try:
        done = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.SubprocessError) as fault:
        raise Refusal("USAGE", "", f"--solver: {expected}", str(fault)) from None
    first = (done.stdout.splitlines() or [""])[0]
    for name in _ARGUMENTS:
        if name in first.lower():
            return name, first[:80]
    raise Refusal("USAGE", "", f"--solver: {expected}", first)


def _solve(name: str, path: str, asked: list[Asked]) -> None:
    """Run one process over all queries, each in a state of its own, and compare its answers."""
    script = "(reset)\n".join(query.text for query in asked)
    try:
        done = subprocess.run(
            [path, *_ARGUMENTS[name]],
            input=script,
            capture_output=True,
            text=True,
            timeout=limits.SOLVE_SECONDS,
            check=False,
        )
        answers = done.stdout.split("\n")
    except subprocess.TimeoutExpired as late:
        # What was said before the time ran out comes as bytes, whatever was asked for.
        answers = (late.stdout or b"").decode("ascii", "replace").split("\n")
    except OSError as fault:
        raise Refusal("USAGE", "", f"--solver: a program: {path}", str(fault)) from None
    for i, query in enumerate(asked):
        answer = answers[i] if i < len(answers) and answers[i] else "no answer"
        if answer != query.expected:
            got = f"{name}: {answer}"
            raise Refusal("QUERY_NOT_ANSWERED", query.pointer, query.expected, got)
