"""The exponential function by plain operations [KERN-6].

Reduction by multiples of log 2 in two parts (W. J. Cody and W. Waite, 1980) and the polynomial
of the Cephes library's expf. `np.exp` is not used: its bits differ between the baseline and the
wider vector instructions.
"""

import numpy as np
from numpy.typing import NDArray

LOWEST = np.float32(-87)
"""Below it the result is +0: its exponent would leave the normal numbers."""

HIGHEST = np.float32(88)
"""Above it the result is plus infinity."""

LOG2_E = np.float32(float.fromhex("0x1.715476p+0"))
LN2_HIGH = np.float32(float.fromhex("0x1.63p-1"))
LN2_LOW = np.float32(float.fromhex("-0x1.bd0106p-13"))

COEFFICIENTS = tuple(
    np.float32(float.fromhex(text))
    for text in (
        "0x1.a0d2cep-13",
        "0x1.6e879cp-10",
        "0x1.11121p-7",
        "0x1.555382p-5",
        "0x1.555554p-3",
        "0x1p-1",
    )
)
"""From the highest power downwards."""

_TOGETHER = 1 << 15
"""Elements that are computed at once, so that they stay in a cache; no matter of bits."""

_HALF, _ONE, _ZERO = np.float32(0.5), np.float32(1), np.float32(0)
_INFINITY = np.float32(np.inf)


def exp(x: NDArray[np.float32]) -> NDArray[np.float32]:
    """Give the exponential of each element; not-a-numbers give themselves."""
    if x.size <= _TOGETHER:
        return _exp(x)
    flat = x.reshape(-1)
    result = np.empty_like(flat)
    for first in range(0, len(flat), _TOGETHER):
        part = slice(first, first + _TOGETHER)
        result[part] = _exp(flat[part])
    return result.reshape(x.shape)


def _exp(x: NDArray[np.float32]) -> NDArray[np.float32]:
    above, below = x >= LOWEST, x <= HIGHEST
    inside = np.where(above & below, x, _ZERO)
    n = np.floor(inside * LOG2_E + _HALF)
    r = (inside - n * LN2_HIGH) - n * LN2_LOW
    p = np.full_like(r, COEFFICIENTS[0])
    for coefficient in COEFFICIENTS[1:]:
        np.multiply(p, r, out=p)
        np.add(p, coefficient, out=p)
    y = (p * (r * r) + r) + _ONE
    power = (n.astype(np.int32) + np.int32(127)) << np.int32(23)
    y *= power.view(np.float32)
    # Both bounds fail for a not-a-number alone.
    outside = np.where(above, _INFINITY, np.where(below, _ZERO, x))
    return np.where(above & below, y, outside)
