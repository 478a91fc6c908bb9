"""The exponential function by plain operations [KERN-6]; `tl.exp` is an approximation."""

import triton.language as tl

from lockstep.engine.kernels.launch import device

LOWEST = tl.constexpr(-87.0)
HIGHEST = tl.constexpr(88.0)
LOG2_E = tl.constexpr(float.fromhex("0x1.715476p+0"))
LN2_HIGH = tl.constexpr(float.fromhex("0x1.63p-1"))
LN2_LOW = tl.constexpr(float.fromhex("-0x1.bd0106p-13"))
P0 = tl.constexpr(float.fromhex("0x1.a0d2cep-13"))
P1 = tl.constexpr(float.fromhex("0x1.6e879cp-10"))
P2 = tl.constexpr(float.fromhex("0x1.11121p-7"))
P3 = tl.constexpr(float.fromhex("0x1.555382p-5"))
P4 = tl.constexpr(float.fromhex("0x1.555554p-3"))
P5 = tl.constexpr(float.fromhex("0x1p-1"))
INFINITY = tl.constexpr(float("inf"))


@device
def exp(x: tl.tensor) -> tl.tensor:
    """Give the exponential of each element; not-a-numbers give themselves."""
    above = x >= LOWEST
    below = x <= HIGHEST
    inside = tl.where(above & below, x, 0.0)
    n = tl.floor(inside * LOG2_E + 0.5)
    r = (inside - n * LN2_HIGH) - n * LN2_LOW
    p = r * P0 + P1
    p = p * r + P2
    p = p * r + P3
    p = p * r + P4
    p = p * r + P5
    y = (p * (r * r) + r) + 1.0
    scale = ((n.to(tl.int32) + 127) << 23).to(tl.float32, bitcast=True)
    # Both bounds fail for a not-a-number alone.
    outside = tl.where(above, INFINITY, tl.where(below, 0.0, x))
    return tl.where(above & below, y * scale, outside)
