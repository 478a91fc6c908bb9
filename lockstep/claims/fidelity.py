"""The claim F1: what was measured, folded into the predicate (spec/fidelity.md).

Nothing is computed by a model, read or timed here: the same observations and arguments give the
same predicate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lockstep import spec
from lockstep.fidelity.judge import measures, near_tie
from lockstep.fidelity.measure import Measured

PREDICATE_TYPE = "urn:lockstep:certificate:fidelity:v1"

NOT_RUN = (
    "prompts other than those of the corpus, and requests in company",
    "models and backends other than these",
)
"""What it says nothing of [FID-9]."""


@dataclass(frozen=True)
class FidelitySeen:
    """What a run of F1 observed.

    Attributes:
        model: as [FID-9] states it.
        environment: the tuple of the backend.
        reference: the tuple of the reference.
        measured: each prompt's records.
    """

    model: Mapping[str, Any]
    environment: Mapping[str, Any]
    reference: Mapping[str, Any]
    measured: Sequence[Measured]


def predicate(seen: FidelitySeen, *, issued_at: str, producer: Mapping[str, str]) -> dict[str, Any]:
    """Fold the observations of F1 into the predicate of their certificate.

    Args:
        seen: the observations.
        issued_at: UTC time, as the schema writes it.
        producer: name, version, python, numpy, machine and command.
    """
    dtype: str = seen.model["dtype"]
    split: int = spec.load("fidelity.json")["split"]
    records = [record for entry in seen.measured for record in entry.records]
    found = measures(records, dtype)
    return {
        "issued_at": issued_at,
        "critical": [],
        "producer": dict(producer),
        "environment": dict(seen.environment),
        "reference": dict(seen.reference),
        "model": dict(seen.model),
        "prompts": [
            {
                "id": entry.prompt.id,
                "tokens": len(entry.prompt.tokens),
                "sha256": entry.prompt.sha256,
                "crosses_split": len(entry.prompt.tokens) > split,
                "logits_sha256": entry.logits_sha256,
                "records": [asdict(record) for record in entry.records],
            }
            for entry in seen.measured
        ],
        "measures": [measure._asdict() for measure in found],
        "counts": {
            "prompts": len(seen.measured),
            "prompts_past_split": len([m for m in seen.measured if len(m.prompt.tokens) > split]),
            "logit_rows": len(records),
            "logit_rows_past_split": len([r for r in records if r.position >= split]),
            "near_ties": len([r for r in records if near_tie(r, dtype)]),
            "top_agreements": len([r for r in records if r.top == r.reference_top]),
            "bounds": len(found),
        },
        "not_run": list(NOT_RUN),
    }
