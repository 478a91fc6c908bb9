"""One safetensors file: its digest, and its tensors as they are stored [MODEL-10] [MODEL-12].

The library for the format decides whether the header is sound: whether the offsets cover the
data without gap or overlap, and agree with dtypes and shapes. Its NumPy side has no bfloat16, so
the bytes are viewed here: in the order that the library gives they follow one another.
"""

import hashlib
import math
import mmap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lockstep.errors import LockstepError

ITEM_BYTES = {"F32": 4, "F16": 2, "BF16": 2}
"""The stored dtypes, as the format names them, with the bytes of an element."""


@dataclass(frozen=True)
class Entry:
    """A tensor's header: its dtype as the format names it, and its shape."""

    dtype: str
    shape: tuple[int, ...]


class SafetensorsFile:
    """A file, mapped for as long as something views it.

    Args:
        path: where it lies.

    Attributes:
        sha256: digest of its bytes, in hex.
        entries: the tensors' headers by name.

    Raises:
        LockstepError: FILE_UNREADABLE; CHECKPOINT_MALFORMED, no safetensors file; TENSOR_DTYPE,
            a tensor's dtype is none of those that are read; LIBRARY_MISSING.
    """

    def __init__(self, path: Path) -> None:
        try:
            if not path.is_file():
                raise LockstepError("FILE_UNREADABLE", str(path), "a file", "none of this name")
            with path.open("rb") as file:
                self._version = _version(path)
                self.entries = _entries(path)
                # The library has read a header, so the file is not empty.
                self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError as fault:
            raise LockstepError("FILE_UNREADABLE", str(path), "a file", str(fault)) from None
        self.path = path
        self.sha256 = hashlib.sha256(self._data).hexdigest()
        self._starts: dict[str, int] = {}
        start = 8 + int.from_bytes(self._data[:8], "little")
        for name, entry in self.entries.items():
            if entry.dtype not in ITEM_BYTES:
                expected = " or ".join(ITEM_BYTES)
                raise LockstepError("TENSOR_DTYPE", f"{path}:/{name}", expected, entry.dtype)
            self._starts[name] = start
            start += math.prod(entry.shape) * ITEM_BYTES[entry.dtype]

    def stored(self, name: str) -> NDArray[Any]:
        """View a tensor as it is stored: float32 or float16; bfloat16 as unsigned integers."""
        entry = self.entries[name]
        dtype = {"F32": "<f4", "F16": "<f2", "BF16": "<u2"}[entry.dtype]
        flat = np.frombuffer(self._data, dtype, math.prod(entry.shape), self._starts[name])
        return flat.reshape(entry.shape)

    def assert_unchanged(self) -> None:
        """Refuse a file that was written to since it was opened, so that its digest may be stale.

        Raises:
            LockstepError: FILE_CHANGED.
        """
        if _version(self.path) != self._version:
            raise LockstepError("FILE_CHANGED", str(self.path))


def _entries(path: Path) -> dict[str, Entry]:
    """Have the library read the header; the tensors come in the order of their offsets."""
    try:
        from safetensors import SafetensorError, safe_open
    except ModuleNotFoundError:
        raise LockstepError("LIBRARY_MISSING", "safetensors", "the library", "none") from None
    try:
        with safe_open(path, framework="np") as file:
            headers = {name: file.get_slice(name) for name in file.offset_keys()}
            return {
                name: Entry(header.get_dtype(), tuple(header.get_shape()))
                for name, header in headers.items()
            }
    except SafetensorError as fault:
        raise LockstepError(
            "CHECKPOINT_MALFORMED", str(path), "a safetensors file", str(fault)
        ) from None


def _version(path: Path) -> tuple[int, int, int]:
    """Tell one state of a file from another."""
    state = path.stat()
    return state.st_ino, state.st_size, state.st_mtime_ns
