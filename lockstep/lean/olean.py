"""The objects of an .olean file, format 2: a header, then a compacted region of Lean objects.

The layout is that of `src/library/module.cpp`, `src/runtime/compact.cpp` and
`src/include/lean/lean.h` of leanprover/lean4 at v4.35.0, on a 64-bit little-endian machine. An
object's parts always stand before it in the file; that is checked, so that no walk can go round
in circles. Each part that is read is checked against the file's bounds and the size of its object.
"""

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from lockstep.errors import LockstepError
from lockstep.lean.terms import Name
from lockstep.limits import OLEAN_BYTES

HEADER_BYTES = 88
"""Magic and format 6, flags 1, Lean version 33, commit 40, base address 8."""
START = HEADER_BYTES + 8
"""Where objects begin: after the pointer to the root."""

LARGEST_CONSTRUCTOR = 244
ARRAY, STRING, BIG_NATURAL = 246, 249, 250
"""Tags of objects that are no constructors."""


@dataclass(frozen=True)
class Object:
    """A constructor object: its tag, its pointers, and the bytes of its scalar fields."""

    at: int
    tag: int
    fields: tuple[int, ...]
    scalars: bytes


class Region:
    """The objects of one .olean file; pointers are as they stand in it.

    Args:
        path: the file, named in every refusal.
        data: its bytes.

    Raises:
        LockstepError: OLEAN_MALFORMED, here and from every method.
    """

    def __init__(self, path: Path, data: bytes) -> None:
        self.path = path
        self.data = data
        self._names: dict[int, Name] = {}
        if len(data) < START or len(data) > OLEAN_BYTES:
            self.refuse(0, f"{START} to {OLEAN_BYTES} bytes", len(data))
        if data[:6] != b"olean\x02":
            self.refuse(0, "the magic 'olean' and format 2", data[:6])
        if data[6] != 1:
            self.refuse(6, "flags 1: big numbers as GMP writes them", data[6])
        self.lean_version = self._padded(7, 33)
        self.lean_commit = self._padded(40, 40)
        self._base, self.root = struct.unpack_from("<QQ", data, 80)

    def _padded(self, at: int, size: int) -> str:
        text = self.data[at : at + size].rstrip(b"\0")
        if not text.isascii() or b"\0" in text:
            self.refuse(at, "ASCII, padded with zeros", text)
        return text.decode("ascii")

    def refuse(self, at: int, expected: str, got: object) -> NoReturn:
        """Refuse the file at a byte offset."""
        raise LockstepError("OLEAN_MALFORMED", f"{self.path}:byte {at}", expected, got)

    def _header(self, pointer: int) -> tuple[int, int, int, int]:
        """Give the offset, size, number of pointers and tag of an object."""
        at = pointer - self._base
        if at < START or at + 8 > len(self.data) or at % 8:
            self.refuse(at, "a pointer to an object of this file", hex(pointer))
        count, size, pointers, tag = struct.unpack_from("<iHBB", self.data, at)
        if count != 0:
            self.refuse(at, "a reference count of 0", count)
        return at, size, pointers, tag

    def _need(self, at: int, size: int) -> None:
        if at + size > len(self.data):
            self.refuse(at, f"an object of {size} bytes within the file", len(self.data) - at)

    def _before(self, at: int, pointers: tuple[int, ...]) -> None:
        for pointer in pointers:
            if not pointer & 1 and pointer - self._base >= at:
                self.refuse(at, "pointers to what stands before the object", hex(pointer))

    def constructor(self, pointer: int, shapes: dict[int, tuple[int, int]], what: str) -> Object:
        """Read a constructor object whose tag is a key of `shapes`: pointers, bytes of scalars.

        A constructor without pointers may stand as its boxed tag alone, and is read alike.
        """
        if pointer & 1:
            tag = pointer >> 1
            if tag not in shapes or shapes[tag][0] != 0:
                self.refuse(0, what, f"the boxed value {tag}")
            return Object(0, tag, (), b"")
        at, size, pointers, tag = self._header(pointer)
        shape = shapes.get(tag)
        if tag > LARGEST_CONSTRUCTOR or shape is None:
            self.refuse(at, what, f"tag {tag}")
        scalars = size - 8 - 8 * pointers
        if (pointers, scalars) != (shape[0], -(-shape[1] // 8) * 8):
            self.refuse(at, f"{what} of {shape} pointers and bytes", (pointers, scalars))
        self._need(at, size)
        fields = struct.unpack_from(f"<{pointers}Q", self.data, at + 8)
        self._before(at, fields)
        return Object(at, tag, fields, self.data[at + 8 + 8 * pointers : at + size])

    def _counted(self, pointer: int, wanted: int, what: str) -> tuple[int, int]:
        """Give the offset and length of an array or string, whose room is its length."""
        if pointer & 1:
            self.refuse(0, what, f"the boxed value {pointer >> 1}")
        at, _, _, tag = self._header(pointer)
        if tag != wanted:
            self.refuse(at, what, f"tag {tag}")
        self._need(at, 24)
        length, room = struct.unpack_from("<QQ", self.data, at + 8)
        if length != room:
            self.refuse(at, "no more room than is used", (length, room))
        return at, length

    def array(self, pointer: int) -> tuple[int, ...]:
        """Read an array of pointers."""
        at, length = self._counted(pointer, ARRAY, "an array")
        self._need(at, 24 + 8 * length)
        items = struct.unpack_from(f"<{length}Q", self.data, at + 24)
        self._before(at, items)
        return items

    def string(self, pointer: int) -> str:
        """Read a string: UTF-8 with a closing zero, and its length in characters."""
        at, size = self._counted(pointer, STRING, "a string")
        self._need(at, 32 + size)
        if size == 0 or self.data[at + 31 + size] != 0:
            self.refuse(at, "a string that ends in a zero", size)
        try:
            text = self.data[at + 32 : at + 31 + size].decode("utf-8")
        except UnicodeDecodeError:
            self.refuse(at, "UTF-8", "other bytes")
        (length,) = struct.unpack_from("<Q", self.data, at + 24)
        if length != len(text):
            self.refuse(at, f"a length of {len(text)} characters", length)
        return text

    def natural(self, pointer: int) -> int:
        """Read a natural number: boxed, or a big one in 64-bit limbs."""
        if pointer & 1:
            return pointer >> 1
        at, _, _, tag = self._header(pointer)
        if tag != BIG_NATURAL:
            self.refuse(at, "a natural number", f"tag {tag}")
        self._need(at, 24)
        room, limbs, place = struct.unpack_from("<iiQ", self.data, at + 8)
        start = place - self._base
        if limbs < 1 or room != limbs or start != at + 24:
            self.refuse(at, "limbs right after their header", (room, limbs, start))
        self._need(at, 24 + 8 * limbs)
        value = int.from_bytes(self.data[start : start + 8 * limbs], "little")
        if value < 1 << 63 or value >> 64 * (limbs - 1) == 0:
            self.refuse(at, "a number that does not fit a box, without zero limbs", value)
        return value

    def small(self, pointer: int) -> int:
        """Read a natural number that counts something, and so is boxed."""
        if not pointer & 1:
            self.refuse(pointer - self._base, "a boxed count", "a pointer")
        return pointer >> 1

    def items(self, pointer: int) -> list[int]:
        """Read a list: the pointers of its items, in order."""
        found: list[int] = []
        while True:
            cell = self.constructor(pointer, {0: (0, 0), 1: (2, 0)}, "a list")
            if cell.tag == 0:
                return found
            found.append(cell.fields[0])
            pointer = cell.fields[1]

    def name(self, pointer: int) -> Name:
        """Read a hierarchical name; its cached hash is left alone."""
        chain: list[tuple[int, str | int]] = []
        place = pointer
        while place not in self._names:
            node = self.constructor(place, {0: (0, 0), 1: (2, 8), 2: (2, 8)}, "a name")
            if node.tag == 0:
                self._names[place] = ()
                break
            last = node.fields[1]
            chain.append((place, self.string(last) if node.tag == 1 else self.small(last)))
            place = node.fields[0]
        for key, part in reversed(chain):
            self._names[key] = (*self._names[place], part)
            place = key
        return self._names[pointer]

    def names(self, pointer: int) -> tuple[Name, ...]:
        """Read a list of names."""
        return tuple(self.name(item) for item in self.items(pointer))
