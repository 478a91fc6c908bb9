"""The claim about sampled sequences: verdicts, folded into the predicate (spec/sampling.md).

Nothing is replayed, read or timed here: the same outcomes and arguments give the same predicate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from lockstep import spec
from lockstep.sampling.observe import Judged

PREDICATE_TYPE = "urn:lockstep:certificate:sampling:v1"

_DERIVED = (
    "verdict",
    "reason",
    "position",
    "positions",
    "covered",
    "fraud_positions",
    "invalid_positions",
)


def predicate(
    judged: Sequence[Judged], *, issued_at: str, producer: Mapping[str, str]
) -> dict[str, Any]:
    """Fold judged sequences into the predicate of their certificate [SAMP-38].

    Args:
        judged: 1 or more.
        issued_at: UTC time, as the schema writes it.
        producer: name, version, python, machine and command.
    """
    data = spec.load("sampling.json")
    counts = totals(judged)
    return {
        "issued_at": issued_at,
        "critical": [],
        "producer": dict(producer),
        "version": data["contract"],
        "sequences": [
            {
                "request": dict(one.request),
                "choice": one.choice,
                "artifact": dict(one.artifact),
                **{name: getattr(one.outcome, name) for name in _DERIVED},
            }
            for one in judged
        ],
        "counts": counts,
        "verdict": verdict(counts),
        "lemmas": lemmas(),
        "not_run": list(data["not_run"]),
    }


def totals(judged: Sequence[Judged]) -> dict[str, int]:
    """Count sequences by verdict, and their positions [SAMP-39]."""
    verdicts = Counter(one.outcome.verdict for one in judged)
    positions = sum(one.outcome.positions for one in judged)
    covered = sum(one.outcome.covered for one in judged)
    return {
        "sequences": len(judged),
        "honest": verdicts["honest"],
        "fraud": verdicts["fraud"],
        "invalid_artifact": verdicts["invalid_artifact"],
        "inconclusive": verdicts["inconclusive"],
        "not_covered": verdicts["not_covered"],
        "positions": positions,
        "positions_covered": covered,
        "covered_permille": 1000 * covered // positions if positions else 0,
        "fraud_positions": sum(one.outcome.fraud_positions for one in judged),
        "invalid_positions": sum(one.outcome.invalid_positions for one in judged),
        "support_tokens": sum(one.outcome.support_tokens for one in judged),
        "beacons": sum(bool(one.request["beacon"]) for one in judged),
        "requests": len({one.request["inference_id"] for one in judged}),
        "choices_missing": _missing(judged),
    }


def lemmas() -> list[dict[str, str]]:
    """Name the lemmas that the sampler's rules rest on, by statement digest [SAMP-38]."""
    registered = {
        one["name"]: one["statement_sha256"] for one in spec.load("lemmas.json")["lemmas"]
    }
    names = dict.fromkeys(one["name"] for one in spec.load("sampling.json")["lemmas"])
    return [{"name": name, "statement_sha256": registered[name]} for name in names]


def _missing(judged: Sequence[Judged]) -> int:
    """Count the choices that requests ask for and no sequence has [SAMP-47]."""
    asked = {one.request["inference_id"]: one.request["choices"] for one in judged}
    return int(sum(asked.values())) - len(judged)


def verdict(counts: Mapping[str, int]) -> str:
    """Fold the counts of sequences into one verdict; a worse one is never outvoted [SAMP-36]."""
    for name in ("fraud", "invalid_artifact", "inconclusive"):
        if counts[name]:
            return name
    least: int = spec.load("sampling.json")["coverage_least_permille"]
    covered = counts["positions_covered"]
    if counts["choices_missing"] or not covered or 1000 * covered < least * counts["positions"]:
        return "not_covered"
    return "honest"
