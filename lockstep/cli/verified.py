"""Certificates that a command builds on: derived anew before anything is taken from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def verified(path: Path, trust: Path | None, predicate_type: str) -> tuple[dict[str, Any], bool]:
    """Give the predicate of a certificate that the verifier derives.

    Args:
        path: of the certificate.
        trust: a policy; None where its signer is not looked at.
        predicate_type: that it must have.

    Returns:
        The predicate, and whether a key of the policy has signed it.

    Raises:
        LockstepError: FILE_UNREADABLE, LIMIT_SIZE, PREDICATE_UNKNOWN, or the code of the
            verifier's refusal.
    """
    from lockstep.certificate.read import read_certificate
    from lockstep.certificate.verifier import verify_bytes
    from lockstep.errors import LockstepError
    from lockstep.evidence.index import statement_of

    data = read_certificate(path)
    (result,) = verify_bytes([data], trust).results
    known = result["exit"] == 0
    if not known and (trust is not None or result["rederivation"] != "OK"):
        code = result["code"] if result["rederivation"] in (None, "OK") else result["rederivation"]
        raise LockstepError(code, str(path), result["expected"], result["got"])
    statement = statement_of(data)
    if statement["predicateType"] != predicate_type:
        got = statement["predicateType"]
        raise LockstepError("PREDICATE_UNKNOWN", f"{path}:/predicateType", predicate_type, got)
    predicate: dict[str, Any] = statement["predicate"]
    return predicate, known
