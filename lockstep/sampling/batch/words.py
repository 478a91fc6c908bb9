"""Eight bytes of text at a time, in integers of 64 bits: digits found, checked and read at once.

The first character is in the lowest eight bits. Characters are ASCII, so that the highest bit of
each byte is free to carry an answer.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lockstep.sampling.batch.numbers import Integers, Mask

Words = NDArray[np.uint64]

_BYTES = 8
_EACH = np.uint64(0x0101010101010101)
_HIGH = np.uint64(0x80) * _EACH
_ZEROS = np.uint64(ord("0")) * _EACH
_ABOVE_NINE = np.uint64(0x7F - 9) * _EACH
_KEPT: Words = np.array([(1 << 8 * count) - 1 for count in range(_BYTES + 1)], dtype=np.uint64)


def gather(buffer: NDArray[np.uint8], places: Integers) -> Words:
    """Give the eight bytes from each place on."""
    shape = (len(buffer) - _BYTES + 1,)
    words: Words = np.ndarray(shape, np.dtype("<u8"), buffer.data, strides=(1,))
    return words[places]


def first_of(character: str, words: Words) -> Integers:
    """Give how many bytes stand before the first that is a character; 8 where none is."""
    others = words ^ (np.uint64(ord(character)) * _EACH)
    # The lowest bit that is set marks the lowest byte that is 0; higher ones may be marked wrongly.
    marked = (others - _EACH) & ~others & _HIGH
    lowest = marked & (~marked + np.uint64(1))
    return (np.bitwise_count(lowest - np.uint64(1)) >> 3).astype(np.int64)


def digits_of(words: Words, count: Integers) -> tuple[Words, Mask]:
    """Give the values of so many leading bytes as digits, 0 behind them, and where all are digits.

    Args:
        words: texts.
        count: how many bytes; below 0 is none, and above 8 is all.
    """
    values = (words ^ _ZEROS) & _KEPT[np.clip(count, 0, _BYTES)]
    return values, (values + _ABOVE_NINE) & _HIGH == 0


def eight(digits: Words) -> Integers:
    """Give the integers of eight digits, the first in the lowest byte."""
    pairs = digits * np.uint64(10) + (digits >> np.uint64(8))
    mask = np.uint64(0x000000FF000000FF)
    high = (pairs & mask) * np.uint64(100 + (1_000_000 << 32))
    low = ((pairs >> np.uint64(16)) & mask) * np.uint64(1 + (10_000 << 32))
    return ((high + low) >> np.uint64(32)).astype(np.int64)


def leading(words: Words, count: Integers) -> Integers:
    """Give the integers of so many leading digits, 1 to 8, whatever stands behind them."""
    # Shifted to the end, behind bytes that are 0.
    spare = np.clip((_BYTES - count) * 8, 0, 63).astype(np.uint64)
    return eight((words ^ _ZEROS) << spare)
