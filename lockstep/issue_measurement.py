"""Measurements and withdrawals of claims, from their documents to the bytes of a certificate."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lockstep.certificate.envelope import sign_statement
from lockstep.certificate.statement import measurement_subjects, statement, withdrawal_subjects
from lockstep.errors import LockstepError
from lockstep.issue import Issued, producer

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


def issue_measurement(
    document: Mapping[str, Any],
    keys: "Sequence[Ed25519PrivateKey]",
    *,
    issued_at: str,
    command: str,
) -> Issued:
    """Compute what a document of records asks for, and sign it.

    Args:
        document: sources, profiles, arms, records and what is asked of them.
        keys: of the signers.
        issued_at: the time that the certificate claims, as TIME-1 writes it.
        command: the command line, without paths.

    Raises:
        LockstepError: as `lockstep.claims.measurement.predicate`; MISSING_FIELD or WRONG_TYPE, the
            document has not the shape of one; what its schema refuses.
    """
    from lockstep import portable_schema, spec
    from lockstep.claims.measurement import predicate

    try:
        folded = predicate(document, issued_at=issued_at, producer=producer(command))
    except KeyError as fault:
        raise LockstepError("MISSING_FIELD", "the document", fault.args[0]) from None
    except (TypeError, ValueError, AttributeError, ArithmeticError) as fault:
        raise LockstepError("WRONG_TYPE", "the document", "as MEAS-15 lists", str(fault)) from None
    portable_schema.require(folded, spec.load("schemas/measurement.schema.json"), "/predicate")
    subjects = measurement_subjects(folded)
    return Issued(sign_statement(statement("measurement", subjects, folded), keys), folded)


def issue_withdrawal(
    certificate: bytes,
    claims: Sequence[Mapping[str, Any]],
    keys: "Sequence[Ed25519PrivateKey]",
    *,
    issued_at: str,
    command: str,
) -> Issued:
    """Withdraw claims of a certificate, and sign that.

    Args:
        certificate: its bytes.
        claims: pointer, reason and replacement of each.
        keys: of the signers, which would do for the certificate itself.
        issued_at: the time that the withdrawal claims, as TIME-1 writes it.
        command: the command line, without paths.

    Raises:
        LockstepError: as `lockstep.claims.withdrawal.predicate`.
    """
    from lockstep.claims.withdrawal import predicate

    folded = predicate(certificate, claims, issued_at=issued_at, producer=producer(command))
    subjects = withdrawal_subjects(folded)
    return Issued(sign_statement(statement("withdrawal", subjects, folded), keys), folded)
