"""The digits of an exponential down to a decimal place, none of them rounded [DIST-4].

As in `exp`, a result is computed with an error bound, and again with twice the bits where the
bound leaves open which integer lies below. It ends, since e^x is transcendental for every rational
x but 0.
"""

from functools import cache, lru_cache

PLACES = 24
"""Decimals of a log-probability, at most [SAMP-7]; arguments are integers in units of 10^-24."""

DIGITS = 40
"""Decimals of a result."""

_BITS = 176
"""Of the first try: 133 for the digits, and some 25 below them that the error leaves."""
_HALVINGS = 8
_ONE: int = 10**PLACES
_SCALE: int = 10**DIGITS
_LEAST = -93 * _ONE
"""e^-93 is below 10^-40."""


@lru_cache(maxsize=1 << 16)
def exp_digits(x: int, bits: int = _BITS) -> int:
    """Give ⌊10^40 · e^(x · 10^-24)⌋.

    Args:
        x: 0 or below.
        bits: of the first try.
    """
    if x > 0:
        raise ValueError(f"exp of {x} units")
    if x == 0:
        return _SCALE
    if x < _LEAST:
        return 0
    while True:
        found = _within(-x, bits)
        if found is not None:
            return found
        bits *= 2


def _within(units: int, bits: int) -> int | None:
    """Give the digits of e^-a for a = units · 10^-24, or None where bits do not decide.

    With a = k ln 2 + r, e^-a = e^-r 2^-k. All values are integers in units of 2^-bits.
    """
    argument = (units << bits) // _ONE
    k, r = divmod(argument, _ln2(bits))
    # r is off by less than 1 for the division above, and by k times the 2 by which ln 2 is.
    off = 2 * k + 1
    z = r >> _HALVINGS
    term = value = 1 << bits
    n = 0
    while term:
        n += 1
        term = ((term * z) >> bits) // n
        value += -term if n % 2 else term
    for _ in range(_HALVINGS):
        value = (value * value) >> bits
    # As in `exp`: terms, z and what was cut off; a squaring doubles an error, and adds below 2.
    error = ((2 * n + 6) << _HALVINGS) + off + 2
    low, high = ((value + way) * _SCALE >> (bits + k) for way in (-error, error))
    return low if low == high else None


@cache
def _ln2(bits: int) -> int:
    """Give ln 2 in units of 2^-bits, rounded down, or one less."""
    spare = 32
    one = 1 << (bits + spare)
    # Machin-like, as Gauss's for ln 10; each series is rounded down by less than its terms.
    total = 18 * _atanh(26, one) - 2 * _atanh(4801, one) + 8 * _atanh(8749, one)
    return total >> spare


def _atanh(n: int, one: int) -> int:
    """Give atanh(1/n) = 1/n + 1/(3 n^3) + 1/(5 n^5) + … in units of 1/one."""
    power, total, k = one // n, 0, 1
    while power:
        total += power // k
        power //= n * n
        k += 2
    return total
