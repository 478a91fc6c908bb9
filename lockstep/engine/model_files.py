"""A model's files as bytes: read whole, digested, and JSON taken strictly [MODEL-2]."""

import codecs
import hashlib
import json
import math
from pathlib import Path
from typing import Any, NoReturn

from lockstep.errors import LockstepError
from lockstep.limits import MODEL_JSON_BYTES


def read_bytes(path: Path, limit: int = MODEL_JSON_BYTES) -> bytes:
    """Read a file of at most `limit` bytes.

    Raises:
        LockstepError: FILE_UNREADABLE or LIMIT_SIZE.
    """
    try:
        if not path.is_file():
            raise LockstepError("FILE_UNREADABLE", str(path), "a file", "none of this name")
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except OSError as fault:
        raise LockstepError("FILE_UNREADABLE", str(path), "a file", fault.strerror) from None
    if len(data) > limit:
        raise LockstepError("LIMIT_SIZE", str(path), f"at most {limit} bytes", "more")
    return data


def sha256(data: bytes) -> str:
    """Give the digest of a file's bytes in hex."""
    return hashlib.sha256(data).hexdigest()


def parse_object(data: bytes, path: Path) -> dict[str, Any]:
    """Parse a JSON object; `path` is where it was read.

    Raises:
        LockstepError: BAD_ENCODING, MALFORMED_JSON, BAD_VALUE for a number that is none in
            binary64, DUPLICATE_KEY, LIMIT_DEPTH, BAD_UNICODE or NOT_AN_OBJECT.
    """
    where = str(path)

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for name, value in pairs:
            if name in result:
                raise LockstepError("DUPLICATE_KEY", f"{where}:/{name}")
            result[name] = value
        return result

    def constant(name: str) -> NoReturn:
        raise LockstepError("MALFORMED_JSON", where, "numbers of JSON", name)

    def number(text: str) -> float:
        value = float(text)
        if not math.isfinite(value):
            raise LockstepError("BAD_VALUE", where, "finite numbers", text[:40])
        return value

    if data.startswith(codecs.BOM_UTF8):
        raise LockstepError("BAD_ENCODING", where, "no byte order mark", "one")
    try:
        text = data.decode("utf-8")
        value = json.loads(
            text, object_pairs_hook=members, parse_constant=constant, parse_float=number
        )
        # Escapes can write what no text is, and no file's name can be.
        if "\\ud" in text.lower() and _has_surrogate(value):
            raise LockstepError("BAD_UNICODE", where, "no lone surrogate", "one")
    except UnicodeDecodeError as fault:
        raise LockstepError("BAD_ENCODING", where, "UTF-8", f"byte {fault.start}") from None
    except RecursionError:
        raise LockstepError("LIMIT_DEPTH", where) from None
    # Besides what JSON forbids, an integer of thousands of digits.
    except ValueError as fault:
        raise LockstepError("MALFORMED_JSON", where, "one JSON value", str(fault)) from None
    if not isinstance(value, dict):
        raise LockstepError("NOT_AN_OBJECT", where, "an object", type(value).__name__)
    return value


def _has_surrogate(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False
