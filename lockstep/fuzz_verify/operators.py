"""Mutation operators: each takes a value and gives another one, or nothing where it has none.

The list is closed, and `operators_of` says which apply to a field, so that the denominator of a
campaign follows from the schema.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lockstep.fuzz_verify.fields import Field

LARGEST = 2**53 - 1
_HEX, _LETTERS, _DIGITS = "0123456789abcdef", "abcdefghijklmnopqrstuvwxyz", "0123456789"
_STRANGERS: tuple[Any, ...] = ("x", 1, True, None, [], {}, "", 0)
_CONFUSED: tuple[tuple[Any, Any], ...] = (
    (None, False), (False, None), (False, 0), (True, 1), (0, False), (1, True),
    ("", None), (None, ""), (None, 0), (0, None), (None, []), (None, {}),
)  # fmt: skip


@dataclass(frozen=True)
class Context:
    """What an operator may draw on: chance, the field, and all leaves of the document."""

    random: random.Random
    field: Field
    pool: tuple[Any, ...]


class NotApplicable(Exception):
    """Thrown where an operator has no other value to give."""


Operator = Callable[[Any, Context], Any]


def same(left: Any, right: Any) -> bool:
    """Compare values with their types; true is not 1."""
    return type(left) is type(right) and bool(left == right)


def _choose(context: Context, choices: list[Any]) -> Any:
    if not choices:
        raise NotApplicable
    return context.random.choice(choices)


def change_type(held: Any, context: Context) -> Any:
    """Give a value of another type."""
    others = [one for one in _STRANGERS if type(one) is not type(held)]
    if isinstance(held, int) and not isinstance(held, bool):
        others.append(str(held))
    return _choose(context, others)


def nullify(held: Any, context: Context) -> Any:
    """Give null."""
    if held is None:
        raise NotApplicable
    return None


def confuse(held: Any, context: Context) -> Any:
    """Give what a careless reader takes for the same: null, false, 0, the empty string."""
    taken = [new for old, new in _CONFUSED if same(old, held)]
    if not taken and isinstance(held, str):
        taken = ["", held + " ", held.upper() if held.upper() != held else held.lower()]
    if not taken and isinstance(held, int):
        taken = [str(held), -held]
    return _choose(context, [new for new in taken if not same(new, held)])


def increment(held: Any, context: Context) -> Any:
    """Give the next integer."""
    return _integer(held) + 1


def decrement(held: Any, context: Context) -> Any:
    """Give the integer before."""
    return _integer(held) - 1


def _integer(held: Any) -> int:
    if not isinstance(held, int) or isinstance(held, bool):
        raise NotApplicable
    return held


def boundary(held: Any, context: Context) -> Any:
    """Give a bound of the field, or the integer beyond it."""
    low, high = context.field.bounds
    ends = [0, 1, LARGEST, -LARGEST]
    if low is not None:
        ends += [low, low - 1]
    if high is not None:
        ends += [high, min(high + 1, LARGEST)]
    return _choose(context, [end for end in ends if not same(end, held)])


def other_member(held: Any, context: Context) -> Any:
    """Give another value that the field admits: of its enumeration, or the other boolean."""
    members = list(context.field.choices)
    if "boolean" in context.field.types:
        members = [True, False]
    return _choose(context, [member for member in members if not same(member, held)])


def change_character(held: Any, context: Context) -> Any:
    """Change one character of a string into another of its kind."""
    if not isinstance(held, str) or not held:
        raise NotApplicable
    at = context.random.randrange(len(held))
    kind = _DIGITS if held[at] in _DIGITS else _LETTERS
    if len(held) == 64:
        kind = _HEX
    new = context.random.choice([one for one in kind if one != held[at]])
    return held[:at] + new + held[at + 1 :]


def lengthen(held: Any, context: Context) -> Any:
    """Write one character of a string twice."""
    if not isinstance(held, str) or not held:
        raise NotApplicable
    at = context.random.randrange(len(held))
    return held[: at + 1] + held[at:]


def shorten(held: Any, context: Context) -> Any:
    """Leave one character of a string out."""
    if not isinstance(held, str) or not held:
        raise NotApplicable
    at = context.random.randrange(len(held))
    return held[:at] + held[at + 1 :]


def copy_another(held: Any, context: Context) -> Any:
    """Give the value of another leaf of the same type."""
    for _ in range(32):
        other = context.random.choice(context.pool)
        if type(other) is type(held) and not same(other, held):
            return other
    raise NotApplicable


def empty(held: Any, context: Context) -> Any:
    """Take everything out."""
    if not held:
        raise NotApplicable
    return type(held)()


def insert(held: Any, context: Context) -> Any:
    """Add an unknown member, or an element that stands elsewhere in the document."""
    new = context.random.choice(context.pool)
    if isinstance(held, dict):
        name = context.random.choice(("x", "Verdict", "", "name ", "$ref"))
        if name in held:
            raise NotApplicable
        return {**held, name: new}
    at = context.random.randint(0, len(held))
    return [*held[:at], new, *held[at:]]


def duplicate(held: Any, context: Context) -> Any:
    """Write an element twice, beside itself or elsewhere."""
    if not held:
        raise NotApplicable
    at, to = context.random.randrange(len(held)), context.random.randint(0, len(held))
    return [*held[:to], held[at], *held[to:]]


def swap(held: Any, context: Context) -> Any:
    """Exchange two elements."""
    if len(held) < 2:
        raise NotApplicable
    one, other = context.random.sample(range(len(held)), 2)
    swapped = list(held)
    swapped[one], swapped[other] = held[other], held[one]
    return swapped


def drop(held: Any, context: Context) -> Any:
    """Leave one element or member out."""
    if not held:
        raise NotApplicable
    if isinstance(held, dict):
        name = context.random.choice(sorted(held))
        return {key: member for key, member in held.items() if key != name}
    at = context.random.randrange(len(held))
    return [*held[:at], *held[at + 1 :]]


ANY: dict[str, Operator] = {
    "change-type": change_type,
    "nullify": nullify,
}
LEAF: dict[str, Operator] = {**ANY, "confuse": confuse, "copy-another": copy_another}
INTEGER: dict[str, Operator] = {
    "increment": increment,
    "decrement": decrement,
    "boundary": boundary,
}
TEXT: dict[str, Operator] = {
    "change-character": change_character,
    "lengthen": lengthen,
    "shorten": shorten,
}
MEMBER: dict[str, Operator] = {"other-member": other_member}
CONTAINER: dict[str, Operator] = {**ANY, "empty": empty, "insert": insert, "drop": drop}
ARRAY: dict[str, Operator] = {"duplicate": duplicate, "swap": swap}

OPERATORS: dict[str, Operator] = LEAF | INTEGER | TEXT | MEMBER | CONTAINER | ARRAY
"""Every operator on values by name; `absent`, on a member or element itself, is apart."""
REMOVE = "absent"


def operators_of(field: Field) -> tuple[str, ...]:
    """List the operators that apply to a field, by its schema alone."""
    if field.leaf:
        names = dict(LEAF)
        if "integer" in field.types:
            names |= INTEGER
        if "string" in field.types:
            names |= TEXT
        if field.choices or "boolean" in field.types:
            names |= MEMBER
    else:
        names = dict(CONTAINER)
        if "array" in field.types:
            names |= ARRAY
    return (*names, REMOVE) if field.path else tuple(name for name in names if name not in ANY)
