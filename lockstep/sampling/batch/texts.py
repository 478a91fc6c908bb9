"""Tokens and log-probabilities of many positions, read from their texts at once.

The grammars are [SAMP-7] and [SAMP-9]. What has no canonical spelling is not read: whoever asks
why asks position by position. Neither is a log-probability of more than 12 digits behind its
point, which [SAMP-8] does not write.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lockstep.sampling.batch.numbers import POWERS, Integers, Mask
from lockstep.sampling.batch.words import Words, digits_of, eight, first_of, gather, leading

Pairs = Sequence[tuple[str, str]]
Bytes = NDArray[np.uint8]

_WHOLE, _PART = 5, 12
"""Digits before the point, and behind it."""
_TOKEN = 10
"""Digits of a token."""
_LENGTHS = 16
"""What lengths of tokens are below; a power of two."""
_NEWLINE, _MINUS, _ZERO = (np.uint8(ord(character)) for character in "\n-0")
_MARGIN = "\0" * 24
"""Behind the texts, for what is read from the last of them on, eight bytes at a time."""


class Read(NamedTuple):
    """What texts say, one entry a pair of token and log-probability.

    Attributes:
        well: where both are read; the other members say nothing elsewhere.
        keys: `key` of the tokens.
        units: log-probabilities without their sign, in units of 10^-12.
    """

    well: Mask
    keys: Integers
    units: Integers


def lined(support: Pairs) -> Pairs:
    """Give a support as it is if each text can stand in a line of ASCII, else one that is not well.

    What no line can hold is in no grammar.
    """
    if all(text.isascii() and "\n" not in text for pair in support for text in pair):
        return support
    return (("", ""),) * len(support)


def read(supports: Sequence[Pairs]) -> Read | None:
    """Read the pairs of supports, one support after the other.

    Returns:
        None, where one of them is none of `lined`.
    """
    texts = list(chain.from_iterable(chain.from_iterable(supports)))
    lined = "\n".join(texts)
    if not lined.isascii():
        return None
    buffer = np.frombuffer(f"\n{lined}\n{_MARGIN}".encode(), np.uint8)
    lines = np.flatnonzero(buffer == _NEWLINE)
    if len(lines) != len(texts) + 1:
        return None
    begins, ends = lines[:-1] + 1, lines[1:]
    keys, well = _tokens(buffer, begins[::2], ends[::2])
    units, spelt = _units(buffer, begins[1::2], ends[1::2])
    return Read(well & spelt, keys, units)


def key(token: str) -> int:
    """Give an integer of a token; keys are ordered as tokens are in string order [SAMP-10].

    It is the token filled up with zeros behind, then its length: a text comes before those that it
    begins.
    """
    return int(token.ljust(_TOKEN, "0")) * _LENGTHS + len(token)


def below(keys: Integers, vocab_size: int) -> Mask:
    """Tell which tokens are below the size of a vocabulary, at most 10^10."""
    length = keys % _LENGTHS
    found: Mask = keys // _LENGTHS < vocab_size * POWERS[np.clip(_TOKEN - length, 0, _TOKEN - 1)]
    return found


def _tokens(buffer: Bytes, begins: Integers, ends: Integers) -> tuple[Integers, Mask]:
    """Read tokens [SAMP-9]: their keys, and which are well spelt."""
    length = ends - begins
    front, good = digits_of(gather(buffer, begins), length)
    back, also = digits_of(gather(buffer, begins + 8), length - 8)
    well = (length >= 1) & (length <= _TOKEN) & good & also
    well &= (buffer[begins] != _ZERO) | (length == 1)
    filled = eight(front) * 100 + eight(back) // 10**6
    return filled * _LENGTHS + np.minimum(length, _LENGTHS - 1), well


def _units(buffer: Bytes, begins: Integers, ends: Integers) -> tuple[Integers, Mask]:
    """Read log-probabilities [SAMP-7]: units of 10^-12, and which are well spelt."""
    zero = (ends - begins == 1) & (buffer[begins] == _ZERO)
    front: Words = gather(buffer, begins + 1)
    whole = np.minimum(first_of(".", front), ends - begins - 1)
    # Of a number without point the part has no digits, and it is not there either.
    part = ends - begins - whole - 2
    _, good = digits_of(front, whole)
    high, also = digits_of(gather(buffer, begins + whole + 2), part)
    low, too = digits_of(gather(buffer, begins + whole + 10), part - 8)
    well = (buffer[begins] == _MINUS) & good & also & too
    well &= (whole >= 1) & (whole <= _WHOLE) & (part <= _PART)
    # No needless zero: neither before other digits, nor behind the point, nor a sign before 0.
    well &= (buffer[begins + 1] != _ZERO) | ((whole == 1) & (part >= 1))
    well &= (part == -1) | ((part >= 1) & (buffer[ends - 1] != _ZERO))
    units = leading(front, whole) * 10**_PART + eight(high) * 10**4 + eight(low) // 10**4
    return np.where(zero, 0, units), well | zero
