"""Bytes together with the expression that a vector writes for them (conformance/README.md)."""

import base64
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Expression = dict[str, Any]

INLINE_BYTES = 2048
"""Longer inputs are written as what they differ in from a parent's, where there is one."""


class BadExpression(ValueError):
    """Thrown when a case or vector holds an expression that the contract does not know."""


@dataclass(frozen=True)
class Blob:
    """Bytes, and the expression for them where it is more than the bytes themselves."""

    data: bytes
    written: Expression | None = None

    def expression(self) -> Expression:
        """Give the expression: the one that was kept, else text, else base64."""
        return plain(self.data) if self.written is None else self.written


def plain(data: bytes) -> Expression:
    """Write bytes as text where they are printable UTF-8, else in base64."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode("ascii")}
    if any(ord(character) < 0x20 and character not in "\n\t" for character in text):
        return {"base64": base64.b64encode(data).decode("ascii")}
    return {"text": text}


def evaluate(expression: Expression, files: Path) -> bytes:
    """Give the bytes of an expression.

    Args:
        expression: one of the forms listed in conformance/README.md.
        files: the folder in which `file` looks.

    Raises:
        BadExpression: an unknown form.
    """
    match expression:
        case {"text": str(text)}:
            return text.encode("utf-8")
        case {"base64": str(text)}:
            return base64.b64decode(text, validate=True)
        case {"hex": str(text)}:
            return bytes.fromhex(text)
        case {"concat": list(parts)}:
            return b"".join(evaluate(part, files) for part in parts)
        case {"repeat": dict(part), "times": int(times)}:
            return evaluate(part, files) * times
        case {"base64_of": dict(part)}:
            return base64.b64encode(evaluate(part, files))
        case {"file": str(name)}:
            return (files / name).read_bytes()
        case {"splice": dict(part), "at": int(at), "delete": int(gone), "insert": dict(new)}:
            data = evaluate(part, files)
            return data[:at] + evaluate(new, files) + data[at + gone :]
    raise BadExpression(f"no form of an expression: {sorted(expression)}")


def make(expression: Expression, files: Path) -> Blob:
    """Evaluate an expression; generators are kept as they stand, all else becomes its bytes."""
    data = evaluate(expression, files)
    kept = "repeat" in expression or "concat" in expression
    return Blob(data, expression if kept and len(data) > INLINE_BYTES else None)


def splice(blob: Blob, at: int, delete: int, insert: Blob) -> Blob:
    """Replace `delete` bytes from offset `at`."""
    data = blob.data[:at] + insert.data + blob.data[at + delete :]
    if blob.written is None and insert.written is None:
        return Blob(data)
    form = {
        "splice": blob.expression(),
        "at": at,
        "delete": delete,
        "insert": insert.expression(),
    }
    return Blob(data, form)


def _common(one: bytes, other: bytes) -> int:
    """Give the length of the longest common beginning, by halving."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def difference(data: bytes, base: Blob) -> Blob:
    """Write bytes as one splice of other bytes."""
    if data == base.data:
        return Blob(data, base.expression())
    start = _common(data, base.data)
    room = min(len(data), len(base.data)) - start
    end = _common(data[::-1][:room], base.data[::-1][:room])
    form = {
        "splice": base.expression(),
        "at": start,
        "delete": len(base.data) - start - end,
        "insert": plain(data[start : len(data) - end]),
    }
    return Blob(data, form)


def shorten(blob: Blob, base: Blob | None) -> Blob:
    """Write long bytes by their difference from a base, unless they carry an expression."""
    if blob.written is not None or base is None or len(blob.data) <= INLINE_BYTES:
        return blob
    return difference(blob.data, base)
