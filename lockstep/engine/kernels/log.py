"""The logarithm by plain operations [KERN-7]; `tl.log` is an approximation."""

import triton.language as tl

from lockstep.engine.kernels.exp import LN2_HIGH, LN2_LOW
from lockstep.engine.kernels.launch import device

ROOT_HALF = tl.constexpr(float.fromhex("0x1.6a09e6p-1"))
L0 = tl.constexpr(float.fromhex("0x1.204376p-4"))
L1 = tl.constexpr(float.fromhex("-0x1.d7a37p-4"))
L2 = tl.constexpr(float.fromhex("0x1.de4a34p-4"))
L3 = tl.constexpr(float.fromhex("-0x1.fcba9ep-4"))
L4 = tl.constexpr(float.fromhex("0x1.23d37ep-3"))
L5 = tl.constexpr(float.fromhex("-0x1.555cap-3"))
L6 = tl.constexpr(float.fromhex("0x1.999d58p-3"))
L7 = tl.constexpr(float.fromhex("-0x1.fffff8p-3"))
L8 = tl.constexpr(float.fromhex("0x1.555554p-2"))


@device
def log(x: tl.tensor) -> tl.tensor:
    """Give the logarithm of normal numbers that are at least 1; not-a-numbers give themselves."""
    bits = x.to(tl.int32, bitcast=True)
    exponent = (bits >> 23) - 126
    fraction = ((bits & 0x007FFFFF) | 0x3F000000).to(tl.float32, bitcast=True)
    low = fraction < ROOT_HALF
    e = tl.where(low, exponent - 1, exponent).to(tl.float32)
    z = tl.where(low, fraction + fraction, fraction) - 1.0
    q = z * z
    p = z * L0 + L1
    p = p * z + L2
    p = p * z + L3
    p = p * z + L4
    p = p * z + L5
    p = p * z + L6
    p = p * z + L7
    p = p * z + L8
    y = (p * z) * q
    y = y + e * LN2_LOW
    y = y - q * 0.5
    return tl.where(x != x, x, (z + y) + e * LN2_HIGH)
