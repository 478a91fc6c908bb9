"""Declarations of an export, as they stand in it (EXP-1)."""

from typing import NamedTuple

from lockstep_verify.kernel.terms import Name, Term, Terms


class Constant(NamedTuple):
    """An axiom, definition, theorem, opaque or quotient constant.

    Attributes:
        kind: `axiom`, `def`, `thm`, `opaque` or `quot`.
        name: its name.
        universes: its universe parameters.
        type: its type.
        value: its value or proof, if its kind has one.
        detail: a definition's height (`opaque`, `abbrev` or a number), a quotient's kind.
        line: where it stands, counted from 1.
    """

    kind: str
    name: Name
    universes: tuple[Name, ...]
    type: Term
    value: Term | None
    detail: str | int
    line: int


class Type(NamedTuple):
    """A type of an inductive group."""

    name: Name
    universes: tuple[Name, ...]
    type: Term
    params: int
    indices: int
    nested: int
    recursive: bool
    reflexive: bool
    constructors: tuple["Constructor", ...]


class Constructor(NamedTuple):
    """A constructor of the type `type_name`."""

    name: Name
    type_name: Name
    type: Term
    params: int
    fields: int


class Rule(NamedTuple):
    """What a recursor computes on a constructor."""

    constructor: Name
    fields: int
    value: Term


class Recursor(NamedTuple):
    """A recursor; `place` is its number in its group (EXP-16)."""

    name: Name
    universes: tuple[Name, ...]
    type: Term
    place: int
    params: int
    indices: int
    motives: int
    minors: int
    rules: tuple[Rule, ...]
    k: bool


class Group(NamedTuple):
    """An inductive group."""

    types: tuple[Type, ...]
    recursors: tuple[Recursor, ...]
    line: int


class Export(NamedTuple):
    """An export: its declarations in their order, and where each constant is declared."""

    terms: Terms
    declarations: tuple[Constant | Group, ...]
    by_name: dict[Name, Constant | Group]


def names_of(declaration: Constant | Group) -> list[Name]:
    """List the constants that a declaration gives."""
    if isinstance(declaration, Constant):
        return [declaration.name]
    found = []
    for one in declaration.types:
        found += [one.name, *(inner.name for inner in one.constructors)]
    return found + [recursor.name for recursor in declaration.recursors]
