"""The logarithm by plain operations [KERN-7], the polynomial being that of Cephes' logf."""

import numpy as np
from numpy.typing import NDArray

from lockstep.engine.host.exp import LN2_HIGH, LN2_LOW

ROOT_HALF = np.float32(float.fromhex("0x1.6a09e6p-1"))

COEFFICIENTS = tuple(
    np.float32(float.fromhex(text))
    for text in (
        "0x1.204376p-4",
        "-0x1.d7a37p-4",
        "0x1.de4a34p-4",
        "-0x1.fcba9ep-4",
        "0x1.23d37ep-3",
        "-0x1.555cap-3",
        "0x1.999d58p-3",
        "-0x1.fffff8p-3",
        "0x1.555554p-2",
    )
)
"""From the highest power downwards."""


def log(x: NDArray[np.float32]) -> NDArray[np.float32]:
    """Give the logarithm of normal numbers that are at least 1; not-a-numbers give themselves."""
    bits = np.ascontiguousarray(x).view(np.int32)
    exponent = (bits >> np.int32(23)) - np.int32(126)
    fraction = ((bits & np.int32(0x007F_FFFF)) | np.int32(0x3F00_0000)).view(np.float32)
    low = fraction < ROOT_HALF
    e = np.where(low, exponent - np.int32(1), exponent).astype(np.float32)
    z = np.where(low, fraction + fraction, fraction) - np.float32(1)
    q = z * z
    p = np.full_like(z, COEFFICIENTS[0])
    for coefficient in COEFFICIENTS[1:]:
        p = p * z + coefficient
    y = (p * z) * q
    y = y + e * LN2_LOW
    y = y - np.float32(0.5) * q
    return np.where(np.isnan(x), x, (z + y) + e * LN2_HIGH)
