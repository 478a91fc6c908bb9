"""From log-probabilities to weights, many positions at a time [SAMP-16] to [SAMP-22].

A block has a row for each position and a column for each token, in string order; rows that are
shorter than others end in tokens that are not there. What is done number by number is done in
pieces of a block that a core's cache holds; sums, which go token by token, over all of its rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

import numpy as np

from lockstep.sampling.batch import numbers
from lockstep.sampling.batch.apportion import apportion
from lockstep.sampling.batch.exp import MOST, exp, roughly
from lockstep.sampling.batch.numbers import Floats, Integers, Mask, Numbers
from lockstep.sampling.parameters import Parameters

TOKENS_MOST = 1024
"""Columns of a block: ranks have 10 bits, and errors of shares are bounded for so many."""
UNIT_EXPONENT = -12
"""Log-probabilities are integers in units of 10^-12."""

_RANK_BITS = 10
_PIECE = 1 << 13
"""Numbers of a piece."""


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
        rows: likewise, of apportionments.
    """

    weights: Integers
    kept: Mask
    exponentials: int
    rows: int


def takes(parameters: Parameters) -> bool:
    """Tell whether a temperature is written with few enough digits to be worked with here."""
    return len(Decimal(parameters.temperature).as_tuple().digits) <= numbers.LONGEST


def powers(block: Block, temperature: str) -> Powers:
    """Give e_i of each log-probability; the largest of a row is 1 [SAMP-17]."""
    divisor, exponent = numbers.integer(Decimal(temperature))
    shape = block.units.shape
    values, fallbacks = Numbers(np.empty(shape, np.int64), np.empty(shape, np.int64)), 0
    for rows in _pieces(shape):
        there = block.there[rows]
        keys = numbers.ratio(block.units[rows], UNIT_EXPONENT, divisor, exponent).keys
        least = np.where(there, keys, np.iinfo(np.int64).max).min(axis=1, keepdims=True)
        # What is not there may be less than the least; its difference is not used.
        larger = numbers.of_keys(np.maximum(keys, least))
        found = _powers(numbers.subtract(larger, numbers.of_keys(least)), there)
        values.c[rows], values.q[rows] = found.values
        fallbacks += found.fallbacks
    return Powers(values, fallbacks)


def masses(block: Block) -> tuple[Floats, Floats]:
    """Give the mass of each row and its least exponential, off by less than 10^-6 [SAMP-31].

    docs/exact-batch.md, section 1, says how far they are from the rounded ones of the rule.
    """
    mass, least = np.empty(len(block.units)), np.empty(len(block.units))
    for rows in _pieces(block.units.shape):
        found = roughly(np.minimum(block.units[rows] * 10.0**UNIT_EXPONENT, float(MOST)))
        mass[rows] = np.where(block.there[rows], found, 0).sum(axis=1)
        least[rows] = np.where(block.there[rows], found, np.inf).min(axis=1)
    return mass, least


def weigh(block: Block, parameters: Parameters) -> Weighed:
    """Give the weights of each row.

    Args:
        block: one token or more in each row.
        parameters: resolved, not greedy, and taken by `takes`.
    """
    given = powers(block, parameters.temperature)
    return weigh_powers(given, numbers.total(given.values), block.there, parameters)


def weigh_powers(given: Powers, whole: Numbers, there: Mask, parameters: Parameters) -> Weighed:
    """Give the weights of each row from its exponentials and their sum."""
    c, q = given.values
    p = Numbers(np.empty_like(c), np.empty_like(q))
    for rows in _pieces(c.shape):
        sums = Numbers(whole.c[rows, np.newaxis], whole.q[rows, np.newaxis])
        p.c[rows], p.q[rows] = numbers.divide(Numbers(c[rows], q[rows]), sums)
    kept = _kept(p, there, parameters)
    weights, undecided = np.empty_like(c), 0
    for rows in _pieces(c.shape):
        weights[rows], more = apportion(Numbers(p.c[rows], p.q[rows]), kept[rows])
        undecided += more
    return Weighed(weights, kept, given.fallbacks, undecided)


def _pieces(shape: tuple[int, ...]) -> Iterator[slice]:
    rows = max(1, _PIECE // shape[1])
    return (slice(start, start + rows) for start in range(0, shape[0], rows))


def _powers(gaps: Numbers, there: Mask) -> Powers:
    inside = there & (gaps.keys <= numbers.least_key(Decimal(MOST)))
    found = exp(
        Numbers(np.where(inside, gaps.c, 0), np.where(inside, gaps.q, numbers.ZERO_EXPONENT))
    )
    c, q = found.values
    values = Numbers(np.where(inside, c, 0), np.where(inside, q, numbers.ZERO_EXPONENT))
    return Powers(values, found.fallbacks)


def _kept(p: Numbers, there: Mask, parameters: Parameters) -> Mask:
    """Give the tokens that filters keep [SAMP-18] to [SAMP-21]."""
    kept, keys = there, p.keys
    if parameters.top_k is not None or parameters.top_p is not None:
        kept = kept & _ranked(keys, parameters.top_k, parameters.top_p)
    if parameters.min_p is not None:
        largest = numbers.of_keys(np.where(kept, keys, 0).max(axis=1))
        least = numbers.multiply(largest, *numbers.integer(Decimal(parameters.min_p)))
        kept = kept & (keys >= least.keys[:, np.newaxis])
    return kept


def _ranked(keys: Integers, top_k: int | None, top_p: str | None) -> Mask:
    """Give the tokens that top_k and top_p keep, by their ranking."""
    rows, width = keys.shape
    most = width if top_k is None else min(top_k, width)
    if top_p is None and most == width:
        return np.ones(keys.shape, np.bool_)
    # Larger first, and of equal ones the first in string order: all ranks differ.
    ranks = (keys << _RANK_BITS) | (TOKENS_MOST - 1 - np.arange(width))
    ranking = np.sort(ranks, axis=1).T[::-1]
    last = ranking[most - 1]
    if top_p is not None:
        reached = numbers.least_key(Decimal(top_p))
        passed = numbers.zeros(rows)
        for rank in ranking[:most]:
            unfinished = passed.keys < reached
            if not unfinished.any():
                break
            last = np.where(unfinished, rank, last)
            passed = numbers.add(passed, numbers.of_keys(rank >> _RANK_BITS))
    kept: Mask = ranks >= last[:, np.newaxis]
    return kept
