"""Names, levels and terms of Lean; equal ones are one object, so that `is` compares them.

A binder keeps neither its name nor how its argument is written: terms that differ in these alone
mean the same and are one object here.
"""

from itertools import islice
from typing import Any

BVAR, SORT, CONST, APP, LAM, PI, LET, NAT, STR, PROJ, FREE = range(11)
"""Kinds of terms. FREE is a variable that a checker has put in place of a bound one."""

ZERO, SUCC, MAX, IMAX, PARAM = range(5)
"""Kinds of levels."""


class Name:
    """A hierarchical name; `parent` is None for the anonymous name alone."""

    __slots__ = ("parent", "part")

    def __init__(self, parent: "Name | None", part: str | int) -> None:
        self.parent = parent
        self.part = part

    def parts(self) -> tuple[str | int, ...]:
        """List the components from the root."""
        found = []
        name = self
        while name.parent is not None:
            found.append(name.part)
            name = name.parent
        return tuple(reversed(found))

    def __str__(self) -> str:
        """Join the components with dots (EXP-21)."""
        return ".".join(map(str, self.parts())) or "[anonymous]"


class Level:
    """A universe level: its kind, and one or two levels, or the name of a parameter."""

    __slots__ = ("a", "b", "kind", "poly")

    def __init__(self, kind: int, a: Any, b: Any, poly: bool) -> None:
        self.kind = kind
        self.a = a
        self.b = b
        self.poly = poly


class Term:
    """A term.

    Attributes:
        kind: one of the constants above.
        a, b, c: its parts. BVAR index; SORT level; CONST name, levels; APP function, argument;
            LAM and PI type, body; LET type, value, body; NAT number; STR text; PROJ name, index,
            structure; FREE number, type.
        loose: one more than the largest index of a bound variable that is bound outside, or 0.
        free: one more than the largest number of a FREE variable that occurs, or 0.
        poly: whether a level parameter occurs.
    """

    __slots__ = ("a", "b", "c", "free", "kind", "loose", "poly")

    def __init__(
        self, kind: int, a: Any, b: Any, c: Any, loose: int, free: int, poly: bool
    ) -> None:
        self.kind = kind
        self.a = a
        self.b = b
        self.c = c
        self.loose = loose
        self.free = free
        self.poly = poly


class Terms:
    """Makes names, levels and terms, each distinct one once."""

    def __init__(self) -> None:
        self._names: dict[tuple[Name, str | int], Name] = {}
        self._levels: dict[tuple[Any, ...], Level] = {}
        self._terms: dict[tuple[Any, ...], Term] = {}
        self.anonymous = Name(None, "")
        self.zero = Level(ZERO, None, None, False)
        self.prop = self.sort(self.zero)

    def mark(self) -> int:
        """Give a mark of the terms made so far."""
        return len(self._terms)

    def drop(self, mark: int) -> None:
        """Forget the terms made since a mark; none of them may be used any more."""
        self._terms = dict(islice(self._terms.items(), mark))

    def child(self, parent: Name, part: str | int) -> Name:
        """Make the name below `parent` of one more component."""
        key = (parent, part)
        name = self._names.get(key)
        if name is None:
            name = self._names[key] = Name(parent, part)
        return name

    def name(self, *parts: str | int) -> Name:
        """Make a name from its components."""
        name = self.anonymous
        for part in parts:
            name = self.child(name, part)
        return name

    def _level(self, kind: int, a: Any, b: Any, poly: bool) -> Level:
        key = (kind, a, b)
        level = self._levels.get(key)
        if level is None:
            level = self._levels[key] = Level(kind, a, b, poly)
        return level

    def succ(self, level: Level) -> Level:
        """Make the level after one."""
        return self._level(SUCC, level, None, level.poly)

    def max(self, a: Level, b: Level) -> Level:
        """Make the larger of two levels."""
        return self._level(MAX, a, b, a.poly or b.poly)

    def imax(self, a: Level, b: Level) -> Level:
        """Make the level of a product: zero if `b` is, else the larger of the two."""
        return self._level(IMAX, a, b, a.poly or b.poly)

    def param(self, name: Name) -> Level:
        """Make a level parameter."""
        return self._level(PARAM, name, None, True)

    def bvar(self, index: int) -> Term:
        """Make the variable that is bound `index` binders further out than the nearest."""
        key = (BVAR, index)
        term = self._terms.get(key)
        if term is None:
            term = Term(BVAR, index, None, None, index + 1, 0, False)
            self._terms[key] = term
        return term

    def sort(self, level: Level) -> Term:
        """Make the sort of a level."""
        key = (SORT, level)
        term = self._terms.get(key)
        if term is None:
            term = Term(SORT, level, None, None, 0, 0, level.poly)
            self._terms[key] = term
        return term

    def const(self, name: Name, levels: tuple[Level, ...]) -> Term:
        """Make a constant at some levels."""
        key = (CONST, name, levels)
        term = self._terms.get(key)
        if term is None:
            poly = any(level.poly for level in levels)
            term = Term(CONST, name, levels, None, 0, 0, poly)
            self._terms[key] = term
        return term

    def app(self, function: Term, argument: Term) -> Term:
        """Make an application."""
        key = (APP, function, argument)
        term = self._terms.get(key)
        if term is None:
            loose = function.loose if function.loose > argument.loose else argument.loose
            free = function.free if function.free > argument.free else argument.free
            poly = function.poly or argument.poly
            term = Term(APP, function, argument, None, loose, free, poly)
            self._terms[key] = term
        return term

    def apps(self, function: Term, arguments: list[Term]) -> Term:
        """Apply a term to some arguments in turn."""
        for argument in arguments:
            function = self.app(function, argument)
        return function

    def binder(self, kind: int, type_: Term, body: Term) -> Term:
        """Make a LAM or PI."""
        key = (kind, type_, body)
        term = self._terms.get(key)
        if term is None:
            inner = body.loose - 1
            loose = type_.loose if type_.loose > inner else inner
            free = type_.free if type_.free > body.free else body.free
            poly = type_.poly or body.poly
            term = Term(kind, type_, body, None, loose, free, poly)
            self._terms[key] = term
        return term

    def let(self, type_: Term, value: Term, body: Term) -> Term:
        """Make a let."""
        key = (LET, type_, value, body)
        term = self._terms.get(key)
        if term is None:
            loose = max(type_.loose, value.loose, body.loose - 1)
            free = max(type_.free, value.free, body.free)
            poly = type_.poly or value.poly or body.poly
            term = Term(LET, type_, value, body, loose, free, poly)
            self._terms[key] = term
        return term

    def variable(self, number: int, type_: Term) -> Term:
        """Make the FREE variable of a number and a type; the caller sees to its being new."""
        key = (FREE, number, type_)
        term = self._terms.get(key)
        if term is None:
            term = Term(FREE, number, type_, None, 0, number + 1, type_.poly)
            self._terms[key] = term
        return term

    def nat(self, number: int) -> Term:
        """Make a natural literal."""
        return self._leaf((NAT, number))

    def string(self, text: str) -> Term:
        """Make a string literal."""
        return self._leaf((STR, text))

    def _leaf(self, key: tuple[int, Any]) -> Term:
        term = self._terms.get(key)
        if term is None:
            term = Term(key[0], key[1], None, None, 0, 0, False)
            self._terms[key] = term
        return term

    def proj(self, name: Name, index: int, structure: Term) -> Term:
        """Make the projection to field `index` of a structure of type `name`."""
        key = (PROJ, name, index, structure)
        term = self._terms.get(key)
        if term is None:
            loose, free, poly = structure.loose, structure.free, structure.poly
            term = Term(PROJ, name, index, structure, loose, free, poly)
            self._terms[key] = term
        return term


def level_parameters(level: Level) -> set[Name]:
    """Collect the parameters of a level."""
    found: set[Name] = set()
    stack, seen = [level], {level}
    while stack:
        one = stack.pop()
        if one.kind == PARAM:
            found.add(one.a)
            continue
        for inner in (one.a, one.b):
            if isinstance(inner, Level) and inner.poly and inner not in seen:
                seen.add(inner)
                stack.append(inner)
    return found


def parts(term: Term) -> tuple[Term, ...]:
    """List the terms directly within one."""
    match term.kind:
        case 3 | 4 | 5:
            return (term.a, term.b)
        case 6:
            return (term.a, term.b, term.c)
        case 9:
            return (term.c,)
    return ()


def spine(term: Term) -> tuple[Term, list[Term]]:
    """Take an application apart: what is applied in the end, and all arguments in order."""
    arguments = []
    while term.kind == APP:
        arguments.append(term.b)
        term = term.a
    arguments.reverse()
    return term, arguments
