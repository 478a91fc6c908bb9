"""The claim of a calibration of distances, from a ladder to the bytes of its certificate."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lockstep.certificate.envelope import sign_statement
from lockstep.certificate.statement import distance_subjects, statement
from lockstep.errors import LockstepError
from lockstep.issue import Issued, producer

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from lockstep.sampling.ladder import Ladder


def issue_distance_calibration(
    ladder: "Ladder",
    accepts: int,
    keys: Sequence["Ed25519PrivateKey"],
    *,
    issued_at: str,
    command: str,
) -> Issued:
    """Sign a ladder with what follows from it, whatever that is.

    Args:
        ladder: what was observed.
        accepts: so many rungs count as the model, from the first.
        keys: of the signers.
        issued_at: the time that the certificate claims, as TIME-1 writes it.
        command: the command line, without paths.

    Raises:
        LockstepError: USAGE, no rung is accepted, or none is not; LIMIT_SIZE, a certificate holds
            no ladder of this size [DIST-21].
    """
    from lockstep import spec
    from lockstep.claims.distance_calibration import digest, predicate

    most = len(ladder.rungs) - 1
    if not 1 <= accepts <= most:
        raise LockstepError("USAGE", "--accepts", f"1 to {most} of the rungs", accepts)
    folded = predicate(ladder, accepts, issued_at=issued_at, producer=producer(command))
    pairs = folded["counts"]["signed_tokens"] + folded["counts"]["reference_tokens"]
    bound: int = spec.load("distance-calibration.json")["pairs_most"]
    if pairs > bound:
        raise LockstepError("LIMIT_SIZE", "/texts", f"at most {bound} log-probabilities", pairs)
    subjects = distance_subjects(folded, digest(folded))
    stated = statement("distance-calibration", subjects, folded)
    return Issued(sign_statement(stated, keys), folded)
