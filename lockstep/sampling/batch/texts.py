"""Tokens and log-probabilities of many positions, read at once [SAMP-7] to [SAMP-9].

What has no canonical spelling is not read: whoever asks why asks position by position. Neither is a
log-probability of more than 12 digits behind its point, which [SAMP-8] does not write.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lockstep.sampling.batch.numbers import POWERS, Integers, Mask

Pairs = Sequence[tuple[str, str]]
Bytes = NDArray[np.uint8]

_WHOLE, _PART = 5, 12
"""Digits before the point, and behind it."""
_TOKEN = 10
"""Digits of a token."""
_SCALE = np.concatenate(
    [POWERS[_WHOLE + _PART - 1 : _PART - 1 : -1], POWERS[:1] * 0, POWERS[_PART - 1 :: -1]]
)
"""What a digit stands for, by its place around the point."""
_NEWLINE, _MINUS, _POINT, _DIGIT = (ord(character) for character in "\n-.0")


class Read(NamedTuple):
    """What texts say, one entry a pair of token and log-probability.

    Attributes:
        well: where both are read; the other members say nothing elsewhere.
        tokens: ids.
        order: integers ordered as the tokens' texts are.
        units: log-probabilities without their sign, in units of 10^-12.
    """

    well: Mask
    tokens: Integers
    order: Integers
    units: Integers


def plain(support: Pairs) -> bool:
    """Tell whether each text can stand in a line of ASCII."""
    return all(text.isascii() and "\n" not in text for pair in support for text in pair)


def read(supports: Sequence[Pairs]) -> Read | None:
    """Read the pairs of supports, one support after the other.

    Returns:
        None, where one of them is not `plain`.
    """
    texts = list(chain.from_iterable(chain.from_iterable(supports)))
    lined = "\n".join(("", *texts, ""))
    if not lined.isascii():
        return None
    # Windows that begin or end outside of the text see what surrounds it.
    margin = "\0" * (_TOKEN + _PART)
    buffer = np.frombuffer(f"{margin}{lined}{margin}".encode(), np.uint8)
    lines = np.flatnonzero(buffer == _NEWLINE)
    if len(lines) != len(texts) + 1:
        return None
    begins, ends = lines[:-1] + 1, lines[1:]
    tokens, order, well = _tokens(buffer, begins[::2], ends[::2])
    units, spelt = _units(buffer, begins[1::2], ends[1::2])
    return Read(well & spelt, tokens, order, units)


def _tokens(buffer: Bytes, begins: Integers, ends: Integers) -> tuple[Integers, Integers, Mask]:
    """Read tokens [SAMP-9]: ids, keys of their string order, and which are well spelt."""
    length = ends - begins
    digits = _windows(buffer, _TOKEN)[begins] - np.uint8(_DIGIT)
    inside = np.arange(_TOKEN) < length[:, np.newaxis]
    well = (length >= 1) & (length <= _TOKEN)
    well &= ((digits < 10) | ~inside).all(axis=1) & ((digits[:, 0] > 0) | (length == 1))
    # Filled up with zeros behind; a text comes before those that it begins.
    filled = (digits * inside).astype(np.int64) @ POWERS[_TOKEN - 1 :: -1]
    return filled // POWERS[_TOKEN - np.clip(length, 0, _TOKEN)], filled * 16 + length, well


def _units(buffer: Bytes, begins: Integers, ends: Integers) -> tuple[Integers, Mask]:
    """Read log-probabilities [SAMP-7]: units of 10^-12, and which are well spelt."""
    points = np.append(np.flatnonzero(buffer == _POINT), len(buffer))
    point = np.minimum(points[np.searchsorted(points, begins)], ends)
    zero = (ends - begins == 1) & (buffer[begins] == _DIGIT)
    first = begins + 1
    whole, part = point - first, ends - point - 1
    # The windows lie around the point, whether there is one or the text ends there.
    place = np.arange(-_WHOLE, _PART + 1)
    digits = _windows(buffer, _WHOLE + 1 + _PART)[point - _WHOLE] - np.uint8(_DIGIT)
    inside = (place >= -whole[:, np.newaxis]) & (place <= part[:, np.newaxis]) & (place != 0)
    leading, last = buffer[first] - np.uint8(_DIGIT), buffer[ends - 1] - np.uint8(_DIGIT)
    well = (buffer[begins] == _MINUS) & (whole >= 1) & (whole <= _WHOLE) & (part <= _PART)
    well &= ((digits < 10) | ~inside).all(axis=1)
    # No needless zero: neither before other digits, nor behind the point, nor a sign before 0.
    well &= (leading > 0) | ((whole == 1) & (part >= 1))
    well &= (part == -1) | ((part >= 1) & (last > 0))
    units = (digits * inside).astype(np.int64) @ _SCALE
    return np.where(zero, 0, units), well | zero


def _windows(buffer: Bytes, width: int) -> Bytes:
    """Give the bytes from each place on, as many as a width, without copying."""
    return np.lib.stride_tricks.sliding_window_view(buffer, width)
