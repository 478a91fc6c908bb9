"""Rates with exact bounds, in parts per million [CERT-18].

Integers decide where a chance lies closer to the limit than its estimate is sure of.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from functools import cache
from math import comb
from typing import Any

from lockstep import spec

PPM = 1_000_000

_WORK = Context(prec=60, Emin=MIN_EMIN, Emax=MAX_EMAX)
_CUT, _SURE = Decimal("1e-40"), Decimal("1e-30")


def at_most(k: int, n: int, rate_ppm: int) -> int:
    """Give the probability of at most k of n at a rate, times `PPM ** n`."""
    other = PPM - rate_ppm
    return sum(comb(n, i) * rate_ppm**i * other ** (n - i) for i in range(k + 1))


def estimate(k: int, n: int, rate_ppm: int) -> Decimal:
    """Give the probability of at most k of n at a rate between 0 and `PPM`, within 1 in 10^38.

    The term of k, then those before it by their ratios, until they fall and what is left is below
    the 10^40th part. Each step has an error of 10^-59 at most; a term comes of fewer than 9 n
    steps, squarings weighted by how often they count, and n is far below 10^18.
    """
    other = PPM - rate_ppm
    odds, total = _ratio(other, rate_ppm), Decimal(0)
    term = _WORK.multiply(_power(rate_ppm, k), _power(other, n - k))
    term = _WORK.multiply(term, _WORK.create_decimal(comb(n, k)))
    for i in range(k, -1, -1):
        total = _WORK.add(total, term)
        # Behind the middle of the distribution terms fall, and those that are left are i.
        if i * PPM < n * rate_ppm and _WORK.multiply(term, Decimal(i)) < _WORK.multiply(
            total, _CUT
        ):
            break
        term = _WORK.multiply(_WORK.multiply(term, odds), _ratio(i, n - i + 1))
    return total


def _ratio(numerator: int, denominator: int) -> Decimal:
    return _WORK.divide(Decimal(numerator), Decimal(denominator))


def _power(rate_ppm: int, exponent: int) -> Decimal:
    share, result = _ratio(rate_ppm, PPM), Decimal(1)
    for digit in f"{exponent:b}":
        result = _WORK.multiply(result, result)
        result = _WORK.multiply(result, share) if digit == "1" else result
    return result


def rare(k: int, n: int, rate_ppm: int) -> bool:
    """Say whether at most k of n have half the chance, or less, that the confidence leaves."""
    left: int = 1000 - spec.load("certification.json")["confidence_permille"]
    if rate_ppm in (0, PPM):
        return k < n and rate_ppm == PPM
    apart = _WORK.subtract(_WORK.multiply(estimate(k, n, rate_ppm), Decimal(2000)), Decimal(left))
    if abs(apart) > _SURE:
        return apart < 0
    return at_most(k, n, rate_ppm) * 2000 <= left * int(PPM**n)


@cache
def interval(k: int, n: int) -> tuple[int, int]:
    """Give the bounds of a rate by Clopper and Pearson: the lower rounded down, the upper up."""
    low, high = 0, PPM
    if k > 0:
        low = _first(lambda q: not rare(n - k, n, PPM - q)) - 1
    if k < n:
        high = _first(lambda q: rare(k, n, q))
    return low, high


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
