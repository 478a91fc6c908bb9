"""The declarations that have been checked, as reduction and inference look them up."""

from typing import NamedTuple

from lockstep_verify.kernel.declarations import Constant, Constructor, Recursor, Type
from lockstep_verify.kernel.terms import CONST, Name, Term, Terms


class Known(NamedTuple):
    """A checked constant: its universe parameters, its type, and what it is."""

    universes: tuple[Name, ...]
    type: Term
    what: Constant | Type | Constructor | Recursor


class Environment:
    """Checked constants by name, and the arithmetic functions among them that are accelerated."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.constants: dict[Name, Known] = {}
        self.accelerated: dict[Name, str] = {}

    def what(self, head: Term) -> Constant | Type | Constructor | Recursor | None:
        """Say what a term is, if it is a constant."""
        known = self.constants.get(head.a) if head.kind == CONST else None
        return None if known is None else known.what

    def constructor(self, head: Term) -> Constructor | None:
        """Give the constructor that a term is, if it is one."""
        what = self.what(head)
        return what if isinstance(what, Constructor) else None

    def structure(self, head: Term) -> Type | None:
        """Give a type of one constructor, without indices, that does not contain itself."""
        what = self.what(head)
        if not isinstance(what, Type) or what.indices or what.recursive:
            return None
        return what if len(what.constructors) == 1 else None
