"""The claim of a calibration: a ladder, folded into the predicate (spec/distance.md).

Nothing is computed by a model, read or timed here: the same ladder and arguments give the same
predicate.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from lockstep import spec
from lockstep.certificate import lcj
from lockstep.sampling.distance import (
    Measures,
    Values,
    measure,
    quantile,
    statistics,
    top,
    values,
)
from lockstep.sampling.ladder import Ladder, Pairs, Rung, Signed
from lockstep.sampling.placement import Placement, placement, verdict

PREDICATE_TYPE = "urn:lockstep:certificate:distance-calibration:v1"

UNBOUND = ("issued_at", "critical", "producer", "not_run")
"""Members of the predicate from which nothing follows [DIST-19]."""


def predicate(
    ladder: Ladder, accepts: int, *, issued_at: str, producer: Mapping[str, str]
) -> dict[str, Any]:
    """Fold a ladder into the predicate of its certificate.

    Args:
        ladder: what was observed.
        accepts: so many rungs count as the model, from the first.
        issued_at: UTC time, as the schema writes it.
        producer: name, version, python, machine and command.
    """
    data = spec.load("distance-calibration.json")
    reference = [[_reference(pairs, ladder) for pairs in row] for row in ladder.recomputed]
    rungs = [_rung(one, reference) for one in ladder.rungs]
    placements = [
        placement([one["statistics"] for one in rungs], count) for count in range(1, len(rungs))
    ]
    chosen = placements[accepts - 1]
    return {
        "issued_at": issued_at,
        "critical": [],
        "producer": dict(producer),
        "version": data["contract"],
        "model": {
            "sha256": ladder.model_sha256,
            "stored_dtype": ladder.stored_dtype,
            "vocab_size": ladder.vocab_size,
        },
        "reference": _computation(ladder.reference),
        "support_tokens": ladder.support_tokens,
        "accepts": accepts,
        "texts": [
            {
                "id": text.id,
                "prompt": list(text.prompt),
                "tokens": list(text.tokens),
                "reference": [written(pairs) for pairs in row],
            }
            for text, row in zip(ladder.texts, ladder.recomputed, strict=True)
        ],
        "rungs": rungs,
        "placements": [
            {
                "accepts": one.accepts,
                "thresholds": list(one.thresholds),
                "outcomes": list(one.outcomes),
                "held_out_beyond": one.held_out_beyond,
            }
            for one in placements
        ],
        "counts": _counts(ladder, rungs, chosen),
        "verdict": verdict([len(text.tokens) for text in ladder.texts], chosen),
        "not_run": list(data["not_run"]),
    }


def digest(folded: Mapping[str, Any]) -> str:
    """Give what names a calibration wherever its thresholds are used [DIST-19]."""
    bound = {name: value for name, value in folded.items() if name not in UNBOUND}
    return hashlib.sha256(lcj.encode(bound)).hexdigest()


def written(pairs: Pairs) -> str:
    """Write a support as one text [DIST-13]."""
    return " ".join(f"{token}:{text}" for token, text in pairs)


def _computation(rung: Rung) -> dict[str, str]:
    return {"backend": rung.backend, "dtype": rung.dtype, "schedule": rung.schedule.name}


class _Reference(NamedTuple):
    """What was recomputed at a token: its numbers, and what the reference would have signed."""

    values: Values
    top: Pairs


def _reference(recomputed: Pairs, ladder: Ladder) -> _Reference:
    read = values(recomputed)
    likeliest = set(top(read, ladder.support_tokens))
    return _Reference(read, tuple(pair for pair in recomputed if pair[0] in likeliest))


def _rung(signed: Signed, recomputed: Sequence[Sequence[_Reference]]) -> dict[str, Any]:
    """Measure a rung against the reference [DIST-15]."""
    gates = spec.load("distance-calibration.json")
    measured = [
        [measure(values(one), reference.values) for one, reference in zip(text, row, strict=True)]
        for text, row in zip(signed.supports, recomputed, strict=True)
    ]
    supports = [
        [
            # Null stands for what the reference would have signed [DIST-14].
            None if one == reference.top else written(one)
            for one, reference in zip(text, row, strict=True)
        ]
        for text, row in zip(signed.supports, recomputed, strict=True)
    ]
    whole = [one for text in measured for one in text]
    return {
        "name": signed.rung.name,
        "model_sha256": signed.model_sha256,
        "weights": signed.rung.weights,
        **_computation(signed.rung),
        "supports": supports,
        "identical": sum(one is None for text in supports for one in text),
        "quantiles": [
            [quantile((getattr(one, name) for one in whole), k) for k in gates["quantiles"]]
            for name in Measures._fields
        ],
        "statistics": [list(statistics(text)) for text in measured],
    }


def _counts(ladder: Ladder, rungs: list[dict[str, Any]], chosen: Placement) -> dict[str, int]:
    """Count, in the order of [DIST-20]."""
    positions = sum(len(text.tokens) for text in ladder.texts)
    written_supports = [
        one for rung in rungs for text in rung["supports"] for one in text if one is not None
    ]
    outcomes = ("held", "separated", "overlapping", "not_separated")
    return {
        "texts": len(ladder.texts),
        "texts_held_out": len(ladder.texts) // 2,
        "positions": positions,
        "rungs": len(rungs),
        "accepted": chosen.accepts,
        **{name: chosen.outcomes.count(name) for name in outcomes},
        "comparisons": positions * len(rungs),
        "identical": sum(rung["identical"] for rung in rungs),
        "held_out_beyond": chosen.held_out_beyond,
        "signed_tokens": ladder.support_tokens * len(written_supports),
        "reference_tokens": sum(len(pairs) for row in ladder.recomputed for pairs in row),
    }
