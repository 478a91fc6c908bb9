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


ANCHOR_BYTES = 64
"""After a change, so many equal bytes are taken for the text going on as before."""
SPLICES = 24
"""More of them, one within the other, nobody reads: all is then written as one."""
JOINED_BYTES = 65_536
"""Unless it were longer than this, which nobody reads either."""
INSERTED_BYTES = 4096
"""Further than so many inserted bytes nothing is looked for: what a change of a case may insert."""


def _changes(data: bytes, base: bytes) -> list[tuple[int, int, bytes]]:
    """List where data differs from other bytes, from left to right: offset, deleted, inserted."""
    changes: list[tuple[int, int, bytes]] = []
    here = there = 0
    while True:
        same = _common(data[here:], base[there:])
        here, there = here + same, there + same
        if here == len(data) and there == len(base):
            return changes
        inserted, deleted = _resumption(data[here:], base[there:])
        changes.append((there, deleted, data[here : here + inserted]))
        here, there = here + inserted, there + deleted


def _joined(data: bytes, base: bytes) -> tuple[int, int, bytes]:
    """Give all that is neither a common beginning nor a common end, as one change."""
    start = _common(data, base)
    kept = _common(data[start:][::-1], base[start:][::-1])
    return start, len(base) - kept - start, data[start : len(data) - kept]


def _resumption(data: bytes, base: bytes) -> tuple[int, int]:
    """Give how many bytes of each to pass over, so that both go on alike: the fewest together."""
    best = (len(data), len(base))
    for inserted in range(min(INSERTED_BYTES, len(data) - ANCHOR_BYTES + 1)):
        if inserted >= sum(best):
            break
        anchor = data[inserted : inserted + ANCHOR_BYTES]
        deleted = base.find(anchor, 0, sum(best) - inserted + ANCHOR_BYTES)
        if deleted >= 0 and inserted + deleted < sum(best):
            best = (inserted, deleted)
    return best


def difference(data: bytes, base: Blob) -> Blob:
    """Write bytes as splices of other bytes, the last change innermost."""
    changes = _changes(data, base.data)
    if len(changes) > SPLICES:
        joined = _joined(data, base.data)
        if len(joined[2]) <= JOINED_BYTES:
            changes = [joined]
    form = base.expression()
    for at, delete, insert in reversed(_trimmed(changes, base.data)):
        form = {"splice": form, "at": at, "delete": delete, "insert": plain(insert)}
    return Blob(data, form)


def _trimmed(changes: list[tuple[int, int, bytes]], base: bytes) -> list[tuple[int, int, bytes]]:
    """Leave out of each change the end that both sides share."""
    found = []
    for at, delete, insert in changes:
        gone = base[at : at + delete]
        shared = _common(gone[::-1], insert[::-1])
        found.append((at, delete - shared, insert[: len(insert) - shared]))
    return found


def shorten(blob: Blob, base: Blob | None) -> Blob:
    """Write long bytes by their difference from a base, unless they carry an expression."""
    if blob.written is not None or base is None or len(blob.data) <= INLINE_BYTES:
        return blob
    return difference(blob.data, base)
