"""The claim of the experiments on sampling, from observations to the bytes of its certificate."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lockstep.certificate.envelope import sign_statement
from lockstep.certificate.statement import experiments_subjects, statement
from lockstep.issue import Issued, producer

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from lockstep.sampling.experiments import Experiments


def issue_sampling_experiments(
    seen: "Experiments",
    keys: Sequence["Ed25519PrivateKey"],
    *,
    issued_at: str,
    command: str,
) -> Issued:
    """Sign experiments with what follows from them, whatever that is.

    Args:
        seen: what was observed.
        keys: of the signers.
        issued_at: the time that the certificate claims, as TIME-1 writes it.
        command: the command line, without paths.
    """
    from lockstep.claims.sampling_experiments import digest, predicate

    folded = predicate(seen, issued_at=issued_at, producer=producer(command))
    subjects = experiments_subjects(folded, digest(folded))
    stated = statement("sampling-experiments", subjects, folded)
    return Issued(sign_statement(stated, keys), folded)
