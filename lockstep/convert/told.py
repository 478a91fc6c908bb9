"""What a comparison found, in lines for people and as a document [CONV-13]."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lockstep.convert.confusion import Difference


def describe(found: Difference) -> Iterator[str]:
    """Give what was found as lines for people."""
    yield f"{found.differing} of {found.positions} positions are not as due"
    if found.missing:
        yield f"  {found.missing} of them lie beyond the bytes that were given"
    if found.surplus:
        yield f"  {found.surplus} bytes more were given than the destination has"
    if found.short:
        yield f"  {found.short} bytes fewer were given than the destination has"
    if found.first is not None:
        name, layer, token, head, dim, byte = found.first
        yield f"  first: {name}, layer {layer}, token {token}, head {head}, dim {dim}, byte {byte}"
    word = "explained"
    for one in found.explanations:
        yield f"  {word}: {one.confusion.text} ({one.elsewhere} elements elsewhere)"
        if found.as_due:
            # No fault is left to explain; other readings happen to make these bytes too.
            word = "makes the same bytes"
    if not found.explanations and not found.as_due:
        yield "  explained by no confusion that is tried [CONV-13]"


def document(found: Difference) -> dict[str, Any]:
    """Give what was found as a document."""
    return {
        "positions": found.positions,
        "differing": found.differing,
        "missing": found.missing,
        "surplus": found.surplus,
        "short": found.short,
        "first": None if found.first is None else list(found.first),
        "explanations": [
            {"confusion": one.confusion.text, "elements_elsewhere": one.elsewhere}
            for one in found.explanations
        ],
    }
