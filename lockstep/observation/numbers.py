"""The numbers that an engine is given to write, and the digits that stand for them [OBS-1]."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lockstep.errors import LockstepError
from lockstep.layouts.geometry import Geometry

BASE = 250
"""Numbers below it, plus one, are exact in every element type."""
MOST_NUMBERS = BASE * BASE
DIGITS = ("low", "high")

Digits = NDArray[np.float32]


def require_telling(geometry: Geometry) -> None:
    """Refuse a geometry at which two axes, or two elements, could not be told apart.

    Raises:
        LockstepError: BAD_VALUE.
    """
    extents = (geometry.layers, geometry.tokens, geometry.kv_heads, geometry.head_dim)
    count = 2 * int(np.prod(extents))
    if min(extents) < 2 or len(set(extents)) < 4 or count > MOST_NUMBERS:
        expected = f"four extents above 1, all distinct, of at most {MOST_NUMBERS} numbers"
        raise LockstepError("BAD_VALUE", "/geometry", expected, extents)


def digits(geometry: Geometry) -> dict[str, Digits]:
    """Give the digits of all numbers: shape (layers, 2, tokens, kv_heads, head_dim), K then V."""
    shape = (geometry.layers, 2, geometry.tokens, geometry.kv_heads, geometry.head_dim)
    number = np.arange(np.prod(shape)).reshape(shape)
    return {
        "low": (number % BASE + 1).astype(np.float32),
        "high": (number // BASE + 1).astype(np.float32),
    }
