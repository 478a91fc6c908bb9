"""The file that llama.cpp saves a sequence to, taken apart: cells, then keys, then values."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from lockstep.errors import LockstepError
from lockstep.layouts.geometry import Geometry
from lockstep.observation.seen import Memory

MAGIC = b"qsgg"
"""The first bytes: GGSQ, a number in little-endian order."""
VERSION = 4
TYPES = {"float32": 0, "float16": 1, "bfloat16": 30}
"""ggml's numbers of the element types."""
CELL_EXTRA = (0, 12)
"""Bytes that a cell has besides position and sequence: none, or a 2D position and a token."""


class _Reader:
    """Takes a file from its start; what does not fit is refused."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, size: int) -> bytes:
        if self.at + size > len(self.data):
            raise _refused(f"{size} bytes at {self.at}", f"{len(self.data) - self.at}")
        self.at += size
        return self.data[self.at - size : self.at]

    def numbers(self, form: str) -> tuple[int, ...]:
        return struct.unpack(f"<{form}", self.take(struct.calcsize(f"<{form}")))

    def expect(self, form: str, *wanted: int) -> None:
        found = self.numbers(form)
        if found != wanted:
            raise _refused(f"{wanted} before {self.at}", found)


def _refused(expected: object, got: object) -> LockstepError:
    hint = "The file is read as llama.cpp writes it at version 4 of the state of a sequence."
    return LockstepError("ENGINE_NOT_OBSERVED", "the saved state", expected, got, hint)


def read(data: bytes, geometry: Geometry) -> tuple[Memory, ...]:
    """Give the keys and the values of each layer, as they stand in the file.

    Args:
        data: of the whole file.
        geometry: of the cache; the file must have its tokens, at positions 0 and on, its layers
            and its dtype.

    Raises:
        LockstepError: ENGINE_NOT_OBSERVED where it is another file than that.
    """
    reader = _Reader(data)
    if reader.take(4) != MAGIC:
        raise _refused(MAGIC, data[:4])
    reader.expect("I", VERSION)
    (packed,) = reader.numbers("I")
    reader.take(4 * packed)
    reader.expect("II", 1, geometry.tokens)
    _cells(reader, geometry.tokens)
    transposed, *_ = reader.numbers("I")
    # Without a Hadamard rotation of keys or values, which is no matter of positions.
    reader.expect("III", geometry.layers, 0, 0)
    keys = tuple(_rows(reader, "k", geometry))
    values = _columns if transposed else _rows
    found = (*keys, *values(reader, "v", geometry))
    if reader.at != len(data):
        raise _refused("the end of the file", f"{len(data) - reader.at} bytes")
    return found


def _cells(reader: _Reader, tokens: int) -> None:
    """Take the cells, whose width is that at which they are the tokens in order."""
    begun = reader.at
    for extra in CELL_EXTRA:
        reader.at = begun
        # Position, the number of its sequences, what its version adds, and the one sequence.
        cells = [reader.numbers(f"iI{extra}si")[:2] for _ in range(tokens)]
        if cells == [(at, 1) for at in range(tokens)]:
            return
    raise _refused("the tokens of one sequence, in order", "other cells")


def _rows(reader: _Reader, name: str, geometry: Geometry) -> Iterator[Memory]:
    """Take layers of which each cell is a row."""
    tokens, width = geometry.tokens, geometry.element_bits // 8
    for layer in range(geometry.layers):
        reader.expect("i", TYPES[geometry.dtype])
        (row,) = reader.numbers("Q")
        yield Memory(name, layer, (tokens, row // width), reader.take(tokens * row))


def _columns(reader: _Reader, name: str, geometry: Geometry) -> Iterator[Memory]:
    """Take layers of which each cell is a column."""
    tokens, width = geometry.tokens, geometry.element_bits // 8
    for layer in range(geometry.layers):
        reader.expect("iI", TYPES[geometry.dtype], width)
        (rows,) = reader.numbers("I")
        yield Memory(name, layer, (rows, tokens), reader.take(rows * tokens * width))
