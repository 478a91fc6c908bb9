"""The contents that a hunt moves: counter-based, so that they are the same on every machine.

Each value is a function of a seed and its index (splitmix64), not of a library's random stream.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from lockstep.hunt.element_types import from_real

Bits = NDArray[np.unsignedinteger]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


def splitmix64(seed: int, start: int, count: int) -> NDArray[np.uint64]:
    """Give `count` 64-bit values of the splitmix64 sequence of `seed`, from index `start`."""
    with np.errstate(over="ignore"):
        z = np.arange(start + 1, start + 1 + count, dtype=np.uint64)
        z *= _GOLDEN
        z += np.uint64(seed & 0xFFFF_FFFF_FFFF_FFFF) * _MIX_2
        z ^= z >> np.uint64(30)
        z *= _MIX_1
        z ^= z >> np.uint64(27)
        z *= _MIX_2
        z ^= z >> np.uint64(31)
    return z


def stream_seed(seed: int, *parts: int) -> int:
    """Derive the seed of an independent stream, by component and layer for instance."""
    for part in parts:
        seed = int(splitmix64(seed, part, 1)[0])
    return seed


def state(seed: int, count: int, dtype: str) -> Bits:
    """Give the full-precision state of a component: element bits of `dtype`, in canonical order.

    Values are multiples of 2^-8 in [-3, 3), rounded to the dtype: most of them have more
    significant bits than any lossy element type holds ([HUNT-8]), and all convert to integers
    exactly, so that the decoder need not round.
    """
    draws = splitmix64(seed, 0, (count + 3) // 4).view(np.uint16)[:count]
    steps = (draws % np.uint16(1536)).astype(np.int16)
    steps -= np.int16(768)
    return from_real(steps.astype(np.float32) / np.float32(256), dtype)


def _ramp(count: int, bits: int, seed: int) -> Bits:
    return np.arange(count, dtype=np.uint64).astype(_unsigned(bits))


def _reversed(count: int, bits: int, seed: int) -> Bits:
    return np.arange(count, 0, -1, dtype=np.uint64).astype(_unsigned(bits))


def _random(count: int, bits: int, seed: int) -> Bits:
    per = 64 // bits
    return splitmix64(seed, 0, (count + per - 1) // per).view(_unsigned(bits))[:count]


def _not_a_number(count: int, bits: int, seed: int) -> Bits:
    """Give quiet, signalling and negative not-a-numbers, each with a payload of its own."""
    exponent = {8: 0x78, 16: 0x7C00, 32: 0x7F80_0000, 64: 0x7FF0_0000_0000_0000}[bits]
    return _random(count, bits, seed) | _unsigned(bits)(exponent | 1)


def _denormal(count: int, bits: int, seed: int) -> Bits:
    """Give denormals of both signs, and both zeros: what a flushing copy would lose."""
    keep = {8: 0x87, 16: 0x83FF, 32: 0x807F_FFFF, 64: 0x800F_FFFF_FFFF_FFFF}[bits]
    return _random(count, bits, seed) & _unsigned(bits)(keep)


def _distinct(count: int, bits: int, seed: int) -> Bits:
    """Give values that differ at any two indices, up to the width: an odd multiplier permutes."""
    with np.errstate(over="ignore"):
        values = np.arange(count, dtype=np.uint64) * np.uint64(0x9E37_79B1) + np.uint64(seed)
    return values.astype(_unsigned(bits))


def _unsigned(bits: int) -> type[np.unsignedinteger]:
    widths: dict[int, type[np.unsignedinteger]] = {
        8: np.uint8,
        16: np.uint16,
        32: np.uint32,
        64: np.uint64,
    }
    return widths[bits]


PAYLOADS: tuple[tuple[str, int, Callable[[int, int, int], Bits]], ...] = (
    ("ramp", 64, _ramp),
    ("reversed", 32, _reversed),
    ("random bits", 16, _random),
    ("not a number", 16, _not_a_number),
    ("denormals", 32, _denormal),
    ("distinct", 64, _distinct),
)
"""The gather payloads: name, bits of an element, and contents by (count, bits, seed)."""


def fill(count: int, bits: int, zero: bool = False, inverted: bool = False) -> Bits:
    """Give what padding slots hold before anything is written.

    Non-zero, as an engine's block tail is, and different at every slot from the inverted fill,
    so that which slots a round trip changes is a set identity and not a probability.
    """
    width = _unsigned(bits)
    if zero:
        return np.zeros(count, dtype=width)
    pattern = np.arange(count, dtype=np.uint64).astype(width) | width(1)
    chosen: Bits = np.bitwise_not(pattern) if inverted else pattern
    return chosen
