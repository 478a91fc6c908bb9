"""The producer's reader of the portable schemas of spec/schemas [SCHEMA-1] to [SCHEMA-4]."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from lockstep.certificate.lcj import utf16_order
from lockstep.errors import LockstepError

Schema = Mapping[str, Any]

_TYPES = {dict: "object", list: "array", str: "string", bool: "boolean", int: "integer"}

_SHOWN_CHARACTERS = 60


def require(value: Any, schema: Schema, place: str = "") -> None:
    """Hold a value against a schema, the offences in the order of [SCHEMA-3].

    Args:
        value: what a JSON text holds, integers as its only numbers.
        schema: the whole schema, `$defs` at its root.
        place: what stands before the pointer in an error, such as `file:`.

    Raises:
        LockstepError: WRONG_TYPE, BAD_VALUE, UNKNOWN_FIELD or MISSING_FIELD, the first offence.
    """
    _check(value, schema, schema.get("$defs", {}), place)


def _check(value: Any, node: Schema, definitions: Schema, place: str) -> None:
    if "$ref" in node:
        node = definitions[node["$ref"].removeprefix("#/$defs/")]
    kind = "null" if value is None else _TYPES.get(type(value), type(value).__name__)
    wanted = node.get("type", kind)
    if kind not in (wanted if isinstance(wanted, list) else [wanted]):
        raise LockstepError("WRONG_TYPE", place, wanted, kind)
    _listed(value, node, place)
    if isinstance(value, str):
        _text(value, node, place)
    elif isinstance(value, int) and not isinstance(value, bool):
        _between(value, node.get("minimum"), node.get("maximum"), "", place)
    elif isinstance(value, list):
        _between(len(value), node.get("minItems"), node.get("maxItems"), " elements", place)
        for index, item in enumerate(value if "items" in node else ()):
            _check(item, node["items"], definitions, f"{place}/{index}")
    elif isinstance(value, dict) and "properties" in node:
        _members(value, node, definitions, place)


def _listed(value: Any, node: Schema, place: str) -> None:
    for admitted in ([node["const"]] if "const" in node else [], node.get("enum", [])):
        if admitted and not any(type(v) is type(value) and v == value for v in admitted):
            expected = ", ".join(map(str, admitted))
            raise LockstepError("BAD_VALUE", place, f"one of {expected}", _shown(value))


def _text(value: str, node: Schema, place: str) -> None:
    _between(len(value), node.get("minLength"), node.get("maxLength"), " characters", place)
    if "pattern" in node and not _pattern(node["pattern"]).fullmatch(value):
        raise LockstepError("BAD_VALUE", place, f"text like {node['pattern']}", _shown(value))


def _between(number: int, least: int | None, most: int | None, unit: str, place: str) -> None:
    if least is not None and number < least:
        raise LockstepError("BAD_VALUE", place, f"{least}{unit} or more", number)
    if most is not None and number > most:
        raise LockstepError("BAD_VALUE", place, f"at most {most}{unit}", number)


def _members(value: dict[str, Any], node: Schema, definitions: Schema, place: str) -> None:
    known = node["properties"]
    names = sorted(value, key=utf16_order)
    for name in names:
        if name not in known:
            expected = f"one of {', '.join(known)}"
            raise LockstepError("UNKNOWN_FIELD", f"{place}/{_escaped(name)}", expected)
    for name in node.get("required", ()):
        if name not in value:
            raise LockstepError("MISSING_FIELD", f"{place}/{_escaped(name)}", "this member")
    for name in names:
        _check(value[name], known[name], definitions, f"{place}/{_escaped(name)}")


@cache
def _pattern(text: str) -> re.Pattern[str]:
    """Compile a pattern without its anchors: it is matched against the whole value [SCHEMA-2]."""
    return re.compile(text.removeprefix("^").removesuffix("$"))


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _shown(value: Any) -> str:
    return repr(value)[:_SHOWN_CHARACTERS]
