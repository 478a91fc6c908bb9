"""The claim about sampled sequences, from what was judged to the bytes of its certificate."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lockstep.certificate.envelope import sign_statement
from lockstep.certificate.statement import sampling_subjects, statement
from lockstep.issue import Issued, producer

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from lockstep.sampling.observe import Judged


def issue_sampling(
    judged: "Sequence[Judged]",
    keys: Sequence["Ed25519PrivateKey"],
    *,
    issued_at: str,
    command: str,
) -> Issued:
    """Sign sequences with their verdicts, whatever these are.

    Args:
        judged: 1 or more.
        keys: of the signers.
        issued_at: the time that the certificate claims, as TIME-1 writes it.
        command: the command line, without paths.
    """
    from lockstep.claims.sampling import predicate

    folded = predicate(judged, issued_at=issued_at, producer=producer(command))
    subjects = sampling_subjects(folded)
    return Issued(sign_statement(statement("sampling", subjects, folded), keys), folded)
