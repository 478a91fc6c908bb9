"""Weights by largest remainder, many positions at a time [SAMP-22].

Shares in binary64 are within `ERROR` of the true ones. A threshold that no share's fraction comes
near splits those that have one more from those that do not, whatever the errors are
(docs/exact-batch.md, section 4). Shares that are equal are so exactly, and are told apart by their
place; what is left undecided is done in integers of any size.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lockstep.sampling.batch.numbers import ZERO_EXPONENT, Floats, Integers, Mask, Numbers
from lockstep.sampling.weighting import apportion as exactly
from lockstep.sampling.weighting import limits

ERROR = 2.0**-26
"""How far a share of 65536 may be from the true one, for up to 1024 tokens."""
_APART = 4 * ERROR
_TENS: Floats = np.array([float(10**k) for k in range(-ZERO_EXPONENT + 1)])


def apportion(p: Numbers, kept: Mask) -> tuple[Integers, int]:
    """Give the weights of each column's tokens, 0 for those that are not kept.

    Args:
        p: probabilities.
        kept: which of them share; one or more in each column, with a sum above 0.

    Returns:
        The weights, and the number of columns that binary64 did not decide.
    """
    whole = limits().total
    shares = np.where(kept, p.c / _TENS[-p.q], 0.0)
    shares *= whole / shares.sum(axis=0)
    quotas = np.floor(shares)
    fractions = np.where(kept, shares - quotas, -1.0)
    given = quotas.astype(np.int64)
    missing = whole - given.sum(axis=0)
    above, below = _about(fractions, missing)
    decided = above - below > _APART
    given += kept & (fractions > (above + below) / 2)
    left = np.flatnonzero(~decided)
    if not len(left):
        return given, 0
    among = Numbers(p.c[:, left], p.q[:, left])
    found, tied = _equal(
        among, kept[:, left], quotas[:, left], fractions[:, left], missing[left], above[left]
    )
    given[:, left] = found
    for column in left[~tied].tolist():
        given[:, column] = _integers(p, kept[:, column], column)
    return given, int((~tied).sum())


def _about(fractions: Floats, missing: Integers) -> tuple[Floats, Floats]:
    """Give the fractions between which so many, the largest, are split off; 1 and 0 at the ends."""
    falling = -np.sort(-fractions, axis=0)
    edge = np.ones((1, fractions.shape[1]))
    bounded = np.concatenate([edge, falling, 0 * edge])
    row = np.clip(missing, 0, len(falling))[np.newaxis]
    above = np.take_along_axis(bounded, row, 0)[0]
    return above, np.maximum(np.take_along_axis(bounded, row + 1, 0)[0], 0)


def _equal(
    p: Numbers, kept: Mask, quotas: Floats, fractions: Floats, missing: Integers, at: Floats
) -> tuple[Integers, Mask]:
    """Split columns where the fractions next to the threshold are those of equal numbers.

    Returns:
        Weights, and the columns for which they are right: all fractions near the threshold belong
        to one number, and it is far from a whole one.
    """
    close = kept & (np.abs(fractions - at) <= 2 * _APART)
    keys = p.keys
    largest = np.where(close, keys, -1).max(axis=0)
    same = (~close | (keys == largest)).all(axis=0)
    tied: NDArray[np.bool_] = same & (at > 4 * _APART) & (at < 1 - 4 * _APART)
    larger = kept & (fractions > at) & ~close
    first = close & (np.cumsum(close, axis=0) <= missing - larger.sum(axis=0))
    return quotas.astype(np.int64) + larger + first, tied


def _integers(p: Numbers, kept: Mask, column: int) -> Integers:
    """Give the weights of a column by exact integers."""
    scale = limits().scale
    places = np.flatnonzero(kept)
    c, q = p.c[places, column].tolist(), p.q[places, column].tolist()
    shares = [one * scale // 10**-exponent for one, exponent in zip(c, q, strict=True)]
    found = np.zeros(len(kept), np.int64)
    found[places] = exactly(shares, limits().total)
    return found
