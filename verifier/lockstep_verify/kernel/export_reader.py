"""Reads the lines of an export strictly: members, references, names, levels, terms (EXP-1 to 5)."""

from collections.abc import Callable
from typing import Any, NoReturn

from lockstep_verify import limits
from lockstep_verify.errors import Refusal
from lockstep_verify.kernel.json_line import decode, has_surrogate, whole_number
from lockstep_verify.kernel.terms import LAM, PI, Level, Name, Term, Terms

FORMAT = "3.1.0"
BINDERS = frozenset({"default", "implicit", "strictImplicit", "instImplicit"})

_MEMBERS = {
    "const": frozenset({"name", "us"}),
    "app": frozenset({"fn", "arg"}),
    "lam": frozenset({"name", "type", "body", "binderInfo"}),
    "forallE": frozenset({"name", "type", "body", "binderInfo"}),
    "letE": frozenset({"name", "type", "value", "body", "nondep"}),
    "proj": frozenset({"typeName", "idx", "struct"}),
    "str": frozenset({"pre", "str"}),
    "num": frozenset({"pre", "i"}),
}


class LineReader:
    """Reads lines in turn, and keeps what they number.

    Args:
        declare: called with each line that gives a declaration.

    Raises:
        Refusal: EXPORT_MALFORMED, LIMIT_SIZE or LIMIT_DEPTH, here and from every method, with the
            line as its pointer.
    """

    def __init__(self, declare: Callable[[dict[str, Any]], None]) -> None:
        self.line = 0
        self._declare = declare
        self.make = Terms()
        self.names = [self.make.anonymous]
        self.levels = [self.make.zero]
        self.terms: list[Term] = []
        self._given: set[tuple[Any, ...]] = set()
        self._name_sizes = [0]
        self._level_depths = [0]
        self._term_depths: list[int] = []

    def refuse(self, expected: str, got: object = None) -> NoReturn:
        """Refuse the line that is being read."""
        shown = str(got) if isinstance(got, Name) else got
        raise Refusal("EXPORT_MALFORMED", f"/{self.line}", expected, shown)

    def read_line(self, line: bytes) -> None:
        """Read one line, its line feed left out."""
        self.line += 1
        if len(line) > limits.EXPORT_LINE_BYTES:
            raise Refusal("LIMIT_SIZE", f"/{self.line}", f"at most {limits.EXPORT_LINE_BYTES}")
        try:
            value = decode(line.decode("utf-8"))
        except RecursionError:
            raise Refusal("LIMIT_DEPTH", f"/{self.line}", "an object of flat members") from None
        except ValueError as fault:
            self.refuse("an object in JSON", fault)
        if type(value) is not dict:
            self.refuse("an object")
        if self.line == 1:
            self._meta(value)
        elif "ie" in value:
            self._numbered(value, "ie", len(self.terms), _TERM_READERS)
        elif "in" in value:
            self._numbered(value, "in", len(self.names), _NAME_READERS)
        elif "il" in value:
            self._numbered(value, "il", len(self.levels), _LEVEL_READERS)
        else:
            self._declare(value)

    def _meta(self, value: dict[str, Any]) -> None:
        meta = self.members(value, {"meta"})["meta"]
        self.members(meta, {"exporter", "lean", "format"})
        self.members(meta["exporter"], {"name", "version"})
        self.members(meta["lean"], {"githash", "version"})
        self.members(meta["format"], {"version"})
        for part in ("exporter", "lean", "format"):
            for text in meta[part].values():
                self.text(text)
        if meta["format"]["version"] != FORMAT:
            self.refuse(f"format {FORMAT}", meta["format"]["version"])

    def _numbered(
        self,
        value: dict[str, Any],
        tag: str,
        number: int,
        readers: "_Readers",
    ) -> None:
        if value.pop(tag) != number or len(value) != 1:
            self.refuse(f"{tag} {number} and one member more")
        ((kind, detail),) = value.items()
        if kind not in readers:
            self.refuse("a known kind", kind)
        readers[kind](self, detail)

    # Parts of lines.

    def members(self, value: Any, wanted: "set[str] | frozenset[str]") -> dict[str, Any]:
        """Give an object that has exactly some members."""
        if type(value) is not dict or value.keys() != wanted:
            self.refuse("the members " + ", ".join(sorted(wanted)))
        found: dict[str, Any] = value
        return found

    def count(self, value: Any) -> int:
        """Give a natural number that counts something."""
        if type(value) is not int or not 0 <= value <= limits.EXPORT_COUNT:
            self.refuse(f"a natural number up to {limits.EXPORT_COUNT}", value)
        return value

    def text(self, value: Any) -> str:
        """Give a string that can be written in UTF-8."""
        if type(value) is not str or (not value.isascii() and has_surrogate(value)):
            self.refuse("a string of Unicode scalar values")
        return value

    def no(self, value: Any, what: str) -> None:
        """Refuse anything but false."""
        if value is not False:
            self.refuse(f"{what}: false", value)

    def flag(self, value: Any) -> bool:
        """Give a Boolean."""
        if type(value) is not bool:
            self.refuse("true or false", value)
        return value

    def items(self, value: Any) -> list[Any]:
        """Give an array."""
        if type(value) is not list:
            self.refuse("an array")
        return value

    def _reference(self, value: Any, given: list[Any], what: str) -> Any:
        if type(value) is not int or not 0 <= value < len(given):
            self.refuse(f"the number of a {what} given before", value)
        return given[value]

    def name(self, value: Any) -> Name:
        """Give the name of a number."""
        found: Name = self._reference(value, self.names, "name")
        return found

    def name_list(self, value: Any) -> tuple[Name, ...]:
        """Give the names of an array of numbers."""
        return tuple(self.name(item) for item in self.items(value))

    def level(self, value: Any) -> Level:
        """Give the level of a number."""
        found: Level = self._reference(value, self.levels, "level")
        return found

    def term(self, value: Any) -> Term:
        """Give the term of a number."""
        found: Term = self._reference(value, self.terms, "term")
        return found

    # Names, levels, terms.

    def _new(self, *key: Any) -> None:
        if key in self._given:
            self.refuse("no second line for the same", key[0])
        self._given.add(key)

    def add_name(self, before: Any, part: str | int) -> None:
        """Number the name below another."""
        parent = self.name(before)
        size = self._name_sizes[before] + 1
        if size > limits.EXPORT_NAME_PARTS:
            raise Refusal("LIMIT_DEPTH", f"/{self.line}", f"{limits.EXPORT_NAME_PARTS} components")
        self._new("name", before, part)
        self.names.append(self.make.child(parent, part))
        self._name_sizes.append(size)

    def _str(self, value: Any) -> None:
        self.members(value, _MEMBERS["str"])
        self.add_name(value["pre"], self.text(value["str"]))

    def _num(self, value: Any) -> None:
        self.members(value, _MEMBERS["num"])
        self.add_name(value["pre"], self.count(value["i"]))

    def _add_level(self, level: Level, *below: int) -> None:
        depth = 1 + max((self._level_depths[one] for one in below), default=0)
        self._within_depth(depth)
        self._new("level", level)
        self.levels.append(level)
        self._level_depths.append(depth)

    def _within_depth(self, depth: int) -> None:
        if depth > limits.EXPORT_DEPTH:
            raise Refusal("LIMIT_DEPTH", f"/{self.line}", f"at most {limits.EXPORT_DEPTH}")

    def _succ(self, value: Any) -> None:
        self._add_level(self.make.succ(self.level(value)), value)

    def _two(self, value: Any) -> tuple[Level, Level]:
        if len(self.items(value)) != 2:
            self.refuse("two levels")
        return self.level(value[0]), self.level(value[1])

    def _max(self, value: Any) -> None:
        self._add_level(self.make.max(*self._two(value)), *value)

    def _imax(self, value: Any) -> None:
        self._add_level(self.make.imax(*self._two(value)), *value)

    def _param(self, value: Any) -> None:
        self._add_level(self.make.param(self.name(value)))

    def _add_term(self, term: Term, key: tuple[Any, ...], *below: int) -> None:
        depth = 1 + max((self._term_depths[one] for one in below), default=0)
        self._within_depth(depth)
        self._new(*key)
        self.terms.append(term)
        self._term_depths.append(depth)

    def _bvar(self, value: Any) -> None:
        self._add_term(self.make.bvar(self.count(value)), ("bvar", value))

    def _sort(self, value: Any) -> None:
        self._add_term(self.make.sort(self.level(value)), ("sort", value))

    def _const(self, value: Any) -> None:
        self.members(value, _MEMBERS["const"])
        levels = tuple(self.level(item) for item in self.items(value["us"]))
        term = self.make.const(self.name(value["name"]), levels)
        self._add_term(term, ("const", value["name"], *value["us"]))

    def _app(self, value: Any) -> None:
        self.members(value, _MEMBERS["app"])
        function, argument = value["fn"], value["arg"]
        term = self.make.app(self.term(function), self.term(argument))
        self._add_term(term, ("app", function, argument), function, argument)

    def _binder(self, kind: int, word: str, value: Any) -> None:
        self.members(value, _MEMBERS[word])
        name, type_, body, info = (value[key] for key in ("name", "type", "body", "binderInfo"))
        self.name(name)
        if type(info) is not str or info not in BINDERS:
            self.refuse("a kind of binder", info)
        term = self.make.binder(kind, self.term(type_), self.term(body))
        self._add_term(term, (word, name, type_, body, info), type_, body)

    def _let(self, value: Any) -> None:
        self.members(value, _MEMBERS["letE"])
        self.no(value["nondep"], "nondep")
        self.name(value["name"])
        below = [value[key] for key in ("type", "value", "body")]
        term = self.make.let(*(self.term(one) for one in below))
        self._add_term(term, ("let", value["name"], *below), *below)

    def _nat(self, value: Any) -> None:
        digits = self.text(value)
        if not (digits.isascii() and digits.isdecimal()) or digits[0] == "0" != digits:
            self.refuse("a decimal numeral without leading zeros", digits[:40])
        if len(digits) > limits.EXPORT_DIGITS:
            raise Refusal("LIMIT_SIZE", f"/{self.line}", f"{limits.EXPORT_DIGITS} digits")
        self._add_term(self.make.nat(whole_number(digits)), ("nat", digits))

    def _string(self, value: Any) -> None:
        self._add_term(self.make.string(self.text(value)), ("string", value))

    def _proj(self, value: Any) -> None:
        self.members(value, _MEMBERS["proj"])
        name, index, structure = (value[key] for key in ("typeName", "idx", "struct"))
        term = self.make.proj(self.name(name), self.count(index), self.term(structure))
        self._add_term(term, ("proj", name, index, structure), structure)


_Readers = dict[str, Callable[[LineReader, Any], None]]
_NAME_READERS: _Readers = {"str": LineReader._str, "num": LineReader._num}
_LEVEL_READERS: _Readers = {
    "succ": LineReader._succ,
    "max": LineReader._max,
    "imax": LineReader._imax,
    "param": LineReader._param,
}
_TERM_READERS: _Readers = {
    "bvar": LineReader._bvar,
    "sort": LineReader._sort,
    "const": LineReader._const,
    "app": LineReader._app,
    "lam": lambda reader, value: reader._binder(LAM, "lam", value),
    "forallE": lambda reader, value: reader._binder(PI, "forallE", value),
    "letE": LineReader._let,
    "natVal": LineReader._nat,
    "strVal": LineReader._string,
    "proj": LineReader._proj,
}
