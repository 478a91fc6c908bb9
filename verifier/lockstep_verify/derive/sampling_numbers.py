"""Decimal numbers of the sampler, in integers (spec/sampling.md, SAMP-7 to 15).

A number is a pair (c, q) that stands for c * 10^q, both integers. Nothing here uses a library's
decimal arithmetic or its exponential.
"""

import re
from functools import cache
from typing import NamedTuple

PRECISION = 10
_LEAST = 10 ** (PRECISION - 1)
_BOUND = 10**PRECISION
_APART = PRECISION + 2
_TINY = -11
_STEP_BITS = 6
_FIRST_BITS = 96
_FEW_BITS = 40
_SPARE_BITS = 64

_LOGPROB = re.compile(r"0|-0\.[0-9]{0,23}[1-9]|-[1-9][0-9]{0,4}(?:\.[0-9]{0,23}[1-9])?")
_LOGPROB_CHARACTERS = 32
_TOKEN = re.compile(r"0|[1-9][0-9]{0,9}")
_POSITIVE = r"0\.[0-9]{0,15}[1-9]|[1-9][0-9]{0,2}(?:\.[0-9]{0,15}[1-9])?"
TEMPERATURE = re.compile(f"0|{_POSITIVE}")
TOP_P = re.compile(_POSITIVE)
MIN_P = re.compile(r"0|1|0\.[0-9]{0,15}[1-9]")


class Number(NamedTuple):
    """The number c * 10^q; of what was rounded, c is 0 or has as many digits as the precision."""

    c: int
    q: int


ZERO = Number(0, 0)
ONE = Number(_LEAST, 1 - PRECISION)


def exact(text: str) -> Number:
    """Give the number of a text `-I.F` whose form has been checked, every digit of it."""
    whole, _, fraction = text.partition(".")
    return Number(int(whole + fraction), -len(fraction))


def logprob(text: str) -> Number | None:
    """Give a log-probability's number, None for what is no such text [SAMP-7]."""
    if len(text) > _LOGPROB_CHARACTERS or not _LOGPROB.fullmatch(text):
        return None
    return exact(text)


def is_token(text: str, vocab_size: int) -> bool:
    """Say whether a text names a token of the vocabulary [SAMP-9]."""
    return bool(_TOKEN.fullmatch(text)) and int(text) < vocab_size


def digits(value: int) -> int:
    """Give the number of decimal digits of a positive integer."""
    # 30103/100000 is above log10(2) by less than can matter: the estimate is right or one above.
    low = (value.bit_length() - 1) * 30103 // 100000
    while 10**low <= value:
        low += 1
    while low and 10 ** (low - 1) > value:
        low -= 1
    return low


def rounded(numerator: int, denominator: int = 1, q: int = 0) -> Number:
    """Give R(numerator / denominator * 10^q), the denominator being positive [SAMP-13]."""
    if not numerator:
        return ZERO
    size = abs(numerator)
    shift = PRECISION - digits(size) + digits(denominator)
    # The quotient has between PRECISION - 1 and PRECISION + 1 digits before the point.
    over, under = (
        (size * 10**shift, denominator) if shift >= 0 else (size, denominator * 10**-shift)
    )
    if over >= under * _BOUND:
        shift, under = shift - 1, under * 10
    elif over < under * _LEAST:
        shift, over = shift + 1, over * 10
    c, rest = divmod(over, under)
    if 2 * rest > under or (2 * rest == under and c & 1):
        c += 1
    if c == _BOUND:
        c, shift = _LEAST, shift - 1
    return Number(c if numerator > 0 else -c, q - shift)


def add(a: Number, b: Number) -> Number:
    """Give R(a + b) of two rounded numbers."""
    if not a.c or not b.c:
        return a if a.c else b
    if a.q < b.q:
        a, b = b, a
    apart = a.q - b.q
    if apart >= _APART:
        # b is below a hundredth of a's last place, and so moves it nowhere.
        return a
    return rounded(a.c * 10**apart + b.c, 1, b.q)


def subtract(a: Number, b: Number) -> Number:
    """Give R(a - b) of two rounded numbers."""
    return add(a, Number(-b.c, b.q))


def multiply(a: Number, b: Number) -> Number:
    """Give R(a * b)."""
    return rounded(a.c * b.c, 1, a.q + b.q)


def divide(a: Number, b: Number) -> Number:
    """Give R(a / b), b not being 0."""
    return rounded(a.c if b.c > 0 else -a.c, abs(b.c), a.q - b.q)


def compare(a: Number, b: Number) -> int:
    """Give -1, 0 or 1 as a is below, equal to or above b, rounded or not."""
    if a.q == b.q or (a.c > 0) - (a.c < 0) != (b.c > 0) - (b.c < 0) or not a.c:
        return (a.c > b.c) - (a.c < b.c)
    high_a, high_b = digits(abs(a.c)) + a.q, digits(abs(b.c)) + b.q
    if high_a != high_b:
        return 1 if (high_a > high_b) == (a.c > 0) else -1
    apart = a.q - b.q
    left, right = (a.c * 10**apart, b.c) if apart > 0 else (a.c, b.c * 10**-apart)
    return (left > right) - (left < right)


def exponential(d: Number) -> Number:
    """Give X(d), the number of 10 digits nearest to e^d, for a rounded d of 0 or less [SAMP-14].

    An interval that holds e^d is computed in integers; where its ends round to different numbers,
    the work is done again with twice the bits. It ends, since e^d is no rational for such d but 0.
    """
    if not d.c or d.q + PRECISION <= _TINY:
        # Above -10^-11, e^d is above 1 - 10^-11, and nearer to 1 than to 0.9999999999.
        return ONE
    bits = _FIRST_BITS
    while True:
        found = _bracketed(-d.c, d.q, bits)
        if found is not None:
            return found
        bits *= 2


def digits_of_exponential(d: Number, places: int) -> int:
    """Give the integer below 10^places * e^d, for any d of 0 or less and places above 0.

    As in `exponential`; e^d is no multiple of 10^-places, for such d but 0, and so it ends.
    """
    if not d.c:
        return int(10**places)
    if compare(d, Number(-5 * places, 0)) < 0:
        # e^5 is above 10^2, and so nothing is left above the last place.
        return 0
    bits = digits(10**places) * 10 // 3 + _FEW_BITS
    while True:
        value, k, error = _power(-d.c, d.q, bits)
        scale = int(10 ** max(places - k, 0))
        low, high = ((value + way) * scale // 10 ** max(k - places, 0) for way in (-error, error))
        if low >> bits == high >> bits:
            return int(low >> bits)
        bits *= 2


def _power(c: int, q: int, bits: int) -> tuple[int, int, int]:
    """Give (v, k, error) with e^-t = v * 10^-k for t = c * 10^q > 0, in units of 2^-bits.

    t and ln 10 are each less than one unit below what they are, so that r = t - k * ln 10 is off
    by at most k + 1, and e^-r, whose slope is at most 1, by as much. The table and the series are
    off by less than 2 * bits together, their product by one more.
    """
    t = (c << bits) * 10**q if q >= 0 else (c << bits) // 10**-q
    k, r = divmod(t, _ln10(bits))
    index, rest = divmod(r, 1 << (bits - _STEP_BITS))
    value = _table(bits)[index] * _series(rest, bits) >> bits
    return value, k, k + 4 * bits


def _bracketed(c: int, q: int, bits: int) -> Number | None:
    """Give R(e^-t) for t = c * 10^q > 0 if so many bits decide it."""
    value, k, error = _power(c, q, bits)
    # e^-r is in (0.1, 1], and so e^-t = e^-r * 10^-k has these ten digits.
    low, high = (
        ((value + way) * 2 * _BOUND + (1 << bits)) >> (bits + 1) for way in (-error, error)
    )
    if low != high:
        return None
    return rounded(low, 1, -k - PRECISION)


def _series(x: int, bits: int) -> int:
    """Give e^-x for 0 <= x < 2^-6, in units of 2^-bits: each term is off by less than two."""
    total = term = 1 << bits
    n = 0
    while term:
        n += 1
        term = (term * x >> bits) // n
        total += -term if n & 1 else term
    return total


@cache
def _table(bits: int) -> tuple[int, ...]:
    """Give e^(-i/64) for all i/64 up to ln 10: each is off by less than two units of 2^-bits."""
    fine = bits + _SPARE_BITS
    step = _series((1 << (fine - _STEP_BITS)) - 1, fine)
    powers = [1 << fine]
    while len(powers) <= 148:
        powers.append(powers[-1] * step >> fine)
    return tuple(power >> _SPARE_BITS for power in powers)


@cache
def _ln10(bits: int) -> int:
    """Give ln 10 = 6 artanh(1/3) + 2 artanh(1/9), rounded down to units of 2^-bits."""
    fine = bits + _SPARE_BITS

    def artanh_of_reciprocal(n: int) -> int:
        power, total, odd = (1 << fine) // n, 0, 1
        while power:
            total += power // odd
            power //= n * n
            odd += 2
        return total

    return (6 * artanh_of_reciprocal(3) + 2 * artanh_of_reciprocal(9)) >> _SPARE_BITS
