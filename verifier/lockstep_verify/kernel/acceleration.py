"""When arithmetic on literals may stand for the definitions of its functions.

Functions by recursion are accepted by equations that must hold by definition for all numbers;
division and remainder by the theorem that fixes them, once it has been checked, which is known by
the digest of its statement and thereby of everything that it speaks of.
"""

from typing import Any

from lockstep_verify import spec
from lockstep_verify.kernel.declarations import Constant, Group
from lockstep_verify.kernel.environment import Environment
from lockstep_verify.kernel.inductive import Inductives
from lockstep_verify.kernel.reasons import refuse
from lockstep_verify.kernel.terms import PI, Name, Term

EQUATIONS: dict[str, list[str]] = spec.load("lean-kernel.json")["equations"]
"""In Polish notation: the functions below `Nat`, of the numbers x and y."""

ARITIES = {"zero": 0, "succ": 1, "pred": 1, "true": 0, "false": 0}
"""Of the words in equations that do not take two numbers."""

SPECIFICATIONS: dict[str, Any] = spec.load("lean-kernel.json")["specifications"]
"""By the name of a theorem below `Nat`: the digest of its statement, and what it fixes."""


class Acceleration(Inductives):
    """Accepts literals and accelerated functions as their declarations come by."""

    def __init__(self, environment: Environment, digests: dict[Name, str]) -> None:
        super().__init__(environment)
        self.digests = digests

    def accelerate(self, declaration: Constant | Group) -> None:
        """Look at a declaration that has been checked for what it says of arithmetic.

        Raises:
            KernelRefusal: NATURALS_REDEFINED, ACCELERATION_NOT_JUSTIFIED.
        """
        if isinstance(declaration, Group):
            self._literals(declaration)
            return
        name = declaration.name
        if name in (self.naturals.nat_name, self.naturals.bool_name):
            refuse("NATURALS_REDEFINED", f"{name} is no inductive type")
        if name.parent is not self.naturals.nat_name or not isinstance(name.part, str):
            return
        if declaration.kind == "thm" and name.part in SPECIFICATIONS:
            fixed = SPECIFICATIONS[name.part]
            if self.digests[name] != fixed["statement_sha256"]:
                refuse("ACCELERATION_NOT_JUSTIFIED", f"{name} states something else")
            for function in fixed["functions"]:
                self.environment.accelerated[self.naturals.function(function)] = function
        elif name.part in EQUATIONS and declaration.kind != "thm":
            for equation in EQUATIONS[name.part]:
                if declaration.kind != "def" or not self._holds(equation):
                    refuse("ACCELERATION_NOT_JUSTIFIED", f"{name}: {equation} does not hold")
            self.environment.accelerated[name] = name.part
        else:
            return
        self.forget()

    def _literals(self, group: Group) -> None:
        """Refuse a `Nat` or `Bool` that is not what literals and comparisons stand for."""
        naturals, make = self.naturals, self.terms
        one = group.types[0]
        nat, truth = naturals.type, naturals.bool
        step = make.binder(PI, nat, nat)
        shapes = {
            naturals.nat_name: [(naturals.zero, nat), (naturals.succ, step)],
            naturals.bool_name: [(naturals.false, truth), (naturals.true, truth)],
        }
        if one.name not in shapes:
            return
        sort = make.sort(make.succ(make.zero))
        given = [(make.const(inner.name, ()), inner.type) for inner in one.constructors]
        if one.universes or one.type is not sort or given != shapes[one.name]:
            refuse("NATURALS_REDEFINED", str(one.name))
        naturals.accepted = naturals.accepted or one.name is naturals.nat_name

    def _holds(self, equation: str) -> bool:
        left, right = equation.split(" = ")
        return self._same(self._term(left), self._term(right))

    def _same(self, a: Term | None, b: Term | None) -> bool:
        return a is not None and b is not None and self.equal(a, b)

    def _term(self, text: str) -> Term | None:
        """Read Polish notation; None where a constant is not there or has another type."""
        words = iter(text.split())
        naturals = self.naturals

        def read() -> Term | None:
            word = next(words)
            if word in ("x", "y"):
                return self.terms.variable("xy".index(word), naturals.type)
            truth = word in ("true", "false")
            name = self.terms.name("Bool", word) if truth else naturals.function(word)
            if name not in self.environment.constants:
                return None
            arguments = [read() for _ in range(ARITIES.get(word, 2))]
            term = self.terms.const(name, ())
            for argument in arguments:
                if argument is None:
                    return None
                term = self.terms.app(term, argument)
            return term

        term = read()
        if term is not None:
            self.check(term)
        return term
