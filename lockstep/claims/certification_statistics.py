"""Rates with exact bounds, in parts per million [CERT-18]: integers all the way."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import comb
from typing import Any

from lockstep import spec

PPM = 1_000_000


def at_most(k: int, n: int, rate_ppm: int) -> int:
    """Give the probability of at most k of n at a rate, times `PPM ** n`."""
    other = PPM - rate_ppm
    return sum(comb(n, i) * rate_ppm**i * other ** (n - i) for i in range(k + 1))


@cache
def interval(k: int, n: int) -> tuple[int, int]:
    """Give the bounds of a rate by Clopper and Pearson: the lower rounded down, the upper up."""
    alpha = (1000 - spec.load("certification.json")["confidence_permille"]) * PPM**n
    low = high = 0
    if k > 0:
        low = _first(lambda q: (PPM**n - at_most(k - 1, n, q)) * 2000 > alpha) - 1
    if k < n:
        high = _first(lambda q: at_most(k, n, q) * 2000 <= alpha)
    return low, high if k < n else PPM


@cache
def missed(n: int) -> int:
    """Give the largest rate that n draws without a difference would have missed."""
    rest = 1000 - spec.load("certification.json")["confidence_permille"]
    return _first(lambda q: (PPM - q) ** n * 1000 <= rest * PPM**n)


def statistics(rounds: int, differing: int, lifetimes: int, apart: int) -> dict[str, Any]:
    """Give the member `statistics` of a cell.

    Args:
        rounds: that are scored.
        differing: of them, those outside of the largest class.
        lifetimes: with a scored round.
        apart: of them, those with a round outside of that class.
    """
    low, high = interval(differing, rounds)
    lifetime_low, lifetime_high = interval(apart, lifetimes)
    return {
        "rounds": rounds,
        "differing": differing,
        "low_ppm": low,
        "high_ppm": high,
        "missed_ppm": None if differing else missed(rounds),
        "lifetimes": lifetimes,
        "lifetimes_differing": apart,
        "lifetime_low_ppm": lifetime_low,
        "lifetime_high_ppm": lifetime_high,
        "lifetime_missed_ppm": None if apart else missed(lifetimes),
    }


def _first(holds: Callable[[int], bool]) -> int:
    """Give the least rate at which something holds that holds at all larger ones."""
    low, high = 0, PPM
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low
