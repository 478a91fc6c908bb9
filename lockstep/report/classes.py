"""What each member of a predicate rests on: its leaf fields by class [LEDGER-1, LEDGER-2]."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lockstep import spec

CLASSES = ("derived", "witnessed", "attested")
Schema = Mapping[str, Any]


def by_member(predicate: Mapping[str, Any], kind: str) -> dict[str, dict[str, int]]:
    """Count the leaf fields of each member of a predicate by class.

    Args:
        predicate: of a certificate that matches its schema.
        kind: of its claim.
    """
    root: Schema = spec.load(f"schemas/{kind}.schema.json")
    counts: dict[str, dict[str, int]] = {}
    for name, value in predicate.items():
        own = counts[name] = dict.fromkeys(CLASSES, 0)
        for sort in _leaves(value, root["properties"][name], root, "attested"):
            own[sort] += 1
    return counts


def _leaves(value: Any, node: Schema, root: Schema, outer: str) -> Iterator[str]:
    """Give the class of each leaf: its own, else of the nearest that holds it."""
    sort = node.get("x-class")
    while "$ref" in node:
        node = root["$defs"][node["$ref"].removeprefix("#/$defs/")]
        sort = sort or node.get("x-class")
    sort = sort or outer
    if isinstance(value, list):
        for item in value:
            yield from _leaves(item, node.get("items", {}), root, sort)
    elif isinstance(value, dict) and "properties" in node:
        for name, member in value.items():
            yield from _leaves(member, node["properties"][name], root, sort)
    else:
        yield sort
