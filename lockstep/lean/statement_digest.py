"""Statement digests: 32 bytes that stand for what a theorem says, down to the last definition.

The encoding is that of spec/lean-export.md [EXP-11 to EXP-17]: every level, term and constant has
a digest over a tag, the digests of its parts and fixed-width numbers.
"""

import hashlib

from lockstep.errors import LockstepError
from lockstep.lean import declarations
from lockstep.lean.declarations import Constant
from lockstep.lean.environment import Environment, recursor_place
from lockstep.lean.terms import Name, in_order, show

_LEVEL_TAGS = {"zero": 0x00, "succ": 0x01, "max": 0x02, "imax": 0x03, "param": 0x04}
_TERM_TAGS = {
    "bvar": 0x10,
    "sort": 0x11,
    "const": 0x12,
    "app": 0x13,
    "lam": 0x14,
    "pi": 0x15,
    "let": 0x16,
    "nat": 0x17,
    "str": 0x18,
    "proj": 0x19,
}
_DEFINITION, _THEOREM, _AXIOM, _OPAQUE, _QUOTIENT = 0x20, 0x21, 0x22, 0x23, 0x24
_GROUP, _TYPE, _CONSTRUCTOR, _RECURSOR, _OWN_TYPE = 0x25, 0x26, 0x27, 0x28, 0x29
_NAME, _STATEMENT = 0x2A, 0x30

NAT: Name = ("Nat",)
STRING_PARTS: tuple[Name, ...] = (("String", "ofList"), ("Char", "ofNat"))
"""The constants that a string literal stands for an application of."""


def digest(tag: int, *parts: bytes) -> bytes:
    """Hash a tag and its parts [EXP-11]."""
    return hashlib.sha256(bytes((tag,)) + b"".join(parts)).digest()


def number(value: int) -> bytes:
    """Write a count in 8 bytes, big end first [EXP-11]."""
    return value.to_bytes(8, "big")


def name_digest(name: Name) -> bytes:
    """Hash a name, component by component [EXP-12]."""
    parts = []
    for part in name:
        data = part.encode("utf-8") if isinstance(part, str) else number(part)
        parts += [bytes((isinstance(part, int),)), number(len(data)), data]
    return digest(_NAME, number(len(name)), *parts)


def used_constants(environment: Environment, constant: Constant) -> list[Name]:
    """List the constants that the terms of a constant name or compute with, sorted and distinct.

    A natural literal counts as a use of `Nat`, a string literal as one of what it stands for.
    """
    return used_in(environment, declarations.terms_of(constant))


def used_in(environment: Environment, roots: list[int]) -> list[Name]:
    """List the constants that some terms name or compute with, sorted and distinct."""
    found: set[Name] = set()
    for place in environment.terms.within(roots):
        node = environment.terms.terms[place]
        if node[0] in ("const", "proj"):
            found.add(node[1])
        elif node[0] == "nat":
            found.add(NAT)
        elif node[0] == "str":
            found.update(STRING_PARTS)
    return sorted(found, key=lambda name: [(isinstance(part, str), part) for part in name])


class StatementDigests:
    """Digests of the constants of an environment, each made once.

    Raises:
        LockstepError: OLEAN_MALFORMED where a constant is unsafe, is missing, or rests on itself.
    """

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self._keys: dict[Name, bytes] = {}
        self._levels: dict[tuple[tuple[Name, ...], int], bytes] = {}

    def statement(self, name: Name) -> str:
        """Give the statement digest of a theorem, in hex [EXP-17]."""
        constant = self.environment.constant(name)
        self._prepare(used_in(self.environment, [constant.type]))
        parts = name_digest(name), number(len(constant.universes)), self._type(constant)
        return digest(_STATEMENT, *parts).hex()

    def constant(self, name: Name) -> bytes:
        """Give the digest of what a constant means [EXP-15, EXP-16]."""
        self._prepare([name])
        return self._reference(name)

    def _prepare(self, names: list[Name]) -> None:
        """Make the digests of constants, and first those of what they rest on."""
        open_keys: set[Name] = set()
        stack = [(self._key(name), False) for name in names]
        while stack:
            key, ready = stack.pop()
            if key in self._keys:
                continue
            if ready:
                self._keys[key] = self._own(self.environment.constant(key))
                continue
            if key in open_keys:
                raise LockstepError("OLEAN_MALFORMED", show(key), "a constant not in a circle")
            open_keys.add(key)
            stack.append((key, True))
            stack.extend((self._key(name), False) for name in self._parts(key))

    def _key(self, name: Name) -> Name:
        """Give the name under which a constant's digest is kept: its group's first type, if any."""
        constant = self.environment.constant(name)
        return self.environment.group_of(constant) or name

    def _parts(self, key: Name) -> list[Name]:
        """List the constants whose digests enter that of `key`, its own group left out."""
        constant = self.environment.constant(key)
        if isinstance(constant, declarations.Inductive):
            roots = [member.type for member in self._members(constant)]
        elif isinstance(constant, declarations.Theorem):
            roots = [constant.type]
        else:
            roots = declarations.terms_of(constant)
        group = constant.group if isinstance(constant, declarations.Inductive) else ()
        return [name for name in used_in(self.environment, roots) if name not in group]

    def _members(self, first: declarations.Inductive) -> list[Constant]:
        members: list[Constant] = []
        for name in first.group:
            one = self.environment.inductive(name)
            members += [one, *(self.environment.constant(inner) for inner in one.constructors)]
        return members

    def _own(self, constant: Constant) -> bytes:
        """Make the digest kept under a constant's name: its own, or its group's."""
        if declarations.is_unsafe(constant):
            raise LockstepError("OLEAN_MALFORMED", show(constant.name), "a safe constant")
        count = number(len(constant.universes))
        match constant:
            case declarations.Inductive():
                return self._group(constant)
            case declarations.Theorem():
                return digest(_THEOREM, count, self._type(constant))
            case declarations.Definition():
                value = self._term(constant, constant.value)
                return digest(_DEFINITION, count, self._type(constant), value)
            case declarations.Opaque():
                value = self._term(constant, constant.value)
                name = name_digest(constant.name)
                return digest(_OPAQUE, name, count, self._type(constant), value)
            case declarations.Axiom():
                return digest(_AXIOM, name_digest(constant.name), count, self._type(constant))
            case declarations.Quotient():
                kind = ("type", "ctor", "lift", "ind").index(constant.kind)
                return digest(_QUOTIENT, bytes((kind,)), count, self._type(constant))
        raise TypeError(f"no digest for {type(constant).__name__}")

    def _group(self, first: declarations.Inductive) -> bytes:
        """Make the digest of an inductive group [EXP-16]."""
        own = {name: digest(_OWN_TYPE, number(at)) for at, name in enumerate(first.group)}
        parts = [number(len(first.universes)), number(first.parameters), number(len(first.group))]
        for name in first.group:
            one = self.environment.inductive(name)
            parts += [name_digest(name), self._term(one, one.type, own)]
            parts.append(number(len(one.constructors)))
            for inner in one.constructors:
                constructor = self.environment.constant(inner)
                parts += [name_digest(inner), self._term(constructor, constructor.type, own)]
        return digest(_GROUP, *parts)

    def _reference(self, name: Name) -> bytes:
        """Give the digest by which a term refers to a constant whose digests are made."""
        constant = self.environment.constant(name)
        key = self._keys[self._key(name)]
        match constant:
            case declarations.Inductive():
                return digest(_TYPE, key, number(constant.group.index(name)))
            case declarations.Constructor():
                group = self.environment.inductive(constant.inductive).group
                place = group.index(constant.inductive)
                return digest(_CONSTRUCTOR, key, number(place), number(constant.place))
            case declarations.Recursor():
                return digest(_RECURSOR, key, number(recursor_place(constant)))
        return key

    def _type(self, constant: Constant) -> bytes:
        return self._term(constant, constant.type)

    def _level(self, universes: tuple[Name, ...], level: int) -> bytes:
        """Hash a universe level; parameters go by their position [EXP-13]."""
        nodes = self.environment.terms.levels
        made = self._levels

        def parts(place: int) -> list[int]:
            return list(nodes[place][1:]) if nodes[place][0] != "param" else []

        for place in in_order([level], parts, lambda one: (universes, one) in made):
            kind, *below = nodes[place]
            if kind == "param":
                if below[0] not in universes:
                    raise LockstepError(
                        "OLEAN_MALFORMED", show(below[0]), "a universe that is declared"
                    )
                inner = [number(universes.index(below[0]))]
            else:
                inner = [made[universes, one] for one in below]
            made[universes, place] = digest(_LEVEL_TAGS[kind], *inner)
        return made[universes, level]

    def _term(self, owner: Constant, term: int, own: dict[Name, bytes] | None = None) -> bytes:
        """Hash a term of `owner` [EXP-14]; `own` refers to the types of the owner's group."""
        terms = self.environment.terms
        made: dict[int, bytes] = {}
        references: dict[Name, bytes] = dict(own or {})

        def reference(name: Name) -> bytes:
            if name not in references:
                references[name] = self._reference(name)
            return references[name]

        for place in in_order([term], terms.below, made.__contains__):
            kind, *rest = terms.terms[place]
            below = [made[one] for one in terms.below(place)]
            match kind:
                case "bvar":
                    parts = [number(rest[0])]
                case "sort":
                    parts = [self._level(owner.universes, rest[0])]
                case "const":
                    levels = [self._level(owner.universes, one) for one in rest[1]]
                    parts = [reference(rest[0]), number(len(levels)), *levels]
                case "nat":
                    size = (rest[0].bit_length() + 7) // 8
                    parts = [reference(NAT), rest[0].to_bytes(size, "big")]
                case "str":
                    parts = [*map(reference, STRING_PARTS), rest[0].encode("utf-8")]
                case "proj":
                    parts = [reference(rest[0]), number(rest[1]), *below]
                case _:
                    parts = below
            made[place] = digest(_TERM_TAGS[kind], *parts)
        return made[term]
