"""Writes lines after a valid export, or other lines in the place of some, for tests to refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SAMPLE = Path(__file__).with_name("sample.ndjson")
META = {
    "exporter": {"name": "assembler", "version": "1"},
    "format": {"version": "3.1.0"},
    "lean": {"githash": "", "version": ""},
}


def sample(before: str = "") -> Assembler:
    """Give the sample, or what of it stands before the declaration of a constant."""
    whole = Assembler(SAMPLE.read_bytes())
    if not before:
        return whole
    kept = whole.lines[: whole.line_of(before)]
    return Assembler(b"".join(json.dumps(line).encode() + b"\n" for line in kept))


class Assembler:
    """An export under construction: each part is numbered once, whoever wrote it first."""

    def __init__(self, data: bytes = b"") -> None:
        self.lines: list[dict[str, Any]] = [json.loads(line) for line in data.splitlines()]
        if not self.lines:
            self.lines.append({"meta": META})
        self.names = {"": 0}
        self._given: dict[str, int] = {}
        self._counts = {"in": 1, "il": 1, "ie": 0}
        texts = {0: ""}
        for line in self.lines:
            for tag in self._counts.keys() & line.keys():
                number = line[tag]
                rest = {key: value for key, value in line.items() if key != tag}
                self._given[tag + json.dumps(rest, sort_keys=True)] = number
                self._counts[tag] = number + 1
                if tag == "in":
                    inner = rest.get("str") or rest["num"]
                    before = texts[inner["pre"]]
                    part = str(inner.get("str", inner.get("i")))
                    texts[number] = f"{before}.{part}" if before else part
                    self.names[texts[number]] = number

    def _number(self, tag: str, **members: Any) -> int:
        key = tag + json.dumps(members, sort_keys=True)
        if key not in self._given:
            self._given[key] = self._counts[tag]
            self._counts[tag] += 1
            self.lines.append({tag: self._given[key], **members})
        return self._given[key]

    def name(self, text: str) -> int:
        if text not in self.names:
            before, _, last = text.rpartition(".")
            self.names[text] = self._number("in", str={"pre": self.name(before), "str": last})
        return self.names[text]

    # Levels.

    def succ(self, level: int) -> int:
        return self._number("il", succ=level)

    def max(self, a: int, b: int) -> int:
        return self._number("il", max=[a, b])

    def imax(self, a: int, b: int) -> int:
        return self._number("il", imax=[a, b])

    def param(self, text: str) -> int:
        return self._number("il", param=self.name(text))

    # Terms.

    def bvar(self, index: int) -> int:
        return self._number("ie", bvar=index)

    def sort(self, level: int = 0) -> int:
        return self._number("ie", sort=level)

    @property
    def type(self) -> int:
        return self.sort(self.succ(0))

    def const(self, text: str, *levels: int) -> int:
        return self._number("ie", const={"name": self.name(text), "us": list(levels)})

    def app(self, function: int, *arguments: int) -> int:
        for argument in arguments:
            function = self._number("ie", app={"arg": argument, "fn": function})
        return function

    def _binder(self, kind: str, type_: int, body: int) -> int:
        binder = {"binderInfo": "default", "body": body, "name": self.name("x"), "type": type_}
        return self._number("ie", **{kind: binder})

    def lam(self, *parts: int) -> int:
        """Bind variables of the types given, in the last part."""
        *types, body = parts
        for type_ in reversed(types):
            body = self._binder("lam", type_, body)
        return body

    def pi(self, *parts: int) -> int:
        """The product over the types given of the last part."""
        *types, body = parts
        for type_ in reversed(types):
            body = self._binder("forallE", type_, body)
        return body

    def let(self, type_: int, value: int, body: int) -> int:
        inner = {"type": type_, "value": value, "body": body, "nondep": False}
        return self._number("ie", letE={**inner, "name": self.name("x")})

    def nat(self, number: int) -> int:
        return self._number("ie", natVal=str(number))

    def string(self, text: str) -> int:
        return self._number("ie", strVal=text)

    def proj(self, text: str, index: int, structure: int) -> int:
        inner = {"idx": index, "struct": structure, "typeName": self.name(text)}
        return self._number("ie", proj=inner)

    def equals(self, level: int, type_: int, a: int, b: int) -> int:
        return self.app(self.const("Eq", level), type_, a, b)

    def refl(self, level: int, type_: int, a: int) -> int:
        return self.app(self.const("Eq.refl", level), type_, a)

    # Declarations.

    def _common(self, text: str, type_: int, universes: tuple[str, ...]) -> dict[str, Any]:
        params = [self.name(one) for one in universes]
        return {"name": self.name(text), "levelParams": params, "type": type_}

    def axiom(self, text: str, type_: int, *universes: str) -> None:
        self.lines.append({"axiom": {**self._common(text, type_, universes), "isUnsafe": False}})

    def define(
        self, text: str, type_: int, value: int, *universes: str, hints: Any = "abbrev"
    ) -> None:
        detail = {"value": value, "hints": hints, "safety": "safe", "all": [self.name(text)]}
        self.lines.append({"def": {**self._common(text, type_, universes), **detail}})

    def theorem(self, text: str, type_: int, value: int, *universes: str) -> None:
        detail = {"value": value, "all": [self.name(text)]}
        self.lines.append({"thm": {**self._common(text, type_, universes), **detail}})

    def inductive(
        self,
        text: str,
        type_: int,
        constructors: list[tuple[str, int, int]],
        recursor: tuple[int, list[int]],
        *universes: str,
        params: int = 0,
        indices: int = 0,
        level: tuple[str, ...] = ("elim",),
        recursive: bool = False,
        reflexive: bool = False,
        k: bool = False,
        nested: int = 0,
    ) -> None:
        """Declare a type of constructors (name, type, fields) and a recursor (type, rules)."""
        number = self.name(text)
        names = [self.name(f"{text}.{inner}") for inner, _, _ in constructors]
        types = {
            **self._common(text, type_, universes),
            **{"numParams": params, "numIndices": indices, "all": [number], "ctors": names},
            **{"numNested": nested, "isRec": recursive, "isReflexive": reflexive},
            "isUnsafe": False,
        }
        made = [
            {
                **self._common(f"{text}.{inner}", own, universes),
                **{"induct": number, "cidx": place, "numParams": params, "numFields": fields},
                "isUnsafe": False,
            }
            for place, (inner, own, fields) in enumerate(constructors)
        ]
        rules = [
            {"ctor": name, "nfields": one[2], "rhs": rhs}
            for name, one, rhs in zip(names, constructors, recursor[1], strict=False)
        ]
        recs = {
            **self._common(f"{text}.rec", recursor[0], (*level, *universes)),
            **{"all": [number], "numParams": params, "numIndices": indices, "numMotives": 1},
            **{"numMinors": len(constructors), "rules": rules, "k": k, "isUnsafe": False},
        }
        self.lines.append({"inductive": {"types": [types], "ctors": made, "recs": [recs]}})

    # Changes to what is there.

    def find(self, text: str) -> dict[str, Any]:
        """Give the declaration of a constant, to be changed in place."""
        number = self.name(text)
        for line in self.lines:
            for kind in ("axiom", "def", "thm", "opaque", "quot"):
                if line.get(kind, {}).get("name") == number:
                    found: dict[str, Any] = line[kind]
                    return found
            if any(one["name"] == number for one in line.get("inductive", {}).get("types", ())):
                found = line["inductive"]
                return found
        raise KeyError(text)

    def line_of(self, text: str) -> int:
        """Give the place of the line that declares a constant outside groups, or a type."""
        target = self.find(text)
        return next(
            place
            for place, line in enumerate(self.lines)
            if any(value is target for value in line.values())
        )

    def data(self) -> bytes:
        return b"".join(json.dumps(line).encode() + b"\n" for line in self.lines)
