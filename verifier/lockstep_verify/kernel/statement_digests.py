"""What an export's theorems state, by digest, and the axioms they rest on (EXP-11 to EXP-21)."""

import hashlib

from lockstep_verify.errors import Refusal
from lockstep_verify.kernel.declarations import Constant, Export, Group, names_of
from lockstep_verify.kernel.export_declarations import read
from lockstep_verify.kernel.terms import (
    CONST,
    NAT,
    PARAM,
    PROJ,
    STR,
    ZERO,
    Level,
    Name,
    Term,
    parts,
)

_QUOTIENTS = ("type", "ctor", "lift", "ind")


def theorems(data: bytes) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Derive from an export each theorem's statement digest, in hex, and its axioms.

    Raises:
        Refusal: EXPORT_MALFORMED, LIMIT_SIZE or LIMIT_DEPTH, with the line as its pointer.
    """
    export = read(data)
    digests, axioms = statements(export), _axioms(export)
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    for one in export.declarations:
        if isinstance(one, Constant) and one.kind == "thm":
            text = str(one.name)
            if text in found:
                raise Refusal("EXPORT_MALFORMED", f"/{one.line}", "a name of its own", text)
            found[text] = (digests[one.name], axioms[one.name])
    return found


def statements(export: Export) -> dict[Name, str]:
    """Derive the digest of what each constant outside inductive groups states, in hex (EXP-17)."""
    meaning = _Meaning(export)
    found: dict[Name, str] = {}
    for one in export.declarations:
        digest = meaning.declare(one)
        if isinstance(one, Constant):
            found[one.name] = digest.hex()
    return found


def _hash(tag: int, *pieces: bytes) -> bytes:
    return hashlib.sha256(bytes((tag,)) + b"".join(pieces)).digest()


def _n(value: int) -> bytes:
    return value.to_bytes(8, "big")


def _name(name: Name) -> bytes:
    """EXP-12."""
    pieces = [_n(len(name.parts()))]
    for part in name.parts():
        if isinstance(part, int):
            pieces += [b"\x01", _n(8), _n(part)]
        else:
            text = part.encode()
            pieces += [b"\x00", _n(len(text)), text]
    return _hash(0x2A, *pieces)


class _Meaning:
    """References to constants (EXP-15), made in the order of their declarations."""

    def __init__(self, export: Export) -> None:
        name = export.terms.name
        self._nat = name("Nat")
        self._string = (name("String", "ofList"), name("Char", "ofNat"))
        self._references: dict[Name, bytes] = {}
        # Digests of terms without level parameters, which hold in every declaration.
        self._shared: dict[Term, bytes] = {}
        self._own: dict[Term, bytes] = {}
        self._levels: dict[Level, bytes] = {}
        self._universes: tuple[Name, ...] = ()

    def declare(self, one: Constant | Group) -> bytes:
        """Make the references of a declaration's constants; give a theorem's statement digest."""
        self._own, self._levels = {}, {}
        if isinstance(one, Group):
            self._universes = one.types[0].universes
            return self._group(one)
        self._universes = one.universes
        head = (_n(len(one.universes)), self._term(one.type))
        name = _name(one.name)
        value = () if one.value is None or one.kind == "thm" else (self._term(one.value),)
        match one.kind:
            case "def":
                reference = _hash(0x20, *head, *value)
            case "thm":
                reference = _hash(0x21, *head)
            case "axiom":
                reference = _hash(0x22, name, *head)
            case "opaque":
                reference = _hash(0x23, name, *head, *value)
            case _:
                kind = _QUOTIENTS.index(str(one.detail))
                reference = _hash(0x24, bytes((kind,)), *head)
        self._references[one.name] = reference
        return _hash(0x30, name, *head)

    def _group(self, group: Group) -> bytes:
        """EXP-16."""
        for place, one in enumerate(group.types):
            self._references[one.name] = _hash(0x29, _n(place))
        first = group.types[0]
        pieces = [_n(len(first.universes)), _n(first.params), _n(len(group.types))]
        # Within the group its types stand for themselves, so that nothing of it may be shared.
        shared, self._shared = self._shared, {}
        for one in group.types:
            pieces += [_name(one.name), self._term(one.type), _n(len(one.constructors))]
            for inner in one.constructors:
                pieces += [_name(inner.name), self._term(inner.type)]
        self._shared = shared
        key = _hash(0x25, *pieces)
        for place, one in enumerate(group.types):
            self._references[one.name] = _hash(0x26, key, _n(place))
            for at, inner in enumerate(one.constructors):
                self._references[inner.name] = _hash(0x27, key, _n(place), _n(at))
        for recursor in group.recursors:
            self._references[recursor.name] = _hash(0x28, key, _n(recursor.place))
        return key

    def _level(self, level: Level) -> bytes:
        """EXP-13."""
        stack = [level]
        made = self._levels
        while stack:
            top = stack[-1]
            if top in made:
                stack.pop()
                continue
            below = [] if top.kind in (ZERO, PARAM) else [top.a, top.b][: 1 + (top.b is not None)]
            waiting = [one for one in below if one not in made]
            if waiting:
                stack.extend(waiting)
                continue
            stack.pop()
            if top.kind == PARAM:
                made[top] = _hash(PARAM, _n(self._universes.index(top.a)))
            else:
                made[top] = _hash(top.kind, *(made[one] for one in below))
        return made[level]

    def _known(self, term: Term) -> bytes | None:
        return (self._own if term.poly else self._shared).get(term)

    def _term(self, term: Term) -> bytes:
        """EXP-14."""
        stack = [term]
        while stack:
            top = stack[-1]
            if self._known(top) is not None:
                stack.pop()
                continue
            waiting = [one for one in parts(top) if self._known(one) is None]
            if waiting:
                stack.extend(waiting)
                continue
            stack.pop()
            (self._own if top.poly else self._shared)[top] = self._node(top)
        found = self._known(term)
        return found if found is not None else b""

    def _node(self, term: Term) -> bytes:
        references = self._references
        below = [self._known(one) or b"" for one in parts(term)]
        match term.kind:
            case 0:
                pieces = [_n(term.a)]
            case 1:
                pieces = [self._level(term.a)]
            case 2:
                levels = [self._level(one) for one in term.b]
                pieces = [references[term.a], _n(len(levels)), *levels]
            case 7:
                size = (term.a.bit_length() + 7) // 8
                pieces = [references[self._nat], term.a.to_bytes(size, "big")]
            case 8:
                pieces = [*(references[one] for one in self._string), term.a.encode()]
            case 9:
                pieces = [references[term.a], _n(term.b), *below]
            case _:
                pieces = below
        # The kinds are numbered in the order of the tags.
        return _hash(0x10 + term.kind, *pieces)


def _axioms(export: Export) -> dict[Name, tuple[str, ...]]:
    """List the axioms of each constant (EXP-18, EXP-19)."""
    name = export.terms.name
    implied = {NAT: (name("Nat"),), STR: (name("String", "ofList"), name("Char", "ofNat"))}
    found: dict[Name, frozenset[str]] = {}

    def of(*roots: Term | None) -> frozenset[str]:
        """Join the axioms of the constants that some terms use; a group's own have none yet."""
        used: set[Name] = set()
        stack = [root for root in roots if root is not None]
        seen = set(stack)
        while stack:
            term = stack.pop()
            if term.kind in (CONST, PROJ):
                used.add(term.a)
            used.update(implied.get(term.kind, ()))
            for one in parts(term):
                if one not in seen:
                    seen.add(one)
                    stack.append(one)
        return frozenset().union(*(found.get(one, frozenset()) for one in used))

    for one in export.declarations:
        if isinstance(one, Constant):
            own = frozenset({str(one.name)}) if one.kind == "axiom" else frozenset()
            found[one.name] = own | of(one.type, one.value)
            continue
        constructors = [inner for type_ in one.types for inner in type_.constructors]
        shared = of(*(type_.type for type_ in one.types), *(inner.type for inner in constructors))
        found.update(dict.fromkeys(names_of(one), shared))
        for recursor in one.recursors:
            rules = (rule.value for rule in recursor.rules)
            found[recursor.name] = shared | of(recursor.type, *rules)
    return {name: tuple(sorted(axioms)) for name, axioms in found.items()}
