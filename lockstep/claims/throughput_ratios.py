"""Ratios of paired walls, their interval by order statistics, and criteria on it [THR-5 to THR-9].

All of it is arithmetic of integers: a ratio is a pair of walls, and pairs are compared by products.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cmp_to_key
from math import comb
from typing import NamedTuple

PPM = 1_000_000


class Ratio(NamedTuple):
    """The walls of one pair, in microseconds.

    Attributes:
        block: that they were taken in.
        a: of the first arm; above 0.
        b: of the second arm; above 0.
    """

    block: int
    a: int
    b: int


class Interval(NamedTuple):
    """The ratios at the interval's ends and in its middle.

    Attributes:
        low: of the rank k.
        median: of the rank in the middle.
        high: of the rank k from the largest.
        coverage_ppm: probability that the median ratio lies between, rounded down.
    """

    low: Ratio
    median: Ratio
    high: Ratio
    coverage_ppm: int


def ascending(ratios: Sequence[Ratio]) -> list[Ratio]:
    """Give ratios by size, equal ones by block [THR-6]."""

    def compare(one: Ratio, other: Ratio) -> int:
        return one.a * other.b - other.a * one.b or one.block - other.block

    return sorted(ratios, key=cmp_to_key(compare))


def rank(count: int, confidence_permille: int) -> int | None:
    """Give the rank at which an interval begins; None where pairs are too few for one [THR-7]."""
    outside, found = 0, None
    for k in range(1, (count + 1) // 2 + 1):
        outside += comb(count, k - 1)
        if 2000 * outside > (1000 - confidence_permille) << count:
            break
        found = k
    return found


def interval(ratios: Sequence[Ratio], confidence_permille: int) -> Interval | None:
    """Give the interval of the median ratio; None where pairs are too few."""
    ordered, count = ascending(ratios), len(ratios)
    k = rank(count, confidence_permille)
    if k is None:
        return None
    outside = 2 * sum(comb(count, i) for i in range(k))
    coverage = PPM - -(-PPM * outside >> count)
    return Interval(ordered[k - 1], ordered[(count - 1) // 2], ordered[count - k], coverage)


def below(ratio: Ratio, threshold_ppm: int) -> bool:
    """Whether a ratio is below a threshold in millionths."""
    return PPM * ratio.a < threshold_ppm * ratio.b


def above(ratio: Ratio, threshold_ppm: int) -> bool:
    """Whether a ratio is above a threshold in millionths."""
    return PPM * ratio.a > threshold_ppm * ratio.b


def outcome(found: Interval | None, threshold_ppm: int) -> str:
    """Give on which side of a threshold the ratio lies, if that can be told [THR-9]."""
    if found is not None and below(found.high, threshold_ppm):
        return "below"
    if found is not None and above(found.low, threshold_ppm):
        return "above"
    return "not_separable"


def document(found: Interval | None) -> dict[str, object]:
    """Give the LCJ form: each ratio in millionths, rounded outwards at the ends [THR-8]."""
    if found is None:
        return {"low": None, "median": None, "high": None, "coverage_ppm": None}
    low, median, high, coverage = found
    return {
        "low": {"block": low.block, "ppm": PPM * low.a // low.b},
        "median": {
            "block": median.block,
            "ppm": (2 * PPM * median.a + median.b) // (2 * median.b),
        },
        "high": {"block": high.block, "ppm": -(-PPM * high.a // high.b)},
        "coverage_ppm": coverage,
    }
