"""Weights by largest remainder, many positions at a time [SAMP-22].

Shares in binary64 are within `ERROR` of the true ones. A threshold that no share's fraction comes
near splits those that have one more from those that do not, whatever the errors are
(docs/exact-batch.md, section 4). Shares that are equal are so exactly, and are told apart by their
place; what is left undecided is done in integers of any size.
"""

from __future__ import annotations

import numpy as np

from lockstep.sampling.batch.numbers import ZERO_EXPONENT, Floats, Integers, Mask, Numbers
from lockstep.sampling.weighting import apportion as exactly
from lockstep.sampling.weighting import limits

ERROR = 2.0**-26
"""How far a share of 65536 may be from the true one, for up to 1024 tokens."""
_APART = 4 * ERROR
_TENS: Floats = np.array([float(10**k) for k in range(-ZERO_EXPONENT + 1)])


def apportion(p: Numbers, kept: Mask) -> tuple[Integers, int]:
    """Give the weights of each row's tokens, 0 for those that are not kept.

    Args:
        p: probabilities.
        kept: which of them share; one or more in each row, with a sum above 0.

    Returns:
        The weights, and the number of rows that binary64 did not decide.
    """
    whole = limits().total
    shares = np.where(kept, p.c / _TENS[-p.q], 0.0)
    shares *= whole / shares.sum(axis=1, keepdims=True)
    quotas = np.floor(shares)
    fractions = np.where(kept, shares - quotas, -1.0)
    given = quotas.astype(np.int64)
    missing = whole - given.sum(axis=1)
    above, below = _about(fractions, missing)
    given += fractions > ((above + below) / 2)[:, np.newaxis]
    left = np.flatnonzero(above - below <= _APART)
    if not len(left):
        return given, 0
    found, tied = _equal(
        Numbers(p.c[left], p.q[left]),
        kept[left],
        quotas[left],
        fractions[left],
        missing[left],
        above[left],
    )
    given[left] = found
    for row in left[~tied].tolist():
        given[row] = _integers(Numbers(p.c[row], p.q[row]), kept[row])
    return given, int((~tied).sum())


def _about(fractions: Floats, missing: Integers) -> tuple[Floats, Floats]:
    """Give the fractions between which so many, the largest, are split off; 1 and 0 at the ends."""
    rows, width = fractions.shape
    rising = np.empty((rows, width + 2))
    rising[:, 0], rising[:, 1:-1], rising[:, -1] = 0, np.sort(fractions, axis=1), 1
    place = width + 1 - np.clip(missing, 0, width)
    row = np.arange(rows)
    return rising[row, place], np.maximum(rising[row, place - 1], 0)


def _equal(
    p: Numbers, kept: Mask, quotas: Floats, fractions: Floats, missing: Integers, at: Floats
) -> tuple[Integers, Mask]:
    """Split rows where the fractions next to the threshold are those of equal numbers.

    Returns:
        Weights, and the rows for which they are right: all fractions near the threshold belong to
        one number, and it is far from a whole one.
    """
    edge = at[:, np.newaxis]
    close = kept & (np.abs(fractions - edge) <= 2 * _APART)
    keys = p.keys
    largest = np.where(close, keys, -1).max(axis=1, keepdims=True)
    same = (~close | (keys == largest)).all(axis=1)
    tied: Mask = same & (at > 4 * _APART) & (at < 1 - 4 * _APART)
    larger = kept & (fractions > edge) & ~close
    remaining = (missing - larger.sum(axis=1))[:, np.newaxis]
    first = close & (np.cumsum(close, axis=1) <= remaining)
    return quotas.astype(np.int64) + larger + first, tied


def _integers(p: Numbers, kept: Mask) -> Integers:
    """Give the weights of one row by exact integers."""
    scale = limits().scale
    c, q = p.c[kept].tolist(), p.q[kept].tolist()
    shares = [one * scale // 10**-exponent for one, exponent in zip(c, q, strict=True)]
    found = np.zeros(len(kept), np.int64)
    found[kept] = exactly(shares, limits().total)
    return found
