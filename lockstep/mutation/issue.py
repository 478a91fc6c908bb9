"""From the records of trials to the bytes of a certificate: fold, and sign."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lockstep.certificate.envelope import sign_statement
from lockstep.certificate.statement import model_subjects, statement
from lockstep.issue import Issued, array_producer

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


def issue_mutation(
    trials: Sequence[Mapping[str, Any]],
    keys: Sequence[Ed25519PrivateKey],
    *,
    sources_sha256: str,
    issued_at: str,
    command: str,
) -> Issued:
    """Fold the records of a campaign of mutations, and sign.

    Args:
        trials: of the control and of every operator, under every observer.
        keys: of the signers.
        sources_sha256: digest over the sources that were mutated.
        issued_at: the time that the certificate claims, as TIME-1 writes it.
        command: the command line, without paths.

    Raises:
        LockstepError: MUTATION_INCOMPLETE; as `open_model`.
    """
    from lockstep.claims.mutation import predicate
    from lockstep.engine.opening import open_model
    from lockstep.engine.tiny import TinyModel

    opened = open_model(TinyModel())
    folded = predicate(
        trials,
        model=opened.statement(),
        model_digest=opened.model.digest.hex(),
        environment=opened.environment(),
        sources_sha256=sources_sha256,
        issued_at=issued_at,
        producer=array_producer(command),
    )
    subjects = model_subjects("mutation", folded)
    return Issued(sign_statement(statement("mutation", subjects, folded), keys), folded)
