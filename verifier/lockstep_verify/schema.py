"""Interpreter of the portable schema subset (SCHEMA-1 to SCHEMA-4)."""

import re
from functools import cache
from typing import Any

from lockstep_verify.errors import Refusal

_TYPES: dict[type, str] = {
    dict: "object",
    list: "array",
    str: "string",
    bool: "boolean",
    int: "integer",
    type(None): "null",
}


@cache
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.ASCII)


def escape(name: str) -> str:
    """Write a member's name as a step of a pointer (SCHEMA-4)."""
    return name.replace("~", "~0").replace("/", "~1")


def resolve(schema: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    """Follow `#/$defs/NAME` references to a schema that says something itself."""
    while (reference := schema.get("$ref")) is not None:
        schema = root["$defs"][reference.removeprefix("#/$defs/")]
    return schema


def check(value: Any, schema: dict[str, Any], pointer: str = "") -> None:
    """Check a value against a schema, in the order of SCHEMA-3.

    Args:
        value: what `lcj.parse` gives; the order of members is taken as it stands there.
        schema: the root schema, which holds `$defs`.
        pointer: where the value stands in its document.

    Raises:
        Refusal: WRONG_TYPE, BAD_VALUE, UNKNOWN_FIELD, MISSING_FIELD, for the first offence.
    """
    try:
        _check(value, schema, schema)
    except Refusal as refusal:
        refusal.pointer = pointer + refusal.pointer
        raise


def _same(left: Any, right: Any) -> bool:
    # True equals 1 in Python, and must not here.
    return type(left) is type(right) and left == right


def _check(value: Any, schema: dict[str, Any], root: dict[str, Any]) -> None:
    if "$ref" in schema:
        schema = resolve(schema, root)
    kind = _TYPES[type(value)]
    wanted = schema.get("type")
    if wanted is not None and kind != wanted and (type(wanted) is str or kind not in wanted):
        raise Refusal("WRONG_TYPE", expected=wanted, got=kind)
    if "const" in schema and not _same(value, schema["const"]):
        raise Refusal("BAD_VALUE", expected=schema["const"], got=value)
    if "enum" in schema and not any(_same(value, member) for member in schema["enum"]):
        raise Refusal("BAD_VALUE", expected=schema["enum"], got=value)
    if kind == "object":
        if "properties" in schema:
            _check_members(value, schema, root)
    elif kind == "array":
        _check_elements(value, schema, root)
    elif kind == "string":
        _check_range(len(value), schema, "minLength", "maxLength", value)
        if "pattern" in schema and not _pattern(schema["pattern"]).fullmatch(value):
            raise Refusal("BAD_VALUE", expected=schema["pattern"], got=value)
    elif kind == "integer":
        _check_range(value, schema, "minimum", "maximum", value)


def _check_range(size: int, schema: dict[str, Any], low: str, high: str, got: Any) -> None:
    if size < schema.get(low, size) or size > schema.get(high, size):
        bounds = {name: schema[name] for name in (low, high) if name in schema}
        raise Refusal("BAD_VALUE", expected=bounds, got=got)


def _check_elements(value: list[Any], schema: dict[str, Any], root: dict[str, Any]) -> None:
    _check_range(len(value), schema, "minItems", "maxItems", len(value))
    items = schema.get("items")
    if items is None or _plain_integers(value, items):
        return
    at = 0
    try:
        for at, item in enumerate(value):  # noqa: B007 - `at` says where a refusal arose
            _check(item, items, root)
    except Refusal as refusal:
        refusal.pointer = f"/{at}{refusal.pointer}"
        raise


def _plain_integers(value: list[Any], items: dict[str, Any]) -> bool:
    """Tell whether an array of bounded integers passes as a whole; most leaves stand in such."""
    if items.get("type") != "integer" or not items.keys() <= {"type", "minimum", "maximum"}:
        return False
    if set(map(type, value)) != {int}:
        return False
    low, high = min(value), max(value)
    return bool(items.get("minimum", low) <= low and high <= items.get("maximum", high))


def _check_members(value: dict[str, Any], schema: dict[str, Any], root: dict[str, Any]) -> None:
    properties = schema["properties"]
    for name in value:
        if name not in properties:
            raise Refusal("UNKNOWN_FIELD", "/" + escape(name), expected=sorted(properties))
    for name in schema.get("required", ()):
        if name not in value:
            raise Refusal("MISSING_FIELD", "/" + escape(name), expected="this field")
    name = ""
    try:
        for name, member in value.items():
            _check(member, properties[name], root)
    except Refusal as refusal:
        refusal.pointer = f"/{escape(name)}{refusal.pointer}"
        raise
