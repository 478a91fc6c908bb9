"""The fields of a predicate: which there are by its schema, and which a document holds.

A *path* is a JSON pointer with `*` for each array index; a *place* is the steps to one value.
Every value has a class: `derived`, `witnessed` or `attested` [LEDGER-2], or `mixed` for an array or
object whose own node states none.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lockstep import spec

Schema = dict[str, Any]
Place = tuple[str | int, ...]

ABSENT = object()
"""What stands where nothing stands."""


@dataclass(frozen=True)
class Field:
    """A kind of value: its path, its class, its schema node, whether a leaf or a container."""

    path: str
    kind: str
    types: tuple[str, ...]
    choices: tuple[Any, ...]
    bounds: tuple[int | None, int | None]
    in_array: bool

    @property
    def leaf(self) -> bool:
        """Whether values of this kind are leaves (null aside)."""
        return not {"object", "array"} & set(self.types)


@dataclass(frozen=True)
class Value:
    """A value of a document: where it is, what kind it is, and what stands there."""

    place: Place
    field: Field
    held: Any


def predicate_schema(kind: str = "hunt") -> Schema:
    """Give the schema of a kind's predicate."""
    schema: Schema = spec.load(f"schemas/{kind}.schema.json")
    return schema


def _field(root: Schema, path: str, node: Schema, inherited: str) -> tuple[Field, Schema, str]:
    target = root["$defs"][node["$ref"].removeprefix("#/$defs/")] if "$ref" in node else node
    own = node.get("x-class") or target.get("x-class") or inherited
    types = target["type"]
    found = Field(
        path,
        own or "mixed",
        (types,) if isinstance(types, str) else tuple(types),
        tuple(target.get("enum", ())),
        (target.get("minimum"), target.get("maximum")),
        path.endswith("*"),
    )
    return found, target, own


def fields(root: Schema) -> Iterator[Field]:
    """Give every field that a predicate's schema knows, the predicate itself first."""
    return _fields_below(root, "", root, "")


def _fields_below(root: Schema, path: str, node: Schema, inherited: str) -> Iterator[Field]:
    field, target, own = _field(root, path, node, inherited)
    yield field
    for name, member in target.get("properties", {}).items():
        yield from _fields_below(root, f"{path}/{name}", member, own)
    if "items" in target:
        yield from _fields_below(root, f"{path}/*", target["items"], own)


def values(held: Any, root: Schema) -> Iterator[Value]:
    """Give every value of a predicate that its schema admits, the predicate itself first."""
    return _values_below(root, held, (), "", root, "")


def _values_below(
    root: Schema, held: Any, place: Place, path: str, node: Schema, inherited: str
) -> Iterator[Value]:
    field, target, own = _field(root, path, node, inherited)
    yield Value(place, field, held)
    if isinstance(held, dict):
        for name, member in held.items():
            below = target["properties"][name]
            yield from _values_below(root, member, (*place, name), f"{path}/{name}", below, own)
    elif isinstance(held, list):
        for i, item in enumerate(held):
            below = target["items"]
            yield from _values_below(root, item, (*place, i), f"{path}/*", below, own)


def is_leaf(held: Any) -> bool:
    """Decide whether a value is a leaf; an empty container counts as one here."""
    return not isinstance(held, dict | list) or not held


def leaves(held: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Give the leaves below a value, whatever its shape, with their places."""
    if is_leaf(held):
        yield place, held
    elif isinstance(held, dict):
        for name, member in held.items():
            yield from leaves(member, (*place, name))
    else:
        for i, item in enumerate(held):
            yield from leaves(item, (*place, i))


def class_at(place: Place, root: Schema) -> str:
    """Give the class of the value at a place; what the schema does not know counts as derived."""
    node, own = root, ""
    for step in place:
        target = root["$defs"][node["$ref"].removeprefix("#/$defs/")] if "$ref" in node else node
        own = node.get("x-class") or target.get("x-class") or own
        below = target.get("items") if isinstance(step, int) else None
        if isinstance(step, str):
            below = target.get("properties", {}).get(step)
        if below is None:
            return "derived"
        node = below
    target = root["$defs"][node["$ref"].removeprefix("#/$defs/")] if "$ref" in node else node
    # A container without a class of its own holds what decides verdicts.
    return node.get("x-class") or target.get("x-class") or own or "derived"


def pointer(place: Place) -> str:
    """Write a place as a JSON pointer; no name of a predicate needs escaping."""
    return "".join(f"/{step}" for step in place)
