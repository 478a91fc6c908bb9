"""Declarations as NDJSON in the format of lean4export 3.1.0 [EXP-1 to EXP-10].

What a declaration needs stands before it; the bytes depend on the declarations alone, not on the
order of modules or of constants within them.
"""

import json
from typing import Any

from lockstep import __version__
from lockstep.lean import declarations
from lockstep.lean.axioms import rests_on
from lockstep.lean.declarations import Constant
from lockstep.lean.environment import Environment
from lockstep.lean.terms import Name, in_order

FORMAT = "3.1.0"
"""The version of the format, as lean4export's `format_ndjson.md` numbers it."""


_PIECE_DIGITS = 4000
_PIECE = 10**_PIECE_DIGITS


def export(environment: Environment, names: list[Name]) -> bytes:
    """Write some constants and all that they rest on, one JSON object a line.

    Raises:
        LockstepError: OLEAN_MALFORMED where something they rest on is missing.
    """
    writer = _Writer(environment)
    writer.meta()
    # A checker can use what specifies arithmetic only where it stands before.
    for name in sorted(names, key=lambda name: (name[:1] != ("Nat",), _order(name))):
        writer.constant(name)
    return "".join(f"{line}\n" for line in writer.lines).encode("utf-8")


def _order(name: Name) -> list[tuple[bool, str | int]]:
    return [(isinstance(part, int), part) for part in name]


def numeral(value: int) -> str:
    """Write a natural number of any size in decimal; Python's own writer has a bound of its own."""
    pieces = []
    while value >= _PIECE:
        value, piece = divmod(value, _PIECE)
        pieces.append(f"{piece:0{_PIECE_DIGITS}}")
    return str(value) + "".join(reversed(pieces))


class _Writer:
    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.lines: list[str] = []
        self._names: dict[Name, int] = {(): 0}
        self._levels: dict[int, int] = {environment.terms.level("zero"): 0}
        self._terms: dict[int, int] = {}
        self._done: set[Name] = set()

    def _line(self, **members: Any) -> None:
        text = json.dumps(members, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        self.lines.append(text)

    def meta(self) -> None:
        """Write the first line: who wrote this, from which Lean, in which format."""
        modules = list(self.environment.modules.values())
        self._line(
            meta={
                "exporter": {"name": "lockstep", "version": __version__},
                "format": {"version": FORMAT},
                "lean": {
                    "githash": modules[0].lean_commit,
                    "version": modules[0].lean_version,
                },
            }
        )

    def name(self, name: Name) -> int:
        """Give the number of a name, having written it."""
        for size in range(1, len(name) + 1):
            prefix = name[:size]
            if prefix not in self._names:
                number = self._names[prefix] = len(self._names)
                before, last = self._names[prefix[:-1]], prefix[-1]
                if isinstance(last, str):
                    self._line(**{"in": number, "str": {"pre": before, "str": last}})
                else:
                    self._line(**{"in": number, "num": {"i": last, "pre": before}})
        return self._names[name]

    def names(self, names: tuple[Name, ...]) -> list[int]:
        """Give the numbers of some names, having written them."""
        return [self.name(name) for name in names]

    def level(self, level: int) -> int:
        """Give the number of a universe level, having written it."""
        nodes = self.environment.terms.levels

        def parts(place: int) -> list[int]:
            return list(nodes[place][1:]) if nodes[place][0] != "param" else []

        for place in in_order([level], parts, self._levels.__contains__):
            kind, *rest = nodes[place]
            if kind == "param":
                value: Any = self.name(rest[0])
            else:
                below = [self._levels[one] for one in rest]
                value = below[0] if kind == "succ" else below
            number = self._levels[place] = len(self._levels)
            self._line(**{"il": number, kind: value})
        return self._levels[level]

    def term(self, term: int) -> int:
        """Give the number of a term, having written it."""
        terms = self.environment.terms
        for place in in_order([term], terms.below, self._terms.__contains__):
            kind, value = self._node(place)
            number = self._terms[place] = len(self._terms)
            self._line(**{"ie": number, kind: value})
        return self._terms[term]

    def _node(self, place: int) -> tuple[str, Any]:
        terms = self.environment.terms
        kind, *rest = terms.terms[place]
        below = [self._terms[one] for one in terms.below(place)]
        match kind:
            case "bvar":
                return kind, rest[0]
            case "sort":
                return kind, self.level(rest[0])
            case "const":
                return kind, {"name": self.name(rest[0]), "us": [self.level(u) for u in rest[1]]}
            case "app":
                return kind, {"arg": below[1], "fn": below[0]}
            case "lam" | "pi":
                binder = {"binderInfo": rest[3], "body": below[1], "name": self.name(rest[0])}
                return "lam" if kind == "lam" else "forallE", {**binder, "type": below[0]}
            case "let":
                type_, value, body = below
                named = {"name": self.name(rest[0]), "nondep": False}
                return "letE", {**named, "body": body, "type": type_, "value": value}
            case "nat":
                return "natVal", numeral(rest[0])
            case "str":
                return "strVal", rest[0]
        return kind, {"idx": rest[1], "struct": below[0], "typeName": self.name(rest[0])}

    def constant(self, name: Name) -> None:
        """Write a constant and first all that it rests on."""
        stack = [(self._unit(name), False)]
        while stack:
            unit, ready = stack.pop()
            if unit in self._done:
                continue
            if ready:
                self._done.add(unit)
                self._declaration(self.environment.constant(unit))
                continue
            stack.append((unit, True))
            needed = {
                self._unit(other) for one in self._members(unit) for other in self._needs(one)
            }
            waiting = sorted(needed - self._done - {unit}, key=_order, reverse=True)
            stack.extend((other, False) for other in waiting)

    def _needs(self, constant: Constant) -> list[Name]:
        return rests_on(self.environment, constant)

    def _unit(self, name: Name) -> Name:
        """Give the name that stands for what is declared together with a constant."""
        constant = self.environment.constant(name)
        return self.environment.group_of(constant) or name

    def _members(self, unit: Name) -> list[Constant]:
        """List the constants that are declared together, in the order of the format."""
        constant = self.environment.constant(unit)
        if not isinstance(constant, declarations.Inductive):
            return [constant]
        types, constructors, recursors = self._group(constant)
        return [*types, *constructors, *recursors]

    def _group(
        self, first: declarations.Inductive
    ) -> tuple[
        list[declarations.Inductive], list[declarations.Constructor], list[declarations.Recursor]
    ]:
        types = [self.environment.inductive(name) for name in first.group]
        inner = [self.environment.constant(name) for one in types for name in one.constructors]
        constructors = [one for one in inner if isinstance(one, declarations.Constructor)]
        return types, constructors, self.environment.recursors.get(first.name, [])

    def _declaration(self, constant: Constant) -> None:
        match constant:
            case declarations.Inductive():
                self._inductive(constant)
            case declarations.Axiom():
                self._line(axiom={**self._common(constant), "isUnsafe": constant.unsafe})
            case declarations.Quotient():
                self._line(quot={**self._common(constant), "kind": constant.kind})
            case declarations.Definition():
                hints = constant.hints
                members = {
                    **self._common(constant),
                    "all": self.names(constant.together),
                    "hints": hints if isinstance(hints, str) else {"regular": hints},
                    "safety": constant.safety,
                    "value": self.term(constant.value),
                }
                self._line(**{"def": members})
            case declarations.Theorem():
                self._line(thm={**self._common(constant), **self._valued(constant)})
            case declarations.Opaque():
                members = {**self._common(constant), **self._valued(constant)}
                self._line(opaque={**members, "isUnsafe": constant.unsafe})

    def _common(self, constant: Constant) -> dict[str, Any]:
        return {
            "name": self.name(constant.name),
            "levelParams": self.names(constant.universes),
            "type": self.term(constant.type),
        }

    def _valued(self, constant: declarations.Theorem | declarations.Opaque) -> dict[str, Any]:
        return {"all": self.names(constant.together), "value": self.term(constant.value)}

    def _inductive(self, first: declarations.Inductive) -> None:
        types, constructors, recursors = self._group(first)
        self._line(
            inductive={
                "types": [self._type(one) for one in types],
                "ctors": [self._constructor(one) for one in constructors],
                "recs": [self._recursor(one) for one in recursors],
            }
        )

    def _type(self, one: declarations.Inductive) -> dict[str, Any]:
        return {
            **self._common(one),
            "all": self.names(one.group),
            "ctors": self.names(one.constructors),
            "isRec": one.recursive,
            "isReflexive": one.reflexive,
            "isUnsafe": one.unsafe,
            "numIndices": one.indices,
            "numNested": one.nested,
            "numParams": one.parameters,
        }

    def _constructor(self, one: declarations.Constructor) -> dict[str, Any]:
        return {
            **self._common(one),
            "cidx": one.place,
            "induct": self.name(one.inductive),
            "isUnsafe": one.unsafe,
            "numFields": one.fields,
            "numParams": one.parameters,
        }

    def _recursor(self, one: declarations.Recursor) -> dict[str, Any]:
        rules = [
            {
                "ctor": self.name(rule.constructor),
                "nfields": rule.fields,
                "rhs": self.term(rule.value),
            }
            for rule in one.rules
        ]
        return {
            **self._common(one),
            "all": self.names(one.group),
            "isUnsafe": one.unsafe,
            "k": one.k,
            "numIndices": one.indices,
            "numMinors": one.minors,
            "numMotives": one.motives,
            "numParams": one.parameters,
            "rules": rules,
        }
