"""A run of the certifier, folded and signed; and the exit status of its verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lockstep import spec
from lockstep.certificate.envelope import sign_statement
from lockstep.certificate.statement import certification_subjects, statement
from lockstep.certify.observation import Seen
from lockstep.claims.certification import predicate
from lockstep.issue import Issued, producer

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


def issue_certification(
    seen: Seen, keys: Sequence[Ed25519PrivateKey], *, issued_at: str, command: str
) -> Issued:
    """Fold what a run saw, and sign.

    Args:
        seen: the record.
        keys: of the signers.
        issued_at: the time that the certificate claims, as TIME-1 writes it.
        command: the command line, without paths and keys.

    Raises:
        LockstepError: COVERAGE_DENOMINATOR_NOT_DERIVED, the record has not the plan's cells.
    """
    folded = predicate(seen, issued_at=issued_at, producer=producer(command))
    subjects = certification_subjects(folded)
    return Issued(sign_statement(statement("certification", subjects, folded), keys), folded)


def exit_status(verdict: str) -> int:
    """Give the exit status of a run's verdict [CERT-22]."""
    exits = {one["verdict"]: int(one["exit"]) for one in spec.load("certification.json")["exits"]}
    return exits[verdict]
