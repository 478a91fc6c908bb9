"""From log-probabilities to weights, many positions at a time [SAMP-16] to [SAMP-22].

A block has a column for each position and a row for each token, in string order; columns that are
shorter than others end in tokens that are not there.
"""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple

import numpy as np

from lockstep.sampling.batch import numbers
from lockstep.sampling.batch.apportion import apportion
from lockstep.sampling.batch.exp import MOST, exp
from lockstep.sampling.batch.numbers import Integers, Mask, Numbers
from lockstep.sampling.parameters import Parameters

TOKENS_MOST = 1024
"""Rows of a block: ranks have 10 bits, and errors of shares are bounded for so many."""
UNIT_EXPONENT = -12
"""Log-probabilities are integers in units of 10^-12."""

_RANK_BITS = 10


class Block(NamedTuple):
    """Supports of positions.

    Attributes:
        units: log-probabilities without their sign, in units of 10^-12, below 10^17.
        there: where there is a token.
    """

    units: Integers
    there: Mask


class Powers(NamedTuple):
    """Exponentials of a block, 0 where there is no token, and how many were done exactly."""

    values: Numbers
    fallbacks: int


class Weighed(NamedTuple):
    """The weights of a block.

    Attributes:
        weights: 0 where a token was not kept.
        kept: the tokens that filters keep.
        exponentials: how many were not decided in binary64.
        columns: likewise, of apportionments.
    """

    weights: Integers
    kept: Mask
    exponentials: int
    columns: int


def takes(parameters: Parameters) -> bool:
    """Tell whether a temperature is written with few enough digits to be worked with here."""
    return len(Decimal(parameters.temperature).as_tuple().digits) <= numbers.LONGEST


def powers(block: Block, temperature: str) -> Powers:
    """Give e_i of each log-probability; the largest of a column is 1 [SAMP-17]."""
    divisor, exponent = _integer(temperature)
    scaled = numbers.ratio(block.units, UNIT_EXPONENT, divisor, exponent)
    least = np.where(block.there, scaled.keys, np.iinfo(np.int64).max).min(axis=0)
    # What is not there may be less than the least; its difference is not used.
    larger = np.maximum(scaled.keys, least)
    return _powers(numbers.subtract(numbers.of_keys(larger), numbers.of_keys(least)), block.there)


def masses(block: Block) -> Powers:
    """Give the exponential of each log-probability as it stands [SAMP-31]."""
    inside = block.there & (block.units <= MOST * 10**-UNIT_EXPONENT)
    return _powers(numbers.written(block.units, UNIT_EXPONENT), inside)


def _powers(gaps: Numbers, there: Mask) -> Powers:
    inside = there & (gaps.keys <= numbers.least_key(Decimal(MOST)))
    found = exp(
        Numbers(np.where(inside, gaps.c, 0), np.where(inside, gaps.q, numbers.ZERO_EXPONENT))
    )
    c, q = found.values
    values = Numbers(np.where(inside, c, 0), np.where(inside, q, numbers.ZERO_EXPONENT))
    return Powers(values, found.fallbacks)


def weigh(block: Block, parameters: Parameters) -> Weighed:
    """Give the weights of each column.

    Args:
        block: one token or more in each column.
        parameters: resolved, not greedy, and taken by `takes`.
    """
    return weigh_powers(powers(block, parameters.temperature), block.there, parameters)


def weigh_powers(given: Powers, there: Mask, parameters: Parameters) -> Weighed:
    """Give the weights of each column from its exponentials."""
    whole = numbers.total(given.values)
    p = numbers.divide(given.values, whole)
    kept = _kept(p, there, parameters)
    weights, columns = apportion(p, kept)
    return Weighed(weights, kept, given.fallbacks, columns)


def _kept(p: Numbers, there: Mask, parameters: Parameters) -> Mask:
    """Give the tokens that filters keep [SAMP-18] to [SAMP-21]."""
    kept = there
    if parameters.top_k is not None or parameters.top_p is not None:
        kept = kept & _ranked(p, parameters.top_k, parameters.top_p)
    if parameters.min_p is not None:
        largest = numbers.of_keys(np.where(kept, p.keys, 0).max(axis=0))
        least = numbers.multiply(largest, *_integer(parameters.min_p))
        kept = kept & (p.keys >= least.keys)
    return kept


def _ranked(p: Numbers, top_k: int | None, top_p: str | None) -> Mask:
    """Give the tokens that top_k and top_p keep, by their ranking."""
    rows = len(p.c)
    # Larger first, and of equal ones the first in string order: all keys differ.
    place = (TOKENS_MOST - 1 - np.arange(rows))[:, np.newaxis]
    ranking = -np.sort(-((p.keys << _RANK_BITS) | place), axis=0)
    order = TOKENS_MOST - 1 - (ranking & (TOKENS_MOST - 1))
    among = np.zeros(p.c.shape, np.bool_)
    most = rows if top_k is None else min(top_k, rows)
    if top_p is None:
        among[:most] = True
    else:
        reached = numbers.least_key(Decimal(top_p))
        passed = numbers.zeros(p.c.shape[1:])
        unfinished = np.ones(p.c.shape[1:], np.bool_)
        for row in range(most):
            among[row] = unfinished
            passed = numbers.add(passed, numbers.of_keys(ranking[row] >> _RANK_BITS))
            unfinished &= passed.keys < reached
            if not unfinished.any():
                break
    kept = np.empty_like(among)
    np.put_along_axis(kept, order, among, 0)
    return kept


def _integer(text: str) -> tuple[int, int]:
    """Give the digits of a positive decimal as an integer, and its exponent."""
    _, digits, exponent = Decimal(text).as_tuple()
    return int("".join(map(str, digits))), int(exponent)
