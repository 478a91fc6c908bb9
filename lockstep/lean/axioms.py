"""The axioms that constants rest on, through types, values, proofs and groups [EXP-18, EXP-19]."""

from lockstep.lean import declarations
from lockstep.lean.declarations import Constant
from lockstep.lean.environment import Environment
from lockstep.lean.statement_digest import used_constants
from lockstep.lean.terms import Name, show


def rests_on(environment: Environment, constant: Constant) -> list[Name]:
    """List the constants that one rests on directly.

    What belongs to an inductive group rests on all of its group; that of a type and of each
    constructor is their own terms'.
    """
    used = used_constants(environment, constant)
    match constant:
        case declarations.Inductive():
            return [*used, *constant.group, *constant.constructors]
        case declarations.Constructor():
            return [*used, constant.inductive]
        case declarations.Recursor():
            return [*used, *constant.group]
    return used


def closure(environment: Environment, names: list[Name]) -> set[Name]:
    """Collect the constants that some rest on, themselves included."""
    seen = set(names)
    stack = list(names)
    while stack:
        for other in rests_on(environment, environment.constant(stack.pop())):
            if other not in seen:
                seen.add(other)
                stack.append(other)
    return seen


class Axioms:
    """Axiom lists of the constants of an environment; what is shared is walked once."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self._direct: dict[Name, list[Name]] = {}

    def of(self, name: Name) -> list[str]:
        """List the names of the axioms that a constant rests on, sorted."""
        seen = {name}
        stack = [name]
        found = set()
        while stack:
            one = stack.pop()
            if isinstance(self.environment.constant(one), declarations.Axiom):
                found.add(show(one))
            for other in self._rests_on(one):
                if other not in seen:
                    seen.add(other)
                    stack.append(other)
        return sorted(found)

    def _rests_on(self, name: Name) -> list[Name]:
        if name not in self._direct:
            constant = self.environment.constant(name)
            self._direct[name] = rests_on(self.environment, constant)
        return self._direct[name]
