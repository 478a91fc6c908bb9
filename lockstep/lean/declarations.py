"""What Lean's kernel holds of each constant: its kind, universe parameters, type and the rest."""

from dataclasses import dataclass

from lockstep.lean.terms import Name


@dataclass(frozen=True)
class Constant:
    """What every constant has; `type` is a term's number in the environment's store."""

    name: Name
    universes: tuple[Name, ...]
    type: int


@dataclass(frozen=True)
class Axiom(Constant):
    """A constant taken for granted."""

    unsafe: bool


@dataclass(frozen=True)
class Definition(Constant):
    """A constant that unfolds to its value.

    Attributes:
        hints: `opaque`, `abbrev`, or the height by which unfolding is ordered.
        safety: `safe`, `unsafe` or `partial`.
        together: the constants written in one mutual block with it, itself included.
    """

    value: int
    hints: str | int
    safety: str
    together: tuple[Name, ...]


@dataclass(frozen=True)
class Theorem(Constant):
    """A proposition with its proof."""

    value: int
    together: tuple[Name, ...]


@dataclass(frozen=True)
class Opaque(Constant):
    """A constant whose value shows that its type is inhabited, and never unfolds."""

    value: int
    unsafe: bool
    together: tuple[Name, ...]


@dataclass(frozen=True)
class Quotient(Constant):
    """One of the four constants of quotients; `kind` is `type`, `ctor`, `lift` or `ind`."""

    kind: str


@dataclass(frozen=True)
class Inductive(Constant):
    """An inductive type; `group` lists the types declared together, itself included."""

    parameters: int
    indices: int
    group: tuple[Name, ...]
    constructors: tuple[Name, ...]
    nested: int
    recursive: bool
    unsafe: bool
    reflexive: bool


@dataclass(frozen=True)
class Constructor(Constant):
    """A constructor; `place` counts from 0 in the order of its type's declaration."""

    inductive: Name
    place: int
    parameters: int
    fields: int
    unsafe: bool


@dataclass(frozen=True)
class Rule:
    """How a recursor computes on one constructor: `value` applied to motives, minors, fields."""

    constructor: Name
    fields: int
    value: int


@dataclass(frozen=True)
class Recursor(Constant):
    """A recursor; `k` says that it computes on any proof whose type fits the constructor's."""

    group: tuple[Name, ...]
    parameters: int
    indices: int
    motives: int
    minors: int
    rules: tuple[Rule, ...]
    k: bool
    unsafe: bool


def is_unsafe(constant: Constant) -> bool:
    """Say whether the kernel lets no theorem rest on the constant: it is unsafe or partial."""
    if isinstance(constant, Definition):
        return constant.safety != "safe"
    return bool(getattr(constant, "unsafe", False))


def terms_of(constant: Constant) -> list[int]:
    """List the terms of a constant: its type, its value if any, a recursor's rules."""
    terms = [constant.type]
    if isinstance(constant, Definition | Theorem | Opaque):
        terms.append(constant.value)
    if isinstance(constant, Recursor):
        terms.extend(rule.value for rule in constant.rules)
    return terms
