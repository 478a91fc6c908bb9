"""Numbers of 10 digits in arrays, and the rounded operations on them [SAMP-13].

A number is c · 10^q with c of 10 digits, or 0; both are integers of 64 bits, and nothing here is
approximate. Where an exact numerator does not fit, what is left of it after an estimate does, and
arithmetic modulo 2^64 gives that exactly (docs/exact-batch.md, section 2).
"""

from __future__ import annotations

from decimal import ROUND_CEILING, Context, Decimal
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

DIGITS = 10
"""Of a coefficient."""
ONE = 10**9
"""The least coefficient; 1 is ONE · 10^-9."""
END = 10**10
"""What coefficients are below."""
ZERO_EXPONENT = -64
"""The exponent of 0, below that of every exponential: the larger exponent is the larger number."""
LONGEST = 18
"""Digits of a written number that is taken."""

POWERS: Integers = np.array([10**k for k in range(LONGEST + 1)], dtype=np.int64)
_FLOAT_POWERS: Floats = POWERS.astype(np.float64)
_FAR = 12
"""A number of so many places less neither adds to another nor, subtracted, changes its digits."""
_COEFFICIENT_BITS = 34


class Numbers(NamedTuple):
    """Numbers c · 10^q, 0 or above.

    Attributes:
        c: coefficients, 10^9 to 10^10 - 1, or 0.
        q: exponents; `ZERO_EXPONENT` of 0.
    """

    c: Integers
    q: Integers

    def row(self, number: int) -> Numbers:
        """Give a row."""
        return Numbers(self.c[number], self.q[number])

    @property
    def keys(self) -> Integers:
        """Give integers of 42 bits that are ordered as the numbers are."""
        shifted: Integers = (self.q - ZERO_EXPONENT) << _COEFFICIENT_BITS
        return shifted | self.c


def of_keys(keys: Integers) -> Numbers:
    """Give the numbers whose keys these are."""
    return Numbers(
        keys & ((1 << _COEFFICIENT_BITS) - 1), (keys >> _COEFFICIENT_BITS) + ZERO_EXPONENT
    )


def least_key(bound: Decimal) -> int:
    """Give the key of the least number of 10 digits that is at least a positive bound."""
    arithmetic = Context(prec=DIGITS, rounding=ROUND_CEILING)
    digits = arithmetic.plus(bound)
    q = digits.adjusted() - DIGITS + 1
    return ((q - ZERO_EXPONENT) << _COEFFICIENT_BITS) | int(arithmetic.scaleb(digits, -q))


def zeros(shape: tuple[int, ...]) -> Numbers:
    """Give an array of 0."""
    return Numbers(np.zeros(shape, np.int64), np.full(shape, ZERO_EXPONENT, np.int64))


def written(digits: Integers, exponent: int) -> Numbers:
    """Give R(digits · 10^exponent) of integers below 10^18."""
    return ratio(digits, exponent, 1, 0)


def ratio(a: Integers, a_exponent: int, b: int, b_exponent: int) -> Numbers:
    """Give R(a · 10^a_exponent / (b · 10^b_exponent)).

    Args:
        a: 0 to 10^18 - 1.
        a_exponent: of them.
        b: 1 to 10^18 - 1.
        b_exponent: of it.
    """
    length = len(str(b))
    missing = LONGEST - np.searchsorted(POWERS, a, side="right")
    c, places = _quotient(a * POWERS[missing], np.int64(b * 10 ** (LONGEST - length)))
    q = a_exponent - b_exponent - missing + (LONGEST - length) - places
    return Numbers(c, np.where(c == 0, ZERO_EXPONENT, q))


def divide(a: Numbers, b: Numbers) -> Numbers:
    """Give R(a / b) for b above 0."""
    c, places = _quotient(a.c, b.c)
    return Numbers(c, np.where(c == 0, ZERO_EXPONENT, a.q - b.q - places))


def multiply(a: Numbers, b: Integers | int, b_exponent: int) -> Numbers:
    """Give R(a · b · 10^b_exponent) for b from 0 to 10^16 - 1."""
    factor = np.asarray(b, dtype=np.int64)
    # The product has cut + 10 digits, or one less.
    cut = np.maximum(np.searchsorted(POWERS, factor, side="right"), 1)
    c, rest = _nearest(a.c, factor, cut)
    short = (c < ONE) | ((c == ONE) & (rest < 0))
    finer = _to_even(*_nearest(a.c, factor, cut - 1), POWERS[cut - 1])
    c = np.where(short, finer, _to_even(c, rest, POWERS[cut]))
    full = c == END
    q = a.q + b_exponent + cut - short + full
    return Numbers(np.where(full, ONE, c), np.where(c == 0, ZERO_EXPONENT, q))


def add(a: Numbers, b: Numbers) -> Numbers:
    """Give R(a + b)."""
    larger = a.q >= b.q
    c, small = np.where(larger, a.c, b.c), np.where(larger, b.c, a.c)
    q = np.maximum(a.q, b.q)
    unit = POWERS[np.minimum(np.abs(a.q - b.q), _FAR)]
    # The exact sum is c + whole + rest / unit, in units of 10^q.
    whole = small // unit
    c, rest = c + whole, small - whole * unit
    carried = c >= END
    last = c % DIGITS
    c = np.where(carried, c // DIGITS, c)
    rest = np.where(carried, last * unit + rest, rest)
    return _rounded(c, rest, np.where(carried, unit * DIGITS, unit), q + carried)


def subtract(a: Numbers, b: Numbers) -> Numbers:
    """Give R(a - b) for a not below b."""
    gap = np.where(b.c == 0, _FAR, np.minimum(a.q - b.q, _FAR))
    unit = POWERS[gap]
    # The exact difference is c + rest / unit, in units of 10^a.q.
    whole = b.c // unit
    rest = whole * unit - b.c
    below = rest < 0
    c, rest = a.c - whole - below, np.where(below, rest + unit, rest)
    # Where the places are near, digits cancel: how many is seen from the difference as an integer,
    # which fits. Otherwise at most one does.
    near = gap <= 8
    integer = np.where(near, c * unit + rest, 0)
    missing = np.where(near, DIGITS + gap - np.searchsorted(POWERS, integer, side="right"), c < ONE)
    # Missing digits are taken from the rest: all of it where there are no more.
    taken = POWERS[np.minimum(missing, gap)]
    part = np.where(missing > gap, 1, unit // taken)
    moved = rest // part
    c, rest = c * taken + moved, rest - moved * part
    c = c * POWERS[np.maximum(missing - gap, 0)]
    found = _rounded(c, rest, part, a.q - missing)
    zero = found.c == 0
    return Numbers(found.c, np.where(zero, ZERO_EXPONENT, found.q))


def total(given: Numbers) -> Numbers:
    """Add up each column from its first row on, rounding after each addition [SAMP-16]."""
    found = given.row(0)
    for row in range(1, len(given.c)):
        found = add(found, given.row(row))
    return found


def _quotient(a: Integers, b: Integers | np.int64) -> tuple[Integers, Integers]:
    """Give R(a / b) as coefficients, and how many places behind the point they have.

    Args:
        a: 0, or with as many digits as b.
        b: at most 18 digits.
    """
    places = np.where(a >= b, 9, 10)
    # Off by less than 1/4: four roundings of at most one part in 2^53, of a number below 10^10.
    c = np.rint(a.astype(np.float64) / b * _FLOAT_POWERS[places]).astype(np.int64)
    # So the rest is below 3/4 · b < 2^63, and exact though its parts are not.
    rest = _modulo(a) * _modulo(POWERS[places]) - _modulo(c) * _modulo(b)
    c = _to_even(c, rest.view(np.int64), b)
    full = c == END
    return np.where(full, ONE, c), places - full


def _nearest(a: Integers, b: Integers, cut: Integers) -> tuple[Integers, Integers]:
    """Give an integer within 3/4 of a · b / 10^cut < 10^11, and a · b less it times 10^cut."""
    near = a.astype(np.float64) * (b / _FLOAT_POWERS[cut])
    c = np.rint(near).astype(np.int64)
    rest = _modulo(a) * _modulo(b) - _modulo(c) * _modulo(POWERS[cut])
    return c, rest.view(np.int64)


def _to_even(c: Integers, rest: Integers, unit: Integers | np.int64) -> Integers:
    """Round c + rest / unit to the nearest integer, a tie to the even one; |rest| < unit."""
    odd = (c & 1) == 1
    twice = 2 * rest
    up = (twice > unit) | ((twice == unit) & odd)
    down = (twice < -unit) | ((twice == -unit) & odd)
    return c + up - down


def _rounded(c: Integers, rest: Integers, unit: Integers, q: Integers) -> Numbers:
    """Give R((c + rest / unit) · 10^q) for c of 10 digits, or 0."""
    c = _to_even(c, rest, unit)
    full = c == END
    return Numbers(np.where(full, ONE, c), q + full)


def _modulo(a: Integers | np.int64) -> NDArray[np.uint64]:
    """Give integers modulo 2^64, in which products wrap by definition."""
    return np.asarray(a, dtype=np.int64).view(np.uint64)
