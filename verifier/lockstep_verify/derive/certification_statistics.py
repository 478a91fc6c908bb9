"""Rates with exact bounds, in parts per million (CERT-18).

A chance is enclosed in decimals that are rounded away from it; where the enclosure does not decide,
integers do. So bounds for thousands of draws, which a stranger's certificate may ask for, take
milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from functools import lru_cache
from math import comb

from lockstep_verify import spec

_WHOLE = 1_000_000
_DIGITS = 40
_NEGLIGIBLE = Decimal("1e-30")
"""The share of a sum below which what is left of it is no longer added up."""


def _gamma() -> int:
    return int(spec.load("certification.json")["confidence_permille"])


def _at_most(k: int, n: int, rate: int) -> int:
    """Give P(X <= k) of n draws at a rate below 10^6, times the n-th power of a million."""
    term = total = int((_WHOLE - rate) ** n)
    for i in range(k):
        term = term * ((n - i) * rate) // ((i + 1) * (_WHOLE - rate))
        total += term
    return total


def _raised(base: Decimal, exponent: int, context: Context) -> Decimal:
    """Give a power of a positive number, rounded in each step as the context rounds."""
    result = Decimal(1)
    while exponent:
        if exponent & 1:
            result = context.multiply(result, base)
        base = context.multiply(base, base)
        exponent >>= 1
    return result


def _enclosed(k: int, n: int, rate: int, ways: int, rounding: str) -> Decimal:
    """Give P(X <= k) of n draws, or a number on that side of it to which `rounding` leads.

    Terms are added up from that of k downwards. All that is multiplied, divided and added is
    positive, so that each rounding moves the result to its side. Terms that fall once go on
    falling, and so what is left of them is at most as many times the next.

    Args:
        k: the most that are counted.
        n: draws.
        rate: above 0 and below 10^6.
        ways: to choose k of n.
        rounding: ROUND_CEILING or ROUND_FLOOR.
    """
    context = Context(prec=_DIGITS, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX)
    other = _WHOLE - rate
    term = context.create_decimal(ways)
    for base, exponent in ((rate, k), (other, n - k)):
        share = context.divide(Decimal(base), Decimal(_WHOLE))
        term = context.multiply(term, _raised(share, exponent, context))
    total = term
    for i in range(k, 0, -1):
        up, down = i * other, (n - i + 1) * rate
        term = context.divide(context.multiply(term, Decimal(up)), Decimal(down))
        if up < down:
            left = context.multiply(term, Decimal(i))
            if left < context.multiply(total, _NEGLIGIBLE):
                return context.add(total, left) if rounding == ROUND_CEILING else total
        total = context.add(total, term)
    return total


def _is_rare(k: int, n: int) -> Callable[[int], bool]:
    """Give, for a rate, whether P(X <= k) is at most half of what the confidence leaves; k < n."""
    left, ways = 1000 - _gamma(), comb(n, k)
    half = Decimal(f"{5 * left}e-4")

    def decide(rate: int) -> bool:
        if rate in (0, _WHOLE):
            return rate == _WHOLE
        if _enclosed(k, n, rate, ways, ROUND_CEILING) <= half:
            return True
        if _enclosed(k, n, rate, ways, ROUND_FLOOR) > half:
            return False
        return _at_most(k, n, rate) * 2000 <= left * int(_WHOLE**n)

    return decide


@lru_cache(maxsize=4096)
def bounds(k: int, n: int) -> tuple[int, int]:
    """Give the least and the largest rate by Clopper and Pearson, for k of n."""
    low, high = 0, _WHOLE
    if k > 0:
        # The largest rate at which k or more, so n - k or fewer of the others, are rare.
        rare, above = _is_rare(n - k, n), _WHOLE
        while above - low > 1:
            middle = (low + above) // 2
            if rare(_WHOLE - middle):
                low = middle
            else:
                above = middle
    if k < n:
        # The smallest rate at which k or fewer are rare.
        rare, below = _is_rare(k, n), -1
        while high - below > 1:
            middle = (high + below) // 2
            if rare(middle):
                high = middle
            else:
                below = middle
    return low, high


@lru_cache(maxsize=4096)
def missed(n: int) -> int:
    """Give the largest rate that n draws without a difference leave open, rounded up."""
    rare, low, high = (1000 - _gamma()) * _WHOLE**n, -1, _WHOLE
    while high - low > 1:
        middle = (low + high) // 2
        if (_WHOLE - middle) ** n * 1000 <= rare:
            high = middle
        else:
            low = middle
    return high
