"""Reads an export of Lean declarations, each after all that it rests on (EXP-1 to EXP-6, EXP-9)."""

from typing import Any

from lockstep_verify import limits
from lockstep_verify.errors import Refusal
from lockstep_verify.kernel.declarations import (
    Constant,
    Constructor,
    Export,
    Group,
    Recursor,
    Rule,
    Type,
    names_of,
)
from lockstep_verify.kernel.export_reader import LineReader
from lockstep_verify.kernel.terms import (
    CONST,
    NAT,
    PROJ,
    SORT,
    STR,
    Name,
    Term,
    level_parameters,
    parts,
)

_COMMON = ("name", "levelParams", "type")
_MEMBERS = {
    kind: frozenset(members)
    for kind, members in {
        "axiom": (*_COMMON, "isUnsafe"),
        "def": (*_COMMON, "value", "hints", "safety", "all"),
        "opaque": (*_COMMON, "value", "isUnsafe", "all"),
        "thm": (*_COMMON, "value", "all"),
        "quot": (*_COMMON, "kind"),
        "inductive": ("types", "ctors", "recs"),
        "types": (
            *(*_COMMON, "numParams", "numIndices", "all", "ctors", "numNested"),
            *("isRec", "isUnsafe", "isReflexive"),
        ),
        "ctors": (*_COMMON, "induct", "cidx", "numParams", "numFields", "isUnsafe"),
        "recs": (
            *(*_COMMON, "all", "numParams", "numIndices", "numMotives", "numMinors"),
            *("rules", "k", "isUnsafe"),
        ),
        "rules": ("ctor", "nfields", "rhs"),
    }.items()
}
_QUOTIENTS = ("type", "ctor", "lift", "ind")


def read(data: bytes) -> Export:
    """Read an export.

    Raises:
        Refusal: EXPORT_MALFORMED, LIMIT_SIZE or LIMIT_DEPTH, with the line as its pointer.
    """
    if len(data) > limits.EXPORT_BYTES:
        raise Refusal("LIMIT_SIZE", "", f"at most {limits.EXPORT_BYTES} bytes", len(data))
    lines = data.split(b"\n")
    if lines.pop() != b"" or not lines:
        raise Refusal(
            "EXPORT_MALFORMED", f"/{len(lines) + 1}", "lines that each end in a line feed"
        )
    if len(lines) > limits.EXPORT_LINES:
        raise Refusal("LIMIT_SIZE", "", f"at most {limits.EXPORT_LINES} lines", len(lines))
    reader = _Declarations()
    for line in lines:
        reader.lines.read_line(line)
    return Export(reader.lines.make, tuple(reader.declarations), reader.by_name)


class _Declarations:
    """Declarations read so far; a constant is known once its line, or its part of it, is read."""

    def __init__(self) -> None:
        self.lines = LineReader(self.declaration)
        self.declarations: list[Constant | Group] = []
        self.by_name: dict[Name, Constant | Group] = {}
        self._declared: set[Name] = set()
        self._checked: set[Term] = set()
        name = self.lines.make.name
        self._needed = {
            NAT: (name("Nat"),),
            STR: (name("String", "ofList"), name("Char", "ofNat")),
        }

    def declaration(self, value: dict[str, Any]) -> None:
        """Read the line of a declaration."""
        lines = self.lines
        if len(value) != 1:
            lines.refuse("one member")
        ((kind, detail),) = value.items()
        if kind not in ("axiom", "def", "opaque", "thm", "quot", "inductive"):
            lines.refuse("a known kind of declaration", kind)
        lines.members(detail, _MEMBERS[kind])
        if kind == "inductive":
            declaration: Constant | Group = self._group(detail)
        else:
            declaration = self._constant(kind, detail)
        self.declarations.append(declaration)
        for name in names_of(declaration):
            self.by_name[name] = declaration

    def _declare(self, *names: Name) -> None:
        for name in names:
            if name in self._declared:
                self.lines.refuse("a constant that is declared once", name)
            self._declared.add(name)

    def _rests_on_known(self, *terms: Term | None) -> None:
        """Refuse a term with a constant that is not declared yet (EXP-6)."""
        stack = [term for term in terms if term is not None]
        while stack:
            term = stack.pop()
            if term in self._checked:
                continue
            if term.kind in (CONST, PROJ):
                needed: tuple[Name, ...] = (term.a,)
            else:
                needed = self._needed.get(term.kind, ())
            for name in needed:
                if name not in self._declared:
                    self.lines.refuse("only constants that are declared before", name)
            self._checked.add(term)
            stack.extend(parts(term))

    def _universes(self, universes: tuple[Name, ...], *terms: Term | None) -> None:
        """Refuse a level parameter that the declaration does not have (EXP-6)."""
        stack = [term for term in terms if term is not None and term.poly]
        seen = set(stack)
        while stack:
            term = stack.pop()
            levels = (term.a,) if term.kind == SORT else term.b if term.kind == CONST else ()
            if not set().union(*map(level_parameters, levels)) <= set(universes):
                self.lines.refuse("only universe parameters of the declaration")
            for inner in parts(term):
                if inner.poly and inner not in seen:
                    seen.add(inner)
                    stack.append(inner)

    def _common(self, value: dict[str, Any]) -> tuple[Name, tuple[Name, ...], Term]:
        lines = self.lines
        name, universes = lines.name(value["name"]), lines.name_list(value["levelParams"])
        if len(set(universes)) != len(universes):
            lines.refuse("distinct universe parameters")
        return name, universes, lines.term(value["type"])

    def _constant(self, kind: str, value: dict[str, Any]) -> Constant:
        lines = self.lines
        name, universes, type_ = self._common(value)
        term = lines.term(value["value"]) if "value" in value else None
        detail: str | int = ""
        if "isUnsafe" in value:
            lines.no(value["isUnsafe"], "isUnsafe")
        if "all" in value:
            lines.name_list(value["all"])
        if kind == "quot":
            detail = self._one_of(value["kind"], _QUOTIENTS)
        elif kind == "def":
            self._one_of(value["safety"], ("safe",))
            detail = self._hints(value["hints"])
        self._rests_on_known(type_, term)
        self._universes(universes, type_, term)
        self._declare(name)
        return Constant(kind, name, universes, type_, term, detail, lines.line)

    def _one_of(self, value: Any, words: tuple[str, ...]) -> str:
        if type(value) is not str or value not in words:
            self.lines.refuse(" or ".join(words), value)
        return value

    def _hints(self, value: Any) -> str | int:
        if type(value) is dict:
            return self.lines.count(self.lines.members(value, {"regular"})["regular"])
        return self._one_of(value, ("opaque", "abbrev"))

    def _group(self, value: dict[str, Any]) -> Group:
        """Read an inductive group: its types, then their constructors, then its recursors."""
        lines = self.lines
        raw_types = self._list(value, "types")
        if not raw_types:
            lines.refuse("at least one type")
        shared = tuple(lines.name(one["name"]) for one in raw_types)
        universes = lines.name_list(raw_types[0]["levelParams"])
        for one in raw_types:
            _, own, type_ = self._common(one)
            self._rests_on_known(type_)
            self._universes(own, type_)
            if (own, lines.name_list(one["all"])) != (universes, shared):
                lines.refuse("types of one group: the same universe parameters, all in order")
        self._declare(*shared)
        raw_constructors = self._list(value, "ctors")
        types = []
        for one in raw_types:
            names = lines.name_list(one["ctors"])
            own_constructors, raw_constructors = (
                raw_constructors[: len(names)],
                raw_constructors[len(names) :],
            )
            if len(own_constructors) != len(names):
                lines.refuse("a constructor for each name in ctors")
            types.append(self._type(one, names, own_constructors, universes))
        if raw_constructors:
            lines.refuse("no constructor beyond those of the types")
        recursors = self._recursors(self._list(value, "recs"), shared)
        return Group(tuple(types), recursors, lines.line)

    def _list(self, value: dict[str, Any], member: str) -> list[dict[str, Any]]:
        found = self.lines.items(value[member])
        return [self.lines.members(one, _MEMBERS[member]) for one in found]

    def _type(
        self,
        value: dict[str, Any],
        names: tuple[Name, ...],
        raw: list[dict[str, Any]],
        universes: tuple[Name, ...],
    ) -> Type:
        lines = self.lines
        lines.no(value["isUnsafe"], "isUnsafe")
        name, _, type_ = self._common(value)
        found = []
        for place, (inner, one) in enumerate(zip(names, raw, strict=True)):
            own, own_universes, own_type = self._common(one)
            lines.no(one["isUnsafe"], "isUnsafe")
            expected = (inner, universes, name, place)
            if (own, own_universes, lines.name(one["induct"]), one["cidx"]) != expected:
                lines.refuse("constructors in the order of ctors, each with its type", own)
            self._rests_on_known(own_type)
            self._universes(own_universes, own_type)
            params, fields = lines.count(one["numParams"]), lines.count(one["numFields"])
            found.append(Constructor(own, name, own_type, params, fields))
        self._declare(*names)
        return Type(
            name,
            universes,
            type_,
            lines.count(value["numParams"]),
            lines.count(value["numIndices"]),
            lines.count(value["numNested"]),
            lines.flag(value["isRec"]),
            lines.flag(value["isReflexive"]),
            tuple(found),
        )

    def _recursors(
        self, raw: list[dict[str, Any]], types: tuple[Name, ...]
    ) -> tuple[Recursor, ...]:
        lines = self.lines
        self._declare(*(lines.name(one["name"]) for one in raw))
        found = []
        for place, one in enumerate(raw):
            name, universes, type_ = self._common(one)
            lines.no(one["isUnsafe"], "isUnsafe")
            if lines.name_list(one["all"]) != types or name is not self._recursor(types, place):
                lines.refuse("the recursors of the group in their order", name)
            rules = []
            for rule in self._list(one, "rules"):
                value = lines.term(rule["rhs"])
                rules.append(Rule(lines.name(rule["ctor"]), lines.count(rule["nfields"]), value))
            values = [rule.value for rule in rules]
            self._rests_on_known(type_, *values)
            self._universes(universes, type_, *values)
            counts = ("numParams", "numIndices", "numMotives", "numMinors")
            params, indices, motives, minors = (lines.count(one[key]) for key in counts)
            sizes = (place, params, indices, motives, minors)
            k = lines.flag(one["k"])
            found.append(Recursor(name, universes, type_, *sizes, tuple(rules), k))
        if len(found) < len(types):
            lines.refuse("a recursor for each type")
        return tuple(found)

    def _recursor(self, types: tuple[Name, ...], place: int) -> Name:
        """Give the name of a group's recursor (EXP-16)."""
        if place < len(types):
            return self.lines.make.child(types[place], "rec")
        return self.lines.make.child(types[0], f"rec_{place - len(types) + 1}")
