"""The claim of a finding, from what was reduced to the bytes of its certificate."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lockstep.certificate.envelope import sign_statement
from lockstep.certificate.statement import finding_subjects, statement
from lockstep.issue import Issued, array_producer

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from lockstep.minimize.observe import FindingSeen


def issue_finding(
    seen: "FindingSeen",
    keys: Sequence["Ed25519PrivateKey"],
    *,
    issued_at: str,
    command: str,
) -> Issued:
    """Sign a failure with the smallest case that shows it.

    Args:
        seen: the failure, reduced.
        keys: of the signers.
        issued_at: the time that the certificate claims, as TIME-1 writes it.
        command: the command line, without paths.

    Raises:
        LockstepError: FINDING_NOT_REPRODUCED or FINDING_NOT_MINIMAL, as `predicate`.
    """
    from lockstep.claims.finding import predicate

    folded = predicate(seen, issued_at=issued_at, producer=array_producer(command))
    subjects = finding_subjects(folded)
    return Issued(sign_statement(statement("finding", subjects, folded), keys), folded)
