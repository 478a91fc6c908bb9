"""Numbers of 10 digits in arrays, and the rounded operations on them [SAMP-13].

A number is c · 10^q with c of 10 digits, or 0. Nothing here is approximate: an operation works in
integers of 64 bits, or in integers that binary64 holds. Where an exact numerator does not fit, what
is left of it after an estimate does, and arithmetic modulo 2^64 gives that exactly
(docs/exact-batch.md, section 2).
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
_NEAR = 8
"""Two numbers of 10 digits so many places apart have an integer difference below 10^18."""
_COEFFICIENT_BITS = 34
_DIGITS_OF_BITS: Integers = np.array([0, *(len(str(1 << k)) for k in range(60))], dtype=np.int64)


class Numbers(NamedTuple):
    """Numbers c · 10^q, 0 or above.

    Attributes:
        c: coefficients, 10^9 to 10^10 - 1, or 0.
        q: exponents; `ZERO_EXPONENT` of 0.
    """

    c: Integers
    q: Integers

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


def integer(number: Decimal) -> tuple[int, int]:
    """Give the digits of a decimal as an integer, without its sign, and its exponent."""
    _, digits, exponent = number.as_tuple()
    return int("".join(map(str, digits))), int(exponent)


def zeros(length: int) -> Numbers:
    """Give so many 0."""
    return Numbers(np.zeros(length, np.int64), np.full(length, ZERO_EXPONENT, np.int64))


def written(digits: Integers, exponent: Integers | int) -> Numbers:
    """Give R(digits · 10^exponent) of integers from 0 to 10^18 - 1."""
    cut = _length(digits) - DIGITS
    unit = POWERS[np.maximum(cut, 0)]
    # Off by less than 1/4: a quotient of two rounded numbers, below 10^10.
    c = np.rint(digits / unit).astype(np.int64)
    c = _to_even(c, digits - c * unit, unit) * POWERS[np.maximum(-cut, 0)]
    full = c == END
    return Numbers(np.where(full, ONE, c), np.where(c == 0, ZERO_EXPONENT, exponent + cut + full))


def ratio(a: Integers, a_exponent: int, b: int, b_exponent: int) -> Numbers:
    """Give R(a · 10^a_exponent / (b · 10^b_exponent)).

    Args:
        a: 0 to 10^18 - 1.
        a_exponent: of them.
        b: 1 to 10^18 - 1.
        b_exponent: of it.
    """
    missing = LONGEST - _length(a)
    b_missing = LONGEST - len(str(b))
    c, places = _quotient(a * POWERS[missing], np.int64(b * 10**b_missing))
    q = (a_exponent - b_exponent + b_missing) - missing - places
    return Numbers(c, np.where(c == 0, ZERO_EXPONENT, q))


def divide(a: Numbers, b: Numbers) -> Numbers:
    """Give R(a / b) for b above 0."""
    c, places = _quotient(a.c, b.c)
    return Numbers(c, np.where(c == 0, ZERO_EXPONENT, a.q - b.q - places))


def multiply(a: Numbers, b: Integers | int, b_exponent: int) -> Numbers:
    """Give R(a · b · 10^b_exponent) for b from 0 to 10^16 - 1."""
    factor = np.asarray(b, dtype=np.int64)
    # The product has cut + 10 digits, or one less.
    cut = np.maximum(_length(factor), 1)
    c, rest = _nearest(a.c, factor, cut)
    short = (c < ONE) | ((c == ONE) & (rest < 0))
    finer = _to_even(*_nearest(a.c, factor, cut - 1), POWERS[cut - 1])
    c = np.where(short, finer, _to_even(c, rest, POWERS[cut]))
    full = c == END
    q = a.q + b_exponent + cut - short + full
    return Numbers(np.where(full, ONE, c), np.where(c == 0, ZERO_EXPONENT, q))


def add(a: Numbers, b: Numbers) -> Numbers:
    """Give R(a + b)."""
    c, q = _sum(a.c.astype(np.float64), a.q, b.c.astype(np.float64), b.q)
    return Numbers(c.astype(np.int64), q)


def total(given: Numbers) -> Numbers:
    """Add up the numbers of each row in their order, rounding after each addition [SAMP-16]."""
    added = np.ascontiguousarray(given.c.astype(np.float64).T)
    exponents = np.ascontiguousarray(given.q.T)
    c, q = added[0], exponents[0]
    for column in range(1, len(added)):
        c, q = _sum(c, q, added[column], exponents[column])
    return Numbers(c.astype(np.int64), q)


def subtract(a: Numbers, b: Numbers) -> Numbers:
    """Give R(a - b) for a not below b."""
    gap = np.where(b.c == 0, 0, a.q - b.q)
    near = gap <= _NEAR
    unit = POWERS[np.where(near, gap, 0)]
    # Where the places are near, the difference is an integer below 10^18, in units of b's last.
    integer = np.where(near, a.c * unit - b.c, 0)
    found = written(integer, np.where(b.c == 0, a.q, b.q))
    if near.all():
        return found
    return Numbers(*map(np.where, (near, near), found, _less_little(a, b)))


def _less_little(a: Numbers, b: Numbers) -> Numbers:
    """Give R(a - b) for b of more than 8 places less than a: at most one digit cancels."""
    unit = POWERS[np.clip(a.q - b.q, _NEAR + 1, _FAR)]
    # The exact difference is c + rest / unit, in units of 10^a.q.
    whole = b.c // unit
    rest = whole * unit - b.c
    below = rest < 0
    c, rest = a.c - whole - below, np.where(below, rest + unit, rest)
    short = c < ONE
    unit = np.where(short, unit // DIGITS, unit)
    digit = np.where(short, rest // unit, 0)
    c = _to_even(np.where(short, c * DIGITS + digit, c), rest - digit * unit, unit)
    full = c == END
    return Numbers(np.where(full, ONE, c), a.q - short + full)


def _sum(a: Floats, a_q: Integers, b: Floats, b_q: Integers) -> tuple[Floats, Integers]:
    """Give R(a + b), coefficients in binary64; every number here is one that it holds."""
    gap = a_q - b_q
    large = np.where(gap >= 0, a, b)
    small = a + b - large
    unit = _FLOAT_POWERS[np.minimum(np.abs(gap), _FAR)]
    # An integer's quotient by a power of ten is not rounded to the next integer: both are small.
    whole = np.floor(small / unit)
    rest = small - whole * unit
    large += whole
    # In place of rest / unit stands 1/4, 1/2 or 3/4, which is below, at or above one half as it is.
    c = np.rint(large + (0.5 + 0.25 * np.sign(rest + rest - unit)))
    q = np.maximum(a_q, b_q)
    # Few sums have one more digit: half a unit below 10^10 rounds to it, a tenth of that to 10^9.
    longer = np.flatnonzero(c >= END)
    if len(longer):
        part, of = rest.flat[longer], unit.flat[longer]
        part = (part > 0) * (0.5 + 0.25 * np.sign(part + part - of))
        c.flat[longer] = np.rint((large.flat[longer] + part) / DIGITS)
        q.flat[longer] += 1
    return c, q


def _quotient(a: Integers, b: Integers | np.int64) -> tuple[Integers, Integers]:
    """Give R(a / b) as coefficients, and how many places behind the point they have.

    Args:
        a: 0, or with as many digits as b.
        b: at most 18 digits.
    """
    places = np.where(a >= b, DIGITS - 1, DIGITS)
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
    twice = 2 * rest
    # Of a tie, an odd c moves to the side of the rest; a rest of 0 is none.
    reached = np.abs(twice) + (c & 1) > unit
    rounded: Integers = c + np.sign(twice) * reached
    return rounded


def _length(a: Integers) -> Integers:
    """Give how many decimal digits integers from 0 to 10^18 - 1 have; 0 has none."""
    # The float's power of two is that of the integer, or of a power of two next to it, and no power
    # of ten lies between the two.
    least = _DIGITS_OF_BITS[np.frexp(a.astype(np.float64))[1]]
    longer: Integers = least + (a >= POWERS[least])
    return np.where(a == 0, 0, longer)


def _modulo(a: Integers | np.int64) -> NDArray[np.uint64]:
    """Give integers modulo 2^64, in which products wrap by definition."""
    return np.asarray(a, dtype=np.int64).view(np.uint64)
