"""The second stage's verdict on sequences: within, beyond, or not decided [DIST-10].

Replay's verdict stands beside this one, and neither hides the other. Nothing is enforced by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import Any, NamedTuple

from lockstep import spec
from lockstep.sampling.distance import Values, beyond, has_mass, measure, statistics, values
from lockstep.sampling.document import Artifact, Request, read_artifact, read_request
from lockstep.sampling.observe import Judged
from lockstep.sampling.recomputed import Position, Recomputed, measurable

_LARGEST = 1000
"""The quantile, in thousandths, that is the largest."""


class Calibration(NamedTuple):
    """Thresholds, and where they come from.

    Attributes:
        sha256: of the calibration [DIST-19].
        model_sha256: of the model.
        support_tokens: of every support.
        thresholds: of each gate.
        void: whether nothing may be decided by it.
    """

    sha256: str
    model_sha256: str
    support_tokens: int
    thresholds: tuple[int, ...]
    void: bool


class Distance(NamedTuple):
    """What the distance of a sequence came to.

    Attributes:
        verdict: `within`, `beyond` or `not_decided`.
        reason: why it is not decided, else empty.
        positions: that were measured.
        statistics: of each gate; empty where nothing was measured.
        thresholds: of each gate; empty where none were used.
        calibration: the digest of what the thresholds come from; empty where none were used.
    """

    verdict: str
    reason: str
    positions: int = 0
    statistics: tuple[int, ...] = ()
    thresholds: tuple[int, ...] = ()
    calibration: str = ""


def calibration_of(predicate: Mapping[str, Any], sha256: str) -> Calibration:
    """Take the thresholds of a calibration's predicate, which a verifier has derived anew.

    Args:
        predicate: of kind distance-calibration.
        sha256: its digest [DIST-19].
    """
    accepts: int = predicate["accepts"]
    chosen = predicate["placements"][accepts - 1]
    void = predicate["verdict"] == "not_decided" or "not_held" in chosen["outcomes"]
    return Calibration(
        sha256,
        predicate["model"]["sha256"],
        predicate["support_tokens"],
        tuple(chosen["thresholds"]),
        void,
    )


def compare(
    judged: Judged, recomputed: Recomputed, calibration: Calibration | None = None
) -> Distance:
    """Measure a sequence, and hold it against thresholds.

    Args:
        judged: the sequence, with replay's verdict.
        recomputed: what the validator's model gave.
        calibration: where thresholds come from.
    """
    request, artifact = read_request(judged.request), read_artifact(judged.artifact)
    key = (request.origin.inference_id, judged.choice)
    found = recomputed.sequences.get(key)
    reason = _unmeasured(judged, found, recomputed.model_sha256, request, artifact)
    if reason or found is None:
        return Distance("not_decided", reason)
    signed = [values(one.support or ()) for one in artifact.positions]
    if not all(map(_complete, signed, found, repeat(request.vocab_size))):
        return Distance("not_decided", "recomputed_incomplete")
    measured = [measure(one, other.support) for one, other in zip(signed, found, strict=True)]
    told = statistics(measured)
    reason = _undecided(request, signed, calibration)
    if len(measured) < spec.load("distance-calibration.json")["positions_least"] and (
        reason or calibration is None or not _one_is_beyond(told, calibration)
    ):
        reason = "positions_few"
    if reason or calibration is None:
        return Distance("not_decided", reason, len(measured), told)
    verdict = "beyond" if beyond(told, calibration.thresholds) else "within"
    used = (calibration.thresholds, calibration.sha256)
    return Distance(verdict, "", len(measured), told, *used)


def _unmeasured(
    judged: Judged,
    found: Sequence[Position] | None,
    model_sha256: str,
    request: Request,
    artifact: Artifact,
) -> str:
    """Give the reason for which nothing can be measured, empty where it can."""
    if judged.outcome.verdict in ("inconclusive", "not_covered"):
        return "not_covered"
    if not measurable(judged):
        return "artifact_invalid"
    if found is None:
        return "recomputed_missing"
    if model_sha256 != request.model_sha256:
        return "recomputed_other_model"
    tokens = [one.token for one in artifact.positions]
    return "" if [one.token for one in found] == tokens else "recomputed_other_tokens"


def _complete(signed: Values, found: Position, vocab_size: int) -> bool:
    """Tell whether a position holds what it is measured by [DIST-1]."""
    support = found.support
    return (
        bool(signed)
        and signed.keys() <= support.keys()
        and all(int(token) < vocab_size for token in support)
        and has_mass(support, len(signed), vocab_size)
    )


def _one_is_beyond(told: Sequence[int], calibration: Calibration) -> bool:
    """Tell whether a single position is beyond what the largest of longer sequences may be."""
    gates = spec.load("distance-calibration.json")["gates"]
    return any(
        gate["permille"] == _LARGEST and statistic > threshold
        for gate, statistic, threshold in zip(gates, told, calibration.thresholds, strict=True)
    )


def _undecided(request: Request, signed: list[Values], calibration: Calibration | None) -> str:
    """Give the reason for which thresholds do not apply, empty where they do."""
    if calibration is None:
        return "calibration_missing"
    sizes = {len(one) for one in signed}
    if calibration.model_sha256 != request.model_sha256 or sizes != {calibration.support_tokens}:
        return "calibration_other"
    return "calibration_void" if calibration.void else ""
