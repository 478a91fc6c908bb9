"""Profile upstream-1.0.0: four distances of another project's code, faults included [DIST-22].

They are here to be compared with. Floats, in the order of operations of that code; a is what the
executor signed, b what the validator recomputed, each a list of log-probabilities by token.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from lockstep import spec

Position = Mapping[str, float]


def mae_support(a: Sequence[Position], b: Sequence[Position]) -> float:
    """Give the mean absolute difference over the executor's tokens [DIST-22]."""
    missing = float(spec.load("distance-calibration.json")["upstream"]["missing"])
    if len(a) != len(b):
        return missing
    means = []
    for signed, other in zip(a, b, strict=True):
        apart = [abs(signed[t] - other[t]) if t in other else missing for t in sorted(signed)]
        if apart:
            means.append(sum(apart) / len(apart))
    return sum(means) / len(means) if means else 0.0


def vllm_validation_logic(a: Sequence[Position], b: Sequence[Position]) -> float:
    """Give the smoothed relative distance of the oldest validator [DIST-23]."""
    below = spec.load("distance-calibration.json")["upstream"]["below_least"]
    whole = 0.0
    for signed, other in zip(a, b, strict=True):
        if signed and other:
            least = min(other.values()) - below
            whole += sum(_term(signed[t], other.get(t, least), 1e-10) for t in signed)
    return _smoothed(whole, a)


def mlnode_distance2(a: Sequence[Position], b: Sequence[Position]) -> float:
    """Give the same with missing tokens extrapolated [DIST-24]."""
    whole = 0.0
    for signed, other in zip(a, b, strict=True):
        if signed and other:
            guess = _extrapolated(other, 1.0)
            whole += sum(_term(signed[t], other.get(t, guess), 1e-10) for t in signed)
    return _smoothed(whole, a)


def similarity_old_sum(a: Sequence[Position], b: Sequence[Position]) -> float:
    """Give the similarity of the deployed validator; above 0.99 passes [DIST-24]."""
    whole = sum(sum(_terms(signed, other)) for signed, other in zip(a, b, strict=True))
    return 1 - whole / (_positions(len(a)) * len(a[0]))


def position_means(a: Sequence[Position], b: Sequence[Position]) -> list[float]:
    """Give each position's mean relative term of the newer shared package [DIST-25]."""
    means = []
    for signed, other in zip(a, b, strict=True):
        terms = [term if math.isfinite(term) else 0.5 for term in _terms(signed, other)]
        means.append(sum(terms) / len(terms))
    return means


def _term(x: float, y: float, epsilon: float) -> float:
    return abs(x - y) / (epsilon + abs(x) + abs(y)) / 2


def _terms(signed: Position, other: Position) -> list[float]:
    guess = _extrapolated(signed, 100.0)
    return [_term(value, signed.get(token, guess), 1e-6) for token, value in other.items()]


def _extrapolated(values: Position, gap: float) -> float:
    """Guess a missing value from the two least; the guess from one alone is above it."""
    ordered = sorted(values.values())
    least = ordered[0]
    second = ordered[1] if len(ordered) > 1 else least - gap
    return least - (second - least)


def _smoothed(whole: float, a: Sequence[Position]) -> float:
    mean = sum(map(len, a)) / len(a)
    return (whole + 1) / (_positions(len(a)) * mean + 1)


def _positions(count: int) -> int:
    least: int = spec.load("distance-calibration.json")["upstream"]["positions"]
    return max(least, count)
