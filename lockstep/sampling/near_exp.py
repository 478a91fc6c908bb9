"""Exponentials of many numbers at once, each the correctly rounded one [SAMP-14].

A binary64 result decides all but a few of a thousand, since it lies within `BOUND` of the true
value, relatively; where it comes near the middle of two numbers of 10 digits, `exp` decides.

Only sums, products and roundings of binary64 are used, which IEEE 754 defines to the bit, and no
library's exponential. For -64 <= x <= 0, with u = 2^-53: x itself is off by 64 u; reduction by k
ln 2, whose high part has 33 bits, so that its product with k < 128 is exact, adds 2 u; Horner's
scheme to x^13 / 13! adds 8 u of a value above 0.7, the tail 4E-18; the power of ten and the product
with it 2 u. All that is below 80 u, less than 1E-14.
"""

from collections.abc import Sequence
from decimal import Context, Decimal
from math import factorial

import numpy as np

from lockstep.sampling.exp import PRECISION, exp

BOUND = 1e-14
"""Relative distance of a binary64 result from e^x."""
LEAST = -64
"""The least argument for which the bound holds."""

_LOG2_E = 1.4426950408889634
_LN2_HIGH = float.fromhex("0x1.62e42feep-1")
_LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
_LOG10_E = 0.4342944819032518
_COEFFICIENTS = tuple(1 / factorial(n) for n in range(13, -1, -1))
_LARGEST = 10.0**PRECISION
_MARGIN = 10 * BOUND * _LARGEST
"""How near to a middle, or to a power of ten, the exact computation decides."""


def exp_all(values: Sequence[Decimal], arithmetic: Context) -> list[Decimal]:
    """Give what `exp` gives of each value.

    Args:
        values: 0 or below, and not below -64.
        arithmetic: of 10 digits.
    """
    x = np.array([float(value) for value in values])
    k = np.rint(x * _LOG2_E)
    r = (x - k * _LN2_HIGH) - k * _LN2_LOW
    near = np.full_like(r, _COEFFICIENTS[0])
    for coefficient in _COEFFICIENTS[1:]:
        near = near * r + coefficient
    places = (PRECISION - 1) - np.floor(x * _LOG10_E).astype(np.int64)
    scaled = np.ldexp(near, k.astype(np.int32)) * _POWERS[places]
    whole = np.rint(scaled)
    sure = np.abs(np.abs(scaled - whole) - 0.5) > _MARGIN
    sure &= (scaled > _LARGEST / 10 + 1) & (scaled < _LARGEST - 1)
    return [
        arithmetic.scaleb(Decimal(mantissa), -place) if decided else exp(value)
        for value, mantissa, place, decided in zip(
            values, whole.astype(np.int64).tolist(), places.tolist(), sure.tolist(), strict=True
        )
    ]


_POWERS = np.array([float(10**n) for n in range(PRECISION + 30)])
