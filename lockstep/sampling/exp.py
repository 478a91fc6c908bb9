"""The exponential, rounded correctly to 10 digits, in integers alone [SAMP-14].

A result is computed with an error bound. Where both ends of the interval round to the same
number, that is the answer, since rounding is monotone. Otherwise the precision is doubled (Ziv's
method); it ends, since e^x is transcendental for every rational x but 0 and so lies on no midpoint.
"""

from decimal import Decimal
from functools import cache

PRECISION = 10
"""Significant digits of a result."""

_BITS = 112
"""Of the first try; it leaves some 60 bits below the last digit, so that a second one is rare."""
_HALVINGS = 8
"""The argument is divided by 2 so often before the series, and the result squared as often."""
_LARGEST_MANTISSA = 10**PRECISION
_ROUNDS_TO_ONE = Decimal("-1E-12")
"""e^x is above 1 + x, and what is above 1 - 5E-11 rounds to 1."""


def exp(x: Decimal, bits: int = _BITS) -> Decimal:
    """Give the number of 10 digits that is nearest to e^x.

    Args:
        x: finite, 0 or below; taken exactly.
        bits: of the first try.
    """
    if not x.is_finite() or x > 0:
        raise ValueError(f"exp of {x}")
    if x >= _ROUNDS_TO_ONE:
        return Decimal(1)
    numerator, denominator = x.as_integer_ratio()
    numerator = -numerator
    while True:
        found = _within(numerator, denominator, bits)
        if found is not None:
            return Decimal(f"{found[0]}E{found[1]}")
        bits *= 2


def _within(numerator: int, denominator: int, bits: int) -> tuple[int, int] | None:
    """Give mantissa and exponent of e^-(numerator/denominator), or None where bits do not decide.

    With a = k ln 10 + r, e^-a = e^-r 10^-k. All values are integers in units of 2^-bits.
    """
    argument = (numerator << bits) // denominator
    k, r = divmod(argument, _ln10(bits))
    # r is off by less than 1 for the division above, and by k times the 2 by which ln 10 is.
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
    # Each term is off by less than 2, z by 1 and so e^-z by 1, what was cut off by 1; each
    # squaring doubles an error, and adds less than 2.
    error = ((2 * n + 6) << _HALVINGS) + off + 2
    low = _rounded(value - error, bits)
    return (low[0], low[1] - k) if low == _rounded(value + error, bits) else None


def _rounded(value: int, bits: int) -> tuple[int, int]:
    """Round value / 2^bits, which is near 0.1 to 1, to a mantissa of 10 digits."""
    exponent = -PRECISION
    if value >= 1 << bits:
        exponent += 1
    elif value * 10 < 1 << bits:
        exponent -= 1
    scaled = value * 10**-exponent
    mantissa = scaled >> bits
    rest, half = scaled & ((1 << bits) - 1), 1 << (bits - 1)
    if rest > half or (rest == half and mantissa % 2):
        mantissa += 1
    if mantissa == _LARGEST_MANTISSA:
        return mantissa // 10, exponent + 1
    return mantissa, exponent


@cache
def _ln10(bits: int) -> int:
    """Give ln 10 in units of 2^-bits, rounded down, or one less."""
    spare = 32
    one = 1 << (bits + spare)
    # Gauss's formula; each series is rounded down by less than its number of terms.
    total = 46 * _atanh(31, one) + 34 * _atanh(49, one) + 20 * _atanh(161, one)
    return total >> spare


def _atanh(n: int, one: int) -> int:
    """Give atanh(1/n) = 1/n + 1/(3 n^3) + 1/(5 n^5) + … in units of 1/one."""
    power, total, k = one // n, 0, 1
    while power:
        total += power // k
        power //= n * n
        k += 2
    return total
