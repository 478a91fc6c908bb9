"""The producer's encoder of LCJ, lockstep canonical JSON [LCJ-10]."""

from typing import Any

from lockstep.errors import LockstepError

LARGEST = 2**53 - 1
"""The largest magnitude of an integer [LCJ-5]."""
DEPTH = 64
"""The most arrays and objects that may be open [LCJ-3]."""

_ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
}


def encode(value: Any) -> bytes:
    """Encode a value of dicts, lists, strings, integers, booleans and None in LCJ.

    Raises:
        LockstepError: WRONG_TYPE, NUMBER_OUT_OF_PROFILE, BAD_UNICODE or LIMIT_DEPTH where a
            value has no LCJ form, with its pointer.
    """
    parts: list[str] = []
    _write(value, "", 0, parts)
    return "".join(parts).encode("utf-8")


def utf16_order(name: str) -> bytes:
    """Give the key by which an object's names are sorted: their UTF-16 code units."""
    return name.encode("utf-16-be", "surrogatepass")


def _write(value: Any, pointer: str, depth: int, parts: list[str]) -> None:
    if value is None:
        parts.append("null")
    elif value is True:
        parts.append("true")
    elif value is False:
        parts.append("false")
    elif type(value) is int:
        if abs(value) > LARGEST:
            raise LockstepError("NUMBER_OUT_OF_PROFILE", pointer, f"at most {LARGEST}", value)
        parts.append(str(value))
    elif type(value) is str:
        parts.append(_string(value, pointer))
    elif type(value) in (list, tuple, dict):
        if depth == DEPTH:
            raise LockstepError("LIMIT_DEPTH", pointer, f"at most {DEPTH} levels")
        _write_nested(value, pointer, depth + 1, parts)
    else:
        raise LockstepError("WRONG_TYPE", pointer, "a value of JSON", type(value).__name__)


def _write_nested(value: Any, pointer: str, depth: int, parts: list[str]) -> None:
    if isinstance(value, dict):
        for place, name in enumerate(sorted(value, key=utf16_order)):
            parts.append("," if place else "{")
            below = f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}"
            parts.append(_string(name, below))
            parts.append(":")
            _write(value[name], below, depth, parts)
        parts.append("}" if value else "{}")
        return
    for place, item in enumerate(value):
        parts.append("," if place else "[")
        _write(item, f"{pointer}/{place}", depth, parts)
    parts.append("]" if value else "[]")


def _string(text: str, pointer: str) -> str:
    out: list[str] = []
    for character in text:
        code = ord(character)
        if 0xD800 <= code <= 0xDFFF:
            raise LockstepError("BAD_UNICODE", pointer, "no lone surrogate", f"U+{code:04X}")
        out.append(_ESCAPES.get(character) or (f"\\u{code:04x}" if code < 0x20 else character))
    return f'"{"".join(out)}"'
