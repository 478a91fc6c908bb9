"""Rates with exact bounds, in parts per million (CERT-18)."""

from __future__ import annotations

from functools import lru_cache

from lockstep_verify import spec

_WHOLE = 1_000_000


def _gamma() -> int:
    return int(spec.load("certification.json")["confidence_permille"])


def _at_most(k: int, n: int, rate: int) -> int:
    """Give P(X <= k) of n draws at a rate, times the n-th power of a million."""
    if rate == _WHOLE:
        return int(_WHOLE**n) if k >= n else 0
    term = total = int((_WHOLE - rate) ** n)
    for i in range(k):
        term = term * ((n - i) * rate) // ((i + 1) * (_WHOLE - rate))
        total += term
    return total


@lru_cache(maxsize=4096)
def bounds(k: int, n: int) -> tuple[int, int]:
    """Give the least and the largest rate by Clopper and Pearson, for k of n."""
    rare, whole = 1000 - _gamma(), _WHOLE**n
    low, high = 0, _WHOLE
    if k > 0:
        # The largest rate at which k or more are rare.
        above = _WHOLE
        while above - low > 1:
            middle = (low + above) // 2
            if (whole - _at_most(k - 1, n, middle)) * 2000 <= rare * whole:
                low = middle
            else:
                above = middle
    if k < n:
        # The smallest rate at which k or fewer are rare.
        below = -1
        while high - below > 1:
            middle = (high + below) // 2
            if _at_most(k, n, middle) * 2000 <= rare * whole:
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
