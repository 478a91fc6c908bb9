"""Solver programs of this machine, run as processes of their own (SMT-14).

Nothing of a solver is imported: it gets a text on its standard input and prints lines.
"""

import re
import shutil
import subprocess
from typing import NamedTuple

from lockstep_verify import limits
from lockstep_verify.errors import Refusal

ARGUMENTS = {"z3": ("-in", "-smt2"), "cvc5": ("--lang=smt2", "-")}
"""How each solver is told to read SMT-LIB from its standard input."""

_SAYS = {"z3": r"Z3 version \d\S*( .*)?", "cvc5": r"This is cvc5 version \d\S*( .*)?"}
"""The whole first line of what each solver says of its version."""


class Program(NamedTuple):
    """A solver's program, and what it says of itself."""

    name: str
    path: str
    version: str


def programs(paths: list[str]) -> tuple[Program, ...]:
    """Identify programs, those on the PATH where none is named.

    Raises:
        Refusal: USAGE, for one that is none of the solvers, cannot be run, or is named twice, and
            where none is named and none is there.
    """
    found: dict[str, Program] = {}
    for path in paths or [path for path in map(shutil.which, ARGUMENTS) if path]:
        program = _identify(path)
        if program.name in found:
            raise Refusal("USAGE", "", "--solver: each solver once", path)
        found[program.name] = program
    if not found:
        expected = f"--solve: {' or '.join(ARGUMENTS)} on the PATH, or --solver PROGRAM"
        raise Refusal("USAGE", "", expected, "neither is there, so that nothing can be asked")
    return tuple(found.values())


def _identify(path: str) -> Program:
    """Ask a program which solver it is."""
    expected = f"--solver: a program that says it is {' or '.join(ARGUMENTS)}"
    try:
        done = subprocess.run(
            [path, "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=limits.IDENTIFY_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        got = f"{path}: no answer to --version within {limits.IDENTIFY_SECONDS} seconds"
        raise Refusal("USAGE", "", expected, got) from None
    except (OSError, ValueError) as fault:
        got = f"{path}: {getattr(fault, 'strerror', None) or 'no path of a program'}"
        raise Refusal("USAGE", "", expected, got) from None
    first = (done.stdout.splitlines() or [""])[0]
    for name in ARGUMENTS:
        if re.fullmatch(_SAYS[name], first):
            return Program(name, path, first[:80])
    raise Refusal("USAGE", "", expected, f"{path}: {first[:80] or 'nothing'}")


def answers(program: Program, texts: list[str]) -> list[str]:
    """Put texts to a program, each in a state of its own, and give the lines that it prints.

    They are fewer where the program stopped or its time ran out.
    """
    try:
        done = subprocess.run(
            [program.path, *ARGUMENTS[program.name]],
            input="(reset)\n".join(texts),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=limits.SOLVE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        # What was said before comes as bytes, whatever was asked for.
        return (late.stdout or b"").decode("ascii", "replace").splitlines()
    except OSError:
        return []
    return done.stdout.splitlines()
