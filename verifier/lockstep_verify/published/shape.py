"""Reading the published document: strict JSON, its closed shape, its leaves.

Raises H0_DOCUMENT_UNREADABLE for text that is no JSON or a value of a type that
no rule can read, PUBLISHED_SHAPE for a key too many or too few, and a row's own
code where the absent key is evidence ([PUB-1] to [PUB-4]).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from lockstep_verify import json_reader, lcj, limits
from lockstep_verify.errors import Refusal

DERIVED = "derived"
CROSS_CHECKED = "cross-checked"
ATTESTED = "attested"

_UNREADABLE = "H0_DOCUMENT_UNREADABLE"
_SHAPE = "PUBLISHED_SHAPE"


@dataclass(frozen=True)
class Field:
    """A leaf of the document: where it is, what it holds, and its class ([PUB-3])."""

    pointer: str
    value: str | int | bool | None
    field_class: str


@dataclass(frozen=True)
class Leaf:
    """A scalar of one JSON type, or null where ``nullable``."""

    kind: type[str] | type[int] | type[bool]
    field_class: str
    nullable: bool = False


@dataclass(frozen=True)
class ListOf:
    """A list of any length, or null where ``nullable``."""

    item: Shape
    nullable: bool = False
    null_class: str = DERIVED


@dataclass(frozen=True)
class Record:
    """An object with exactly these keys.

    ``absent`` gives the code for a missing key that is evidence; the first of
    its entries that is missing counts. ``optional`` keys may be left out.
    """

    fields: Mapping[str, Shape]
    absent: Mapping[str, str] = field(default_factory=dict)
    optional: bool = False
    nullable: bool = False


Shape = Leaf | ListOf | Record


def read(data: bytes) -> dict[str, Any]:
    """Parse the document's bytes as one strict JSON object ([PUB-1]).

    Raises:
        Refusal: H0_DOCUMENT_UNREADABLE for anything else, with the strict reader's own code.
    """
    try:
        # White space after the value is RFC 8259's to allow; the strict reader is LCJ's.
        text = data.decode("utf-8").rstrip(" \t\r\n")
        lcj.require_few_marks(text, limits.PUBLISHED_MARKS)
        return json_reader.read(text)
    except UnicodeDecodeError:
        raise Refusal(_UNREADABLE, "", "UTF-8", "BAD_ENCODING") from None
    except Refusal as refusal:
        got = f"{refusal.code} {refusal.got or ''}".strip()
        raise Refusal(_UNREADABLE, refusal.pointer, "one strict JSON object", got) from None


def leaves(value: Any, shape: Shape, pointer: str = "") -> Iterator[Field]:
    """Yield the leaves of ``value`` while checking it against ``shape``.

    An empty list or object yields nothing: it is no leaf.

    Raises:
        Refusal: at the first departure from the closed shape ([PUB-2], [PUB-4]).
    """
    if isinstance(shape, Leaf):
        if value is None and shape.nullable:
            yield Field(pointer, None, shape.field_class)
            return
        # By exact type: True is an int to isinstance.
        if type(value) is not shape.kind:
            _wrong_type(pointer, shape.kind.__name__, value)
        yield Field(pointer, value, shape.field_class)
    elif isinstance(shape, ListOf):
        if value is None and shape.nullable:
            yield Field(pointer, None, shape.null_class)
            return
        if type(value) is not list:
            _wrong_type(pointer, "list", value)
        for index, item in enumerate(value):
            yield from leaves(item, shape.item, f"{pointer}/{index}")
    else:
        if value is None and shape.nullable:
            return
        if type(value) is not dict:
            _wrong_type(pointer, "object", value)
        yield from _members(value, shape, pointer)


def _members(value: dict[str, Any], shape: Record, pointer: str) -> Iterator[Field]:
    missing = [name for name in shape.fields if name not in value]
    for name, code in shape.absent.items():
        if name in missing:
            raise Refusal(code, f"{pointer}/{name}", "present", "absent")
    if missing and not shape.optional:
        raise Refusal(_SHAPE, f"{pointer}/{missing[0]}", "present", "absent")
    for name in value:
        if name not in shape.fields:
            escaped = name.replace("~", "~0").replace("/", "~1")
            raise Refusal(_SHAPE, f"{pointer}/{escaped}", "absent", "present")
    for name, member in value.items():
        yield from leaves(member, shape.fields[name], f"{pointer}/{name}")


def _wrong_type(pointer: str, expected: str, value: Any) -> NoReturn:
    got = "null" if value is None else type(value).__name__
    raise Refusal(_UNREADABLE, pointer, expected, got)
