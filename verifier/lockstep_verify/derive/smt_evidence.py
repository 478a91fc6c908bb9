"""What can be asked again of an smt certificate: its script files, and solvers that are here."""

import os

from lockstep_verify import limits, solvers
from lockstep_verify.bytes import evidence
from lockstep_verify.derive.smt import Asked
from lockstep_verify.errors import Refusal


def compare_scripts(scripts: list[dict[str, str]], folder: "os.PathLike[str] | None") -> int:
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


def solve_again(asked: list[Asked], programs: tuple[solvers.Program, ...] | None) -> list[str]:
    """Put every query to solver programs; give a line for people on each solver (SMT-14).

    Args:
        asked: the queries.
        programs: that are asked, None where nobody wants it.

    Raises:
        Refusal: QUERY_NOT_ANSWERED, at the first query that a program answers otherwise.
    """
    if programs is None:
        return [f"{name}: not asked again (--solve)" for name in solvers.ARGUMENTS]
    held = {program.name: program for program in programs}
    lines = []
    for name in solvers.ARGUMENTS:
        if name not in held:
            lines.append(f"{name}: not run here, no program given or on the PATH")
            continue
        said = solvers.answers(held[name], [query.text for query in asked])
        for i, query in enumerate(asked):
            answer = said[i] if i < len(said) and said[i] else "no answer"
            if answer != query.expected:
                got = f"{name}: {answer}"
                raise Refusal("QUERY_NOT_ANSWERED", query.pointer, query.expected, got)
        lines.append(f"{name}: answered all {len(asked)} queries again here ({held[name].version})")
    return lines
