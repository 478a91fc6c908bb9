"""The claim of the experiments on sampling, from observations to the bytes of its certificate."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lockstep.certificate.envelope import sign_statement
from lockstep.certificate.statement import experiments_subjects, statement
from lockstep.errors import LockstepError
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

    Raises:
        LockstepError: LIMIT_SIZE, a certificate does not hold so much [EXP-16].
    """
    from lockstep.claims.sampling_experiments import digest, predicate

    check_size(seen)
    folded = predicate(seen, issued_at=issued_at, producer=producer(command))
    subjects = experiments_subjects(folded, digest(folded))
    stated = statement("sampling-experiments", subjects, folded)
    return Issued(sign_statement(stated, keys), folded)


def check_size(seen: "Experiments") -> None:
    """See that a certificate holds what was observed [EXP-16].

    Raises:
        LockstepError: LIMIT_SIZE, at what is too much.
    """
    from lockstep import spec

    data = spec.load("sampling-experiments.json")
    positions = [len(one.differing) for one in seen.series]
    values = [len(one.values) for one in seen.distances]
    for pointer, what, got, bound in (
        ("/series", "series", len(positions), "series_most"),
        ("/series", "positions of a series", max(positions, default=0), "series_positions_most"),
        ("/series", "positions", sum(positions), "positions_most"),
        ("/distances", "entries", len(values), "distances_most"),
        ("/distances", "values of an entry", max(values, default=0), "entry_values_most"),
        ("/distances", "values", sum(values), "values_most"),
    ):
        if got > data[bound]:
            raise LockstepError("LIMIT_SIZE", pointer, f"at most {data[bound]} {what}", got)
