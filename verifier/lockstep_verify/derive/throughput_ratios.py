"""Ratios of walls, their interval by order statistics, and criteria (THR-5 to THR-9)."""

from fractions import Fraction
from math import comb
from typing import Any, NamedTuple

_MILLION = 1_000_000


class Interval(NamedTuple):
    """Ranked ratios, each with its block, and the probability that they hold the median."""

    low: tuple[Fraction, int]
    median: tuple[Fraction, int]
    high: tuple[Fraction, int]
    coverage_ppm: int


def interval(pairs: list[tuple[Fraction, int]], confidence_permille: int) -> Interval | None:
    """Give the interval of the median ratio, None where no rank reaches the confidence (THR-7).

    Args:
        pairs: each ratio with its block.
        confidence_permille: that it is to reach.
    """
    ranked, n = sorted(pairs), len(pairs)
    # 2^n times the probability that rank k or its counterpart misses the median; it grows with k.
    chosen = outside = wider = 0
    for k in range(1, -(-n // 2) + 1):
        wider += 2 * comb(n, k - 1)
        if 1000 * wider > (1000 - confidence_permille) * 2**n:
            break
        chosen, outside = k, wider
    if not chosen:
        return None
    coverage = _MILLION - -(-_MILLION * outside // 2**n)
    return Interval(ranked[chosen - 1], ranked[-(-n // 2) - 1], ranked[n - chosen], coverage)


def stated(found: Interval | None) -> dict[str, Any]:
    """Give the members of a comparison that say the interval (THR-8)."""
    if found is None:
        return dict.fromkeys(("low", "median", "high", "coverage_ppm"))
    low, median, high = (one[0] * _MILLION for one in found[:3])
    ppm = {
        "low": low.numerator // low.denominator,
        "median": (2 * median.numerator + median.denominator) // (2 * median.denominator),
        "high": -(-high.numerator // high.denominator),
    }
    blocks = {"low": found.low[1], "median": found.median[1], "high": found.high[1]}
    ends = {name: {"block": blocks[name], "ppm": ppm[name]} for name in ppm}
    return {**ends, "coverage_ppm": found.coverage_ppm}


def outcome(found: Interval | None, threshold_ppm: int) -> str:
    """Give the side of a threshold on which the whole interval lies (THR-9)."""
    if found is None:
        return "not_separable"
    threshold = Fraction(threshold_ppm, _MILLION)
    if found.high[0] < threshold:
        return "below"
    return "above" if found.low[0] > threshold else "not_separable"
