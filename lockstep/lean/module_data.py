"""A module's data in an .olean: what it imports, its constants, which of them have a source.

Field orders are those of `src/Lean/Environment.lean` (`ModuleData`, `Import`),
`src/Lean/Declaration.lean`, `src/Lean/Level.lean` and `src/Lean/Expr.lean` of leanprover/lean4 at
v4.35.0. Levels, names and terms carry cached data of 8 bytes, which is left alone. Metadata
around a term is dropped while reading: the kernel sees through it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lockstep.lean import declarations
from lockstep.lean.olean import Object, Region
from lockstep.lean.terms import BINDERS, Name, Terms, in_order

_LEVELS = {0: (0, 8), 1: (1, 8), 2: (2, 8), 3: (2, 8), 4: (1, 8)}
_LEVEL_KINDS = ("zero", "succ", "max", "imax", "param")
_TERMS = {
    0: (1, 8),
    3: (1, 8),
    4: (2, 8),
    5: (2, 8),
    6: (3, 9),
    7: (3, 9),
    8: (4, 9),
    9: (1, 8),
    10: (2, 8),
    11: (3, 8),
}
# Free and metavariables (1, 2) are no part of a finished constant.
_TERM_PARTS = {5: (0, 1), 6: (1, 2), 7: (1, 2), 8: (1, 2, 3), 10: (1,), 11: (2,)}
"""Which fields of a term are terms; a term of another tag has none."""

_CONSTANT_SHAPES = ((1, 1), (4, 1), (3, 0), (3, 1), (1, 1), (6, 3), (5, 1), (7, 2))
"""Pointers and scalar bytes of AxiomVal, DefinitionVal and so on, in the order of ConstantInfo."""


@dataclass(frozen=True)
class Module:
    """What one .olean holds; `ranged` are the constants with a place in the source file."""

    path: Path
    lean_version: str
    lean_commit: str
    imports: tuple[Name, ...]
    constants: dict[Name, declarations.Constant]
    ranged: frozenset[Name]


def read_module(path: Path, terms: Terms) -> Module:
    """Read an .olean file, its terms into the given store.

    Raises:
        LockstepError: OLEAN_MALFORMED.
        OSError: the file cannot be read.
    """
    return _Reader(Region(path, path.read_bytes()), terms).module()


class _Reader:
    def __init__(self, region: Region, terms: Terms) -> None:
        self.region = region
        self.terms = terms
        self._levels: dict[int, int] = {}
        self._terms: dict[int, int] = {}

    def module(self) -> Module:
        region = self.region
        data = region.constructor(region.root, {0: (5, 1)}, "the data of a module")
        imports = []
        for pointer in region.array(data.fields[0]):
            entry = region.constructor(pointer, {0: (1, 3)}, "an import")
            imports.append(region.name(entry.fields[0]))
        names = [region.name(item) for item in region.array(data.fields[1])]
        found = [self.constant(item) for item in region.array(data.fields[2])]
        if names != [constant.name for constant in found] or len(set(names)) != len(names):
            region.refuse(data.at, "one constant for each listed name", f"{len(names)} names")
        constants = dict(zip(names, found, strict=True))
        return Module(
            region.path,
            region.lean_version,
            region.lean_commit,
            tuple(imports),
            constants,
            self.ranged(data.fields[4]),
        )

    def ranged(self, pointer: int) -> frozenset[Name]:
        """List the names with an entry in Lean.declRangeExt."""
        for item in self.region.array(pointer):
            extension = self.region.constructor(item, {0: (2, 0)}, "an extension's entries")
            if self.region.name(extension.fields[0]) != ("Lean", "declRangeExt"):
                continue
            entries = self.region.array(extension.fields[1])
            pairs = [self.region.constructor(entry, {0: (2, 0)}, "a range") for entry in entries]
            return frozenset(self.region.name(pair.fields[0]) for pair in pairs)
        return frozenset()

    def constant(self, pointer: int) -> declarations.Constant:
        """Read a ConstantInfo."""
        region = self.region
        shapes = dict.fromkeys(range(len(_CONSTANT_SHAPES)), (1, 0))
        info = region.constructor(pointer, shapes, "a constant")
        value = region.constructor(
            info.fields[0], {0: _CONSTANT_SHAPES[info.tag]}, "a constant's value"
        )
        base = region.constructor(value.fields[0], {0: (3, 0)}, "a constant's name and type")
        name, universes = region.name(base.fields[0]), region.names(base.fields[1])
        common = (name, universes, self.term(base.fields[2]))
        return _BUILDERS[info.tag](self, common, value)

    def _axiom(self, common: "_Common", value: Object) -> declarations.Constant:
        return declarations.Axiom(*common, self.flag(value, 0))

    def _definition(self, common: "_Common", value: Object) -> declarations.Constant:
        hint = self.region.constructor(
            value.fields[2], {0: (0, 0), 1: (0, 0), 2: (0, 4)}, "reducibility hints"
        )
        height = int.from_bytes(hint.scalars[:4], "little")
        return declarations.Definition(
            *common,
            self.term(value.fields[1]),
            ("opaque", "abbrev", height)[hint.tag],
            self.choice(value, 0, ("unsafe", "safe", "partial")),
            self.region.names(value.fields[3]),
        )

    def _theorem(self, common: "_Common", value: Object) -> declarations.Constant:
        together = self.region.names(value.fields[2])
        return declarations.Theorem(*common, self.term(value.fields[1]), together)

    def _opaque(self, common: "_Common", value: Object) -> declarations.Constant:
        term, together = self.term(value.fields[1]), self.region.names(value.fields[2])
        return declarations.Opaque(*common, term, self.flag(value, 0), together)

    def _quotient(self, common: "_Common", value: Object) -> declarations.Constant:
        kind = self.choice(value, 0, ("type", "ctor", "lift", "ind"))
        return declarations.Quotient(*common, kind)

    def _inductive(self, common: "_Common", value: Object) -> declarations.Constant:
        region, fields = self.region, value.fields
        return declarations.Inductive(
            *common,
            region.small(fields[1]),
            region.small(fields[2]),
            region.names(fields[3]),
            region.names(fields[4]),
            region.small(fields[5]),
            self.flag(value, 0),
            self.flag(value, 1),
            self.flag(value, 2),
        )

    def _constructor(self, common: "_Common", value: Object) -> declarations.Constant:
        place, parameters, fields = (self.region.small(field) for field in value.fields[2:])
        inductive = self.region.name(value.fields[1])
        unsafe = self.flag(value, 0)
        return declarations.Constructor(*common, inductive, place, parameters, fields, unsafe)

    def _recursor(self, common: "_Common", value: Object) -> declarations.Constant:
        region = self.region
        parameters, indices, motives, minors = (region.small(one) for one in value.fields[2:6])
        rules = []
        for pointer in region.items(value.fields[6]):
            rule = region.constructor(pointer, {0: (3, 0)}, "a recursor's rule")
            name, fields = region.name(rule.fields[0]), region.small(rule.fields[1])
            rules.append(declarations.Rule(name, fields, self.term(rule.fields[2])))
        return declarations.Recursor(
            *common,
            region.names(value.fields[1]),
            parameters,
            indices,
            motives,
            minors,
            tuple(rules),
            self.flag(value, 0),
            self.flag(value, 1),
        )

    def flag(self, value: Object, place: int) -> bool:
        """Read a Boolean among the scalar bytes."""
        return self.choice(value, place, ("no", "yes")) == "yes"

    def choice(self, value: Object, place: int, words: tuple[str, ...]) -> str:
        """Read a byte among the scalars that stands for one of some words."""
        if value.scalars[place] >= len(words):
            self.region.refuse(value.at, " or ".join(words), value.scalars[place])
        return words[value.scalars[place]]

    def level(self, pointer: int) -> int:
        """Read a universe level."""
        read = self.region.constructor

        def parts(place: int) -> list[int]:
            node = read(place, _LEVELS, "a universe level")
            return list(node.fields) if node.tag != 4 else []

        for place in in_order([pointer], parts, self._levels.__contains__):
            node = read(place, _LEVELS, "a universe level")
            if node.tag == 4:
                number = self.terms.level("param", self.region.name(node.fields[0]))
            else:
                below = [self._levels[field] for field in node.fields]
                number = self.terms.level(_LEVEL_KINDS[node.tag], *below)
            self._levels[place] = number
        return self._levels[pointer]

    def term(self, pointer: int) -> int:
        """Read a term."""

        def parts(place: int) -> list[int]:
            node = self.region.constructor(place, _TERMS, "a term")
            return [node.fields[index] for index in _TERM_PARTS.get(node.tag, ())]

        for place in in_order([pointer], parts, self._terms.__contains__):
            node = self.region.constructor(place, _TERMS, "a term")
            self._terms[place] = self._node(node)
        return self._terms[pointer]

    def _node(self, node: Object) -> int:
        """Number a term whose parts have been read."""
        region, make, fields = self.region, self.terms.term, node.fields
        below = [self._terms[fields[index]] for index in _TERM_PARTS.get(node.tag, ())]
        match node.tag:
            case 0:
                return make("bvar", region.small(fields[0]))
            case 3:
                return make("sort", self.level(fields[0]))
            case 4:
                levels = tuple(self.level(item) for item in region.items(fields[1]))
                return make("const", region.name(fields[0]), levels)
            case 5:
                return make("app", *below)
            case 6 | 7:
                if node.scalars[8] >= len(BINDERS):
                    region.refuse(node.at, "a binder's kind", node.scalars[8])
                kind = "lam" if node.tag == 6 else "pi"
                return make(kind, region.name(fields[0]), *below, BINDERS[node.scalars[8]])
            case 8:
                return make("let", region.name(fields[0]), *below)
            case 9:
                literal = region.constructor(fields[0], {0: (1, 0), 1: (1, 0)}, "a literal")
                if literal.tag == 0:
                    return make("nat", region.natural(literal.fields[0]))
                return make("str", region.string(literal.fields[0]))
            case 11:
                return make("proj", region.name(fields[0]), region.small(fields[1]), *below)
        # Metadata (10): the term within stands for the whole.
        return below[0]


_Common = tuple[Name, tuple[Name, ...], int]
_BUILDERS: tuple[Callable[[_Reader, _Common, Object], declarations.Constant], ...] = (
    _Reader._axiom,
    _Reader._definition,
    _Reader._theorem,
    _Reader._opaque,
    _Reader._quotient,
    _Reader._inductive,
    _Reader._constructor,
    _Reader._recursor,
)
