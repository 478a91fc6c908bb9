"""Tables of the rotary embedding, the same on every machine [KERN-12].

Angles are taken as 64-bit fractions of a turn, so that reducing them is exact integer arithmetic,
and sine and cosine are polynomials in binary64 of plain operations: a C library's own differ in
their last bits from CPU to CPU.
"""

import math
from decimal import ROUND_HALF_EVEN, Context, Decimal
from functools import cache

import numpy as np
from numpy.typing import NDArray

from lockstep.errors import LockstepError

POSITIONS = 1 << 20
"""Positions are below it: the bound on the error of a table's entry rests on that."""

_PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628621")
_DIGITS = 60
_HALF_PI_PER_QUARTER = float.fromhex("0x1.921fb54442d18p-62")
_SINE = tuple((-1) ** j / math.factorial(2 * j + 1) for j in range(7, 0, -1))
_COSINE = tuple((-1) ** j / math.factorial(2 * j) for j in range(8, 0, -1))


@cache
def turn_fractions(theta: float, head_dim: int) -> tuple[int, ...]:
    """Give f_i for i < D / 2: turns a position advances by, times 2^64."""
    context = Context(prec=_DIGITS, rounding=ROUND_HALF_EVEN)
    logarithm = context.ln(Decimal(theta))
    result = []
    for index in range(head_dim // 2):
        power = context.divide(context.multiply(logarithm, Decimal(-2 * index)), Decimal(head_dim))
        turns = context.divide(context.exp(power), context.multiply(Decimal(2), _PI))
        scaled = context.multiply(turns, Decimal(1 << 64))
        result.append(int(scaled.to_integral_value(rounding=ROUND_HALF_EVEN)))
    return tuple(result)


def rope_tables(
    theta: float, head_dim: int, positions: NDArray[np.integer]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Give cosine and sine, each float32 [M, D / 2], for `positions` [M].

    Raises:
        LockstepError: KERNEL_INPUT for an odd head dimension, a theta below 1, or a position that
            is negative or not below 2^20.
    """
    if head_dim < 2 or head_dim % 2 or not 1 <= theta < math.inf:
        raise LockstepError(
            "KERNEL_INPUT", "/rope", "an even head_dim and theta at least 1", (head_dim, theta)
        )
    if positions.size and not (positions.min() >= 0 and positions.max() < POSITIONS):
        raise LockstepError(
            "KERNEL_INPUT",
            "/positions",
            f"0 to {POSITIONS - 1}",
            f"{positions.min()} to {positions.max()}",
        )
    fractions = np.array(turn_fractions(float(theta), head_dim), dtype=np.uint64)
    # Products wrap at whole turns.
    turns = positions.astype(np.uint64)[:, None] * fractions
    quarter = (turns + np.uint64(1 << 61)) >> np.uint64(62)
    rest = (turns - (quarter << np.uint64(62))).view(np.int64).astype(np.float64)
    cosine, sine = _polynomials(rest * _HALF_PI_PER_QUARTER)
    swapped = (quarter & np.uint64(1)) == 1
    negative = (quarter & np.uint64(2)) == 2
    cos = np.where(swapped, -sine, cosine)
    sin = np.where(swapped, cosine, sine)
    return (
        np.where(negative, -cos, cos).astype(np.float32),
        np.where(negative, -sin, sin).astype(np.float32),
    )


def _polynomials(
    angle: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give cosine and sine of angles between -pi/4 and pi/4."""
    square = angle * angle
    s = np.full_like(angle, _SINE[0])
    for coefficient in _SINE[1:]:
        s = s * square + coefficient
    c = np.full_like(angle, _COSINE[0])
    for coefficient in _COSINE[1:]:
        c = c * square + coefficient
    return 1.0 + square * c, angle + (angle * square) * s
