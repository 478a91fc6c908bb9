"""The claim about observed layouts, from what was seen to the bytes of its certificate."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lockstep.certificate.envelope import sign_statement
from lockstep.certificate.statement import observation_subjects, statement
from lockstep.issue import Issued, producer

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from lockstep.observation.seen import SeenEngine


def issue_observation(
    seen: "SeenEngine",
    keys: Sequence["Ed25519PrivateKey"],
    *,
    issued_at: str,
    command: str,
) -> Issued:
    """Sign what was seen of an engine, whether its declarations match or not.

    Args:
        seen: of the engine.
        keys: of the signers.
        issued_at: the time that the certificate claims, as TIME-1 writes it.
        command: the command line, without paths.
    """
    from lockstep.claims.layout_observation import predicate

    folded = predicate(seen, issued_at=issued_at, producer=producer(command))
    subjects = observation_subjects(folded)
    made = statement("layout-observation", subjects, folded)
    return Issued(sign_statement(made, keys), folded)
