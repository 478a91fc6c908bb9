"""Names of compiled Lean code in a shared library, read from its table of dynamic symbols."""

import mmap
import struct
from pathlib import Path

from lockstep.errors import LockstepError

SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
DYNAMIC_SYMBOLS = 11
"""The section type SHT_DYNSYM of the ELF format."""


def defined(library: Path) -> frozenset[str]:
    """Give the names of the symbols that a 64-bit, little-endian ELF library defines.

    Raises:
        LockstepError: FILE_UNREADABLE, the file is no such library.
    """
    with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        if data[:6] != b"\x7fELF\x02\x01":
            raise LockstepError("FILE_UNREADABLE", str(library), "a 64-bit ELF library")
        (at,) = struct.unpack_from("<Q", data, 0x28)
        size, count = struct.unpack_from("<HH", data, 0x3A)
        sections = [SECTION.unpack_from(data, at + size * number) for number in range(count)]
        for section in sections:
            if section[1] == DYNAMIC_SYMBOLS:
                names = sections[section[6]]
                return _named(_bytes(data, section), _bytes(data, names))
    raise LockstepError("FILE_UNREADABLE", str(library), "a table of dynamic symbols")


def _bytes(data: mmap.mmap, section: tuple[int, ...]) -> bytes:
    return data[section[4] : section[4] + section[5]]


def _named(table: bytes, names: bytes) -> frozenset[str]:
    found = set()
    for name, _, _, section, _, _ in SYMBOL.iter_unpack(table):
        # A symbol of section 0 is only referred to.
        if section:
            found.add(names[name : names.index(b"\0", name)].decode("ascii"))
    return frozenset(found)


def mangled(parts: tuple[str, ...]) -> str:
    """Give the symbol under which Lean's compiler exports the constant of a name."""
    return "l_" + "_".join("".join(_escaped(letter) for letter in part) for part in parts)


def _escaped(letter: str) -> str:
    if letter == "_":
        return "__"
    if letter.isascii() and letter.isalnum():
        return letter
    code = ord(letter)
    return f"_x{code:02x}" if code < 0x100 else f"_u{code:04x}"
