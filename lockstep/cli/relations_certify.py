"""`lockstep relations --certificate`: sign what the runs of relations recorded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from lockstep.relations.observation import Observation


def certify(
    output: Path,
    model: Path | None,
    runs: Sequence[Observation],
    controls: Sequence[Observation],
    signer: Ed25519PrivateKey,
    backend: str,
    dtype: str | None,
) -> int:
    """Write a signed certificate of records, and have it verified; gives an exit status.

    Args:
        output: where it goes.
        model: the model's folder, None for the tiny one.
        runs: records of relations.
        controls: records of controls.
        signer: its key.
        backend: what the relations ran on.
        dtype: compute dtype as requested.

    Raises:
        LockstepError: NOT_COMPARABLE, a record is of another model, backend or version of the
            sources than those at hand; COUNTERS_CONTRADICT, a record that no run leaves.
    """
    from lockstep.cli.hunt import now
    from lockstep.cli.signing import conclude
    from lockstep.engine.tiny import TinyModel
    from lockstep.issue import issue_invariance

    issued = issue_invariance(
        model or TinyModel(),
        [signer],
        runs=runs,
        controls=controls,
        issued_at=now(),
        command=f"lockstep relations --backend {backend}",
        backend=backend,
        dtype=dtype,
    )
    return conclude(output, issued.certificate, summary(issued.predicate), signer)


def summary(predicate: dict[str, Any]) -> list[str]:
    """Give the lines that sum up a certificate of relations for people."""
    counts = predicate["counts"]
    claims = ", ".join(f"{claim['name']} {claim['verdict']}" for claim in predicate["claims"])
    return [
        f"{predicate['verdict']}: {counts['holds']} of {counts['demanded']} combinations of "
        f"relation and block size hold, {counts['violated']} violated, {counts['vacuous']} "
        f"vacuous, {counts['not_run']} not run; {counts['does_not_apply']} do not apply",
        f"claims: {claims}",
        f"{counts['positions']:,} positions compared bit for bit over {counts['executions']:,} "
        f"executions; {counts['two_grams']} of {counts['two_grams_legal']} pairs of events and "
        f"{counts['three_grams']} of {counts['three_grams_legal']} triples seen",
        f"controls: {counts['controls_shown']} of {counts['controls']} shown, "
        f"{counts['controls_not_comparable']} not comparable",
    ]
