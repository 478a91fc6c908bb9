"""A run over arms, folded and signed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lockstep.certificate.envelope import sign_statement
from lockstep.certificate.statement import statement, throughput_subjects
from lockstep.claims.throughput import Criterion, predicate
from lockstep.issue import Issued, producer
from lockstep.measure.observation import Seen

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


def issue_throughput(
    seen: Seen,
    comparisons: Sequence[tuple[str, str]],
    criteria: Sequence[Criterion],
    keys: Sequence[Ed25519PrivateKey],
    *,
    issued_at: str,
    command: str,
) -> Issued:
    """Compare arms, and sign, whatever comes out.

    Args:
        seen: the run.
        comparisons: pairs of names of arms.
        criteria: on these.
        keys: of the signers.
        issued_at: the time that the certificate claims, as TIME-1 writes it.
        command: the command line, without paths.

    Raises:
        LockstepError: the refusal of the first sample, where not one is left.
    """
    folded = predicate(seen, comparisons, criteria, issued_at=issued_at, producer=producer(command))
    subjects = throughput_subjects(folded)
    return Issued(sign_statement(statement("throughput", subjects, folded), keys), folded)
