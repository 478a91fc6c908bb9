"""Mutants: each is the parent certificate with one mutation, and follows from a seed and a number.

Of ten mutants one changes the file's bytes and keeps the signature, four go through the leaves of
the document in turn, and five go through the cells (field × operator) in turn. Tree mutants are
signed anew by the trusted key, so that what refuses them is the derivation.
"""

import base64
import json
import random
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lockstep.falsify.forge import Forge
from lockstep.fuzz_verify.fields import (
    ABSENT,
    Field,
    Place,
    Schema,
    Value,
    class_at,
    fields,
    leaves,
    pointer,
    predicate_schema,
    values,
)
from lockstep.fuzz_verify.operators import (
    OPERATORS,
    REMOVE,
    Context,
    NotApplicable,
    operators_of,
    same,
)

BYTES = "bytes"
SHAPE = "shape"
"""Said to have changed where a value has a type that its field does not admit, or is missing."""
_TYPES: dict[type, str] = {
    dict: "object", list: "array", str: "string", bool: "boolean", int: "integer",
    type(None): "null",
}  # fmt: skip
_BYTE_EDITS = ("flip", "remove", "insert", "cut", "repeat", "exchange")
_TRIES = 8


@dataclass(frozen=True)
class Mutant:
    """One mutant.

    Attributes:
        number: its number in the campaign.
        path: the field's path, empty for the file's bytes.
        place: where in the predicate it was mutated.
        operator: which operator did it.
        kind: class of the field, or `bytes`.
        changed: classes of the leaves that differ from the parent's; `shape` among them where
            the field does not admit the new value, `bytes` for the file's bytes.
        predicate: the mutated predicate; None for the file's bytes.
        certificate: the file.
        before: the value that was mutated.
        after: the value in its place.
    """

    number: int
    path: str
    place: Place
    operator: str
    kind: str
    changed: frozenset[str]
    predicate: dict[str, Any] | None
    certificate: bytes
    before: Any = None
    after: Any = None

    @property
    def where(self) -> str:
        """The place as a pointer."""
        return pointer(self.place)


def text(value: Any) -> bytes:
    """Encode in LCJ, quickly: names and numbers of mutants stay where the two agree [LCJ-10]."""
    encoded = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return encoded.encode("utf-8")


def put(held: Any, place: Place, new: Any) -> Any:
    """Give a copy of a value in which another one stands at a place, or nothing does."""
    if not place:
        return new
    step, rest = place[0], place[1:]
    if isinstance(held, dict):
        if not rest and new is ABSENT:
            return {name: member for name, member in held.items() if name != step}
        return {**held, str(step): put(held[step], rest, new)}
    at = int(step)
    if not rest and new is ABSENT:
        return [*held[:at], *held[at + 1 :]]
    return [*held[:at], put(held[at], rest, new), *held[at + 1 :]]


def get(held: Any, place: Place) -> Any:
    """Give the value at a place."""
    for step in place:
        held = held[step]
    return held


@dataclass(frozen=True)
class Source:
    """Gives the mutants of one certificate.

    Attributes:
        forge: the parent's statement, and the keys.
        seed: of all mutants.
    """

    forge: Forge
    seed: int

    @cached_property
    def parent(self) -> bytes:
        """The parent certificate."""
        return self._sign(self.forge.statement)

    @property
    def predicate(self) -> dict[str, Any]:
        """The parent's predicate."""
        predicate: dict[str, Any] = self.forge.statement["predicate"]
        return predicate

    @property
    def kind(self) -> str:
        """The certificate's kind."""
        return str(self.forge.statement["predicateType"]).split(":")[-2]

    @cached_property
    def schema(self) -> Schema:
        """The schema of its predicate."""
        return predicate_schema(self.kind)

    @cached_property
    def values(self) -> tuple[Value, ...]:
        """Every value of the parent's predicate."""
        return tuple(values(self.predicate, self.schema))

    @cached_property
    def leaves(self) -> tuple[Value, ...]:
        """Its leaves, in an order that the seed decides."""
        found = [value for value in self.values if not isinstance(value.held, dict | list)]
        random.Random(f"{self.seed}/leaves").shuffle(found)
        return tuple(found)

    @cached_property
    def pool(self) -> tuple[Any, ...]:
        """What operators copy from."""
        return tuple(value.held for value in self.leaves)

    @cached_property
    def held(self) -> dict[str, list[Value]]:
        """The values by path."""
        found: dict[str, list[Value]] = {}
        for value in self.values:
            found.setdefault(value.field.path, []).append(value)
        return found

    @cached_property
    def cells(self) -> tuple[tuple[Field, str], ...]:
        """The cells (field × operator) that this document has values for, shuffled by the seed."""
        found = [
            (field, operator)
            for field in fields(self.schema)
            if field.path in self.held
            for operator in operators_of(field)
        ]
        random.Random(f"{self.seed}/cells").shuffle(found)
        return tuple(found)

    def mutant(self, number: int) -> Mutant:
        """Give one mutant; the same seed, certificate and number give the same one."""
        chance = random.Random(f"{self.seed}/{number}")
        turn, part = divmod(number, 10)
        if part == 0:
            return self._bytes(number, chance)
        if part < 5:
            value = self.leaves[(turn * 4 + part - 1) % len(self.leaves)]
            names = operators_of(value.field)
            tries = [(value, name) for name in chance.sample(names, len(names))]
        else:
            field, operator = self.cells[(turn * 5 + part - 5) % len(self.cells)]
            held = self.held[field.path]
            # An operator may have nothing to give for one value and something for another.
            chosen = chance.sample(held, min(len(held), _TRIES))
            tries = [(value, operator) for value in chosen]
        for value, operator in tries:
            mutant = self._tree(number, value, operator, chance)
            if mutant is not None:
                return mutant
        return self._bytes(number, chance)

    def _tree(
        self, number: int, value: Value, operator: str, chance: random.Random
    ) -> Mutant | None:
        if operator == REMOVE:
            new: Any = ABSENT
        else:
            try:
                context = Context(chance, value.field, self.pool)
                new = OPERATORS[operator](value.held, context)
            except (NotApplicable, TypeError):
                return None
            if same(new, value.held) and text(new) == text(value.held):
                return None
        changed = self._changed(value.place, value.held, new)
        if not changed:
            return None
        if (value.field.path, operator) == ("/layouts", "swap"):
            # Layouts that change places take their sources with them.
            changed -= {"witnessed"}
        missing = new is ABSENT and isinstance(value.place[-1], str)
        if missing or (new is not ABSENT and _TYPES[type(new)] not in value.field.types):
            changed |= {SHAPE}
        predicate = put(self.predicate, value.place, new)
        certificate = self._sign({**self.forge.statement, "predicate": predicate})
        shown = "absent" if new is ABSENT else new
        return Mutant(
            number, value.field.path, value.place, operator, value.field.kind, changed,
            predicate, certificate, value.held, shown,
        )  # fmt: skip

    def _changed(self, place: Place, old: Any, new: Any) -> frozenset[str]:
        """Give the classes of the leaves that differ, by place."""
        if new is ABSENT and isinstance(place[-1], int):
            # An element that is gone moves those behind it.
            array, at = get(self.predicate, place[:-1]), place[-1]
            return self._differing(place[:-1], array, put(array, (at,), ABSENT))
        return self._differing(place, old, new)

    def _differing(self, place: Place, old: Any, new: Any) -> frozenset[str]:
        before = dict(leaves(old, place))
        after = {} if new is ABSENT else dict(leaves(new, place))
        differing = {
            at
            for at in before.keys() | after.keys()
            if at not in before or at not in after or not same(before[at], after[at])
        }
        return frozenset(class_at(at, self.schema) for at in differing)

    def _sign(self, statement: dict[str, Any]) -> bytes:
        payload = text(statement)
        signature = self.forge.ann.signature(payload)
        return text(
            {
                "payload": base64.b64encode(payload).decode("ascii"),
                "payloadType": "application/vnd.in-toto+json",
                "signatures": [signature],
            }
        )

    def _bytes(self, number: int, chance: random.Random) -> Mutant:
        edit, data = chance.choice(_BYTE_EDITS), self.parent
        at = chance.randrange(len(data))
        other = chance.randrange(256)
        match edit:
            case "flip":
                new = data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]
            case "remove":
                new = data[:at] + data[at + 1 :]
            case "insert":
                new = data[:at] + bytes([other]) + data[at:]
            case "cut":
                new = data[:at]
            case "repeat":
                new = data[:at] + data[max(0, at - 64) :]
            case _:
                new = data[:at] + bytes([other]) + data[at + 1 :]
        if new == data:
            new = data[:-1]
        return Mutant(
            number, "", (), edit, BYTES, frozenset({BYTES}), None, new, at, len(new) - len(data)
        )
