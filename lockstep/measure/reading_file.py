"""Reading a document of records from a TOML file."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from lockstep.errors import LockstepError
from lockstep.limits import MEASUREMENT_BYTES


def read_toml(path: Path) -> dict[str, Any]:
    """Read a document of records.

    Raises:
        LockstepError: FILE_UNREADABLE, LIMIT_SIZE, BAD_ENCODING; BAD_VALUE, it is no TOML.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MEASUREMENT_BYTES + 1)
    except OSError as fault:
        raise LockstepError("FILE_UNREADABLE", str(path), "a file", fault.strerror) from None
    if len(data) > MEASUREMENT_BYTES:
        raise LockstepError("LIMIT_SIZE", str(path), f"at most {MEASUREMENT_BYTES} bytes")
    try:
        return tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError as fault:
        raise LockstepError("BAD_ENCODING", str(path), "UTF-8", fault.reason) from None
    except tomllib.TOMLDecodeError as fault:
        raise LockstepError("BAD_VALUE", str(path), "TOML", str(fault)) from None
