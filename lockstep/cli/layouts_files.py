"""What the commands on layouts read and print."""

from __future__ import annotations

from pathlib import Path
from typing import Any

REFERENCE = (
    "A declared layout (folder/name), a TOML file, or an engine's name (vllm:LBNHC); "
    "`,block=24` or `,ranks=4` behind it changes these."
)


def numbers(text: str, option: str) -> tuple[int, ...]:
    """Read numbers with commas between them."""
    from lockstep.errors import LockstepError

    parts = text.split(",")
    if not all(part.isascii() and part.isdecimal() and len(part) < 19 for part in parts):
        raise LockstepError("USAGE", option, "numbers with commas between them", text)
    return tuple(int(part) for part in parts)


def read_bytes(path: Path, length: int | None) -> Any:
    """Read a file's bytes, those of the array where it is one of NumPy's."""
    import numpy as np

    from lockstep.errors import LockstepError

    try:
        if path.suffix == ".npy":
            with path.open("rb") as file:
                array = np.lib.format.read_array(file, allow_pickle=False)
        else:
            array = np.fromfile(path, dtype=np.uint8)
        whole = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    except Exception as fault:  # NumPy passes on what Python's parser says of a damaged header.
        text = getattr(fault, "strerror", None) or str(fault) or type(fault).__name__
        raise LockstepError("FILE_UNREADABLE", str(path), "a file of bytes", text) from None
    if length is not None and len(whole) != length:
        hint = (
            "`lockstep layouts plan … --json` lists the buffers with their lengths; a whole pool "
            "is told by --source-pool and --source-table."
        )
        raise LockstepError("BAD_VALUE", str(path), f"{length} bytes", len(whole), hint)
    return whole


def header(path: Path, length: int) -> bytes:
    """Give what a file of so many bytes begins with: one of NumPy's says that they are an array."""
    import io

    import numpy as np

    begun = io.BytesIO()
    if path.suffix == ".npy":
        array = {"descr": "|u1", "fortran_order": False, "shape": (length,)}
        np.lib.format.write_array_header_1_0(begun, array)
    return begun.getvalue()


def as_document(document: Any) -> str:
    """Give a document as people read it."""
    import json

    return json.dumps(document, indent=1)
