"""From the records of trials to the bytes of a certificate: fold, and sign."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lockstep.certificate.envelope import sign_statement
from lockstep.certificate.statement import detection_subjects, statement
from lockstep.claims.detection import predicate
from lockstep.issue import Issued, producer

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


def issue_detection(
    records: Sequence[Mapping[str, Any]],
    keys: Sequence[Ed25519PrivateKey],
    *,
    issued_at: str,
    command: str,
) -> Issued:
    """Fold the records of all trials, and sign.

    Args:
        records: as `run_trials` gives them.
        keys: of the signers.
        issued_at: the time that the certificate claims, as TIME-1 writes it.
        command: the command line, without paths.

    Raises:
        LockstepError: DETECTION_INCOMPLETE.
    """
    folded = predicate(records, issued_at=issued_at, producer=producer(command))
    subjects = detection_subjects(folded)
    return Issued(sign_statement(statement("detection", subjects, folded), keys), folded)
