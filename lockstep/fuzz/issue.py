"""A campaign's records, folded and signed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lockstep.certificate.envelope import sign_statement
from lockstep.certificate.statement import model_subjects, statement
from lockstep.claims.campaign import predicate
from lockstep.engine.opening import open_model
from lockstep.fuzz.campaign import sources_sha256
from lockstep.fuzz.record import Record
from lockstep.issue import Issued, array_producer

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from lockstep.engine.tiny import TinyModel


def issue_campaign(
    source: Path | TinyModel,
    keys: Sequence[Ed25519PrivateKey],
    *,
    records: Mapping[str, Sequence[Record]],
    issued_at: str,
    command: str,
    backend: str = "host",
    dtype: str | None = None,
) -> Issued:
    """Fold the records of a fuzzing campaign, and sign.

    Args:
        source: the model's folder, or the recipe of a tiny one.
        keys: of the signers.
        records: of each population, by seed from 0, made by these sources on this model.
        issued_at: the time that the certificate claims, as TIME-1 writes it.
        command: the command line, without paths.
        backend: what the cases ran on.
        dtype: compute dtype, None for the backend's own.

    Raises:
        LockstepError: as `open_model`.
    """
    opened = open_model(source, backend, dtype)
    folded = predicate(
        records,
        model=opened.statement(),
        model_digest=opened.model.digest.hex(),
        environment=opened.environment(),
        sources_sha256=sources_sha256(),
        issued_at=issued_at,
        producer=array_producer(command),
    )
    subjects = model_subjects("campaign", folded)
    return Issued(sign_statement(statement("campaign", subjects, folded), keys), folded)
