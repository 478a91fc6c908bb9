"""The exponential of many numbers at once, correctly rounded to 10 digits [SAMP-14].

A result in binary64 is within `BOUND` of the true value, in units of its last digit
(docs/exact-batch.md, section 3, proves it). Where no midpoint of two numbers lies so near, the
nearest number is known; where one does, the exact exponential decides. Only operations that IEEE
754 defines to the last bit are used: no library's exponential.
"""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from typing import NamedTuple

import numpy as np

from lockstep.sampling import exp as exact
from lockstep.sampling.batch.numbers import (
    DIGITS,
    END,
    ONE,
    ZERO_EXPONENT,
    Floats,
    Integers,
    Mask,
    Numbers,
    integer,
)

BOUND = 2.0**-21
"""How far a result may be from e^-x · 10^-q before it is rounded to an integer."""
LEAST_EXPONENT, MOST = -8, 64
"""Arguments are up to 64, and so have exponents up to -8."""

_STEPS = 256
"""Entries of the table for each unit of the argument; a power of two."""
_BITS = 256
"""Of the integers that the table is made by."""
_ROUNDS_TO_ONE = (5 * ONE, -20)
"""e^-x is 1 up to x = 5 · 10^-11, for it is above 1 - x, halfway to the next number below."""


class Table(NamedTuple):
    """e^(-j / 256) as (whole + part) · 10^q, at least 10^9 and below 10^10, for j from 0 on.

    Attributes:
        whole: integers.
        part: what is left, from 0 to 1, off by less than 2^-53.
        q: exponents.
    """

    whole: Floats
    part: Floats
    q: Integers


class Exponentials(NamedTuple):
    """Exponentials, and how many of them binary64 did not decide."""

    values: Numbers
    fallbacks: int


def exp(x: Numbers) -> Exponentials:
    """Give the numbers of 10 digits that are nearest to e^-x.

    Args:
        x: 0 to 64.
    """
    values, decided = near(x)
    left = np.flatnonzero(~decided.ravel())
    c, q = values.c.reshape(-1), values.q.reshape(-1)
    for place in left.tolist():
        c[place], q[place] = _exactly(int(x.c.flat[place]), int(x.q.flat[place]))
    return Exponentials(Numbers(c.reshape(x.c.shape), q.reshape(x.c.shape)), len(left))


def near(x: Numbers) -> tuple[Numbers, Mask]:
    """Give the nearest numbers to e^-x, and where they are known to be that."""
    known = table()
    q = np.clip(x.q, _ROUNDS_TO_ONE[1], LEAST_EXPONENT)
    unit = _TENS[-q]
    argument = x.c.astype(np.float64) * _STEPS
    step = np.floor(argument / unit)
    # Integers below 2^53, so that only the division rounds.
    rest = (argument - step * unit) / (_STEPS * unit)
    j = step.astype(np.int64)
    whole, part = known.whole[j], known.part[j]
    part = part + (whole + part) * _less_one(rest)
    # Below 10^9 there is one more digit.
    scale = np.where(whole + part < ONE, float(DIGITS), 1.0)
    part = part * scale
    below = np.floor(part)
    decided = np.abs(part - below - 0.5) > BOUND
    c = (whole * scale + np.rint(part)).astype(np.int64)
    full = c == END
    one = (x.q < _ROUNDS_TO_ONE[1]) | ((x.q == _ROUNDS_TO_ONE[1]) & (x.c <= _ROUNDS_TO_ONE[0]))
    values = Numbers(
        np.where(one | full, ONE, c), np.where(one, 1 - DIGITS, known.q[j] - (scale > 1) + full)
    )
    return values, decided | one


def roughly(x: Floats) -> Floats:
    """Give e^-x for x from 0 to 64, off by less than 10^-10 of it."""
    step = np.floor(x * _STEPS)
    r = x - step / _STEPS
    return _rough()[step.astype(np.int64)] * (1 - r * (1 - r / 2 * (1 - r / 3)))


def _less_one(r: Floats) -> Floats:
    """Give e^-r - 1 for r from 0 to 1/256, with a relative error below 2.7 · 2^-53."""
    series = 1 - r / 6
    for k in (5.0, 4.0, 3.0, 2.0):
        series = 1 - r * series / k
    return -(r * series)


def _exactly(c: int, q: int) -> tuple[int, int]:
    """Give coefficient and exponent of e^-(c · 10^q), not 1, in integers of any size."""
    value, exponent = integer(exact.exp(Decimal((1, tuple(map(int, str(c))), q))))
    missing = DIGITS - len(str(value))
    return value * 10**missing, exponent - missing


@cache
def table() -> Table:
    """Make the table, in integers: about 20 ms, once."""
    one = 1 << _BITS
    factor, term, k = one, one, 1
    while term:
        # e^(-1/256) by its series; each term is off by less than 2 units of 2^-256.
        term //= _STEPS * k
        factor += -term if k % 2 else term
        k += 1
    wholes, parts, exponents = [], [], []
    value, q = one * ONE, 1 - DIGITS
    for _ in range(MOST * _STEPS + 1):
        whole = value >> _BITS
        wholes.append(float(whole))
        parts.append((value - (whole << _BITS)) / one)
        exponents.append(q)
        value = (value * factor) >> _BITS
        if value < one * ONE:
            value, q = value * DIGITS, q - 1
    return Table(np.array(wholes), np.array(parts), np.array(exponents, dtype=np.int64))


@cache
def _rough() -> Floats:
    """Give the numbers of the table in binary64."""
    known = table()
    tens: Floats = np.array([float(10**-q) for q in known.q.tolist()])
    return (known.whole + known.part) / tens


_TENS: Floats = np.array([float(10**k) for k in range(-_ROUNDS_TO_ONE[1] + 1)])
"""Exact: 10^22 is the largest power of ten that binary64 holds."""

assert ZERO_EXPONENT < LEAST_EXPONENT  # noqa: S101
