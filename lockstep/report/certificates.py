"""Certificates for the report: had verified by the independent verifier, then opened [REP-1]."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from lockstep.certificate.read import SUFFIX, read_certificate, read_withdrawals
from lockstep.certificate.statement import predicate_type
from lockstep.certificate.verifier import verify_bytes
from lockstep.errors import LockstepError
from lockstep.evidence.index import statement_of
from lockstep.report.figures import Judged, Withdrawn

_WHOLE = "the whole certificate"
"""What the verifier calls a claim whose pointer is empty."""


def found(paths: Sequence[Path]) -> list[Path]:
    """List the certificates of files and folders, each folder's by name; none twice.

    Raises:
        LockstepError: FILE_UNREADABLE, a path is neither, or no certificate was named.
    """
    files: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            files |= dict.fromkeys(sorted(path.glob(f"*{SUFFIX}"), key=lambda one: one.name))
        elif path.is_file():
            files[path] = None
        else:
            raise LockstepError("FILE_UNREADABLE", str(path), "a certificate, or a folder of them")
    if not files:
        raise LockstepError("FILE_UNREADABLE", str(paths[0]), f"*{SUFFIX}", "none")
    return list(files)


def judged(
    files: Sequence[Path], trust: Path | None, withdrawals: Path | None, out: Path
) -> list[Judged]:
    """Have certificates verified, and open those that may be shown.

    Args:
        files: certificates.
        trust: a policy; the verifier's own choice where none is given.
        withdrawals: a folder of withdrawals to heed.
        out: where the report will stand, which links lead from.

    Returns:
        The certificates in their order, then the withdrawals by name.

    Raises:
        LockstepError: FILE_UNREADABLE or LIMIT_SIZE.
    """
    held = [read_certificate(file) for file in files]
    back = read_withdrawals(withdrawals)
    results = verify_bytes(held, trust, back).results
    taken = [] if withdrawals is None else [withdrawals / name for name in back]
    claims = [
        claim
        for data, result in zip(back.values(), results, strict=False)
        if result["exit"] == 0 and result["predicate_type"] == predicate_type("withdrawal")
        for claim in _claims(statement_of(data))
    ]
    told = (*results[len(back) :], *results[: len(back)])
    return [
        _judged(number, file, data, result, claims, out)
        for number, (file, data, result) in enumerate(
            zip((*files, *taken), (*held, *back.values()), told, strict=True)
        )
    ]


def _claims(statement: Mapping[str, Any]) -> list[tuple[str, Withdrawn]]:
    """Give the claims that a verified withdrawal takes back, with their certificate's digest."""
    target = statement["predicate"]["certificate"]["payload_sha256"]
    return [
        (
            target,
            Withdrawn(
                one["pointer"],
                one["reason"],
                one["replacement"]["says"] if one["replacement"] else None,
            ),
        )
        for one in statement["predicate"]["claims"]
    ]


def _judged(
    number: int,
    file: Path,
    data: bytes,
    result: Mapping[str, Any],
    claims: Sequence[tuple[str, Withdrawn]],
    out: Path,
) -> Judged:
    withdrawn = counted(result, [one for digest, one in claims if digest == _digest(result)])
    href = quote(Path(os.path.relpath(file, out.parent)).as_posix())
    statement = statement_of(data) if may_be_shown(result, withdrawn) else None
    return Judged(number, file.name, href, result, statement, withdrawn)


def _digest(result: Mapping[str, Any]) -> str:
    return str(result["payload_sha256"])


def counted(result: Mapping[str, Any], claims: Sequence[Withdrawn]) -> tuple[Withdrawn, ...]:
    """Give the withdrawn claims that the verifier counted, which it says line by line [WDR-5].

    Args:
        result: what the verifier said of a certificate.
        claims: that verified withdrawals take back of it; it may count none of them, where their
            signers may not sign for its kind.
    """
    if result["code"] != "CLAIM_WITHDRAWN":
        return ()
    return tuple(one for one in claims if _line(one) in result["lines"])


def _line(one: Withdrawn) -> str:
    """Give the line, whole, in which the verifier tells of a claim: no other passes for it."""
    instead = "" if one.instead is None else f" Instead: {one.instead}"
    return f"WITHDRAWN {one.pointer or _WHOLE}: {one.reason}{instead}"


def may_be_shown(result: Mapping[str, Any], withdrawn: Sequence[Withdrawn]) -> bool:
    """Decide whether a certificate's payload is shown [REP-2].

    One that passes is; and so is one that is refused for withdrawn claims alone, which is the last
    thing that is looked at, unless all of it is withdrawn. Each such claim is then marked.
    """
    if result["exit"] == 0:
        return True
    if result["code"] != "CLAIM_WITHDRAWN" or not withdrawn:
        return False
    return all(one.pointer.startswith("/predicate/") for one in withdrawn)
