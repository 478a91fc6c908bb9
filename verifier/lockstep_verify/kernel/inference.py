"""Types of terms, with or without checking that they have one."""

from typing import NoReturn

from lockstep_verify.kernel.declarations import Type
from lockstep_verify.kernel.environment import Environment
from lockstep_verify.kernel.reasons import refuse
from lockstep_verify.kernel.reduction import Reduction
from lockstep_verify.kernel.terms import (
    APP,
    CONST,
    FREE,
    LAM,
    LET,
    NAT,
    PI,
    PROJ,
    SORT,
    Level,
    Term,
    spine,
)


class Inference(Reduction):
    """Infers types over what reduction offers."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self._inferred: dict[Term, Term] = {}
        self._checked: dict[Term, Term] = {}

    def forget(self) -> None:
        """Forget what was found so far."""
        super().forget()
        self._inferred.clear()
        self._checked.clear()

    def infer(self, term: Term) -> Term:
        """Give the type of a term that is known to have one."""
        return self._type(term, False)

    def check(self, term: Term) -> Term:
        """Give the type of a term, checking all within it.

        Raises:
            KernelRefusal: it has none.
        """
        return self._type(term, True)

    def sort_of(self, term: Term, check: bool = False) -> Level:
        """Give the level of the sort that a term, which should be a type, lives in."""
        sort = self._type(term, check)
        if sort.kind != SORT:
            sort = self.whnf(sort)
        if sort.kind != SORT:
            refuse("NOT_A_TYPE", "a sort is needed here")
        level: Level = sort.a
        return level

    def is_proposition(self, term: Term) -> bool:
        """Say whether a term is a proposition, which lives in the sort zero."""
        sort = self.whnf(self.infer(term))
        return sort.kind == SORT and self.levels.is_zero(sort.a)

    def _type(self, term: Term, check: bool) -> Term:
        if term.loose:
            refuse("LOOSE_BOUND_VARIABLE", f"index {term.loose - 1}")
        found = self._checked.get(term)
        if found is None and not check:
            found = self._inferred.get(term)
        if found is not None:
            return found
        found = self._type_of(term, check)
        (self._checked if check else self._inferred)[term] = found
        return found

    def _type_of(self, term: Term, check: bool) -> Term:
        make = self.terms
        kind = term.kind
        if kind == APP:
            return self._application(term, check)
        if kind == CONST:
            return self._constant(term)
        if kind == LAM:
            return self._lambda(term, check)
        if kind == PI:
            return self._product(term, check)
        if kind == FREE:
            type_: Term = term.b
            return type_
        if kind == SORT:
            return make.sort(make.succ(term.a))
        if kind == LET:
            return self._let(term, check)
        if kind == PROJ:
            return self._projection(term, check)
        if kind == NAT:
            if not self.naturals.accepted:
                refuse("NATURALS_REDEFINED", "a natural literal without Nat")
            return self.naturals.type
        return refuse("STRING_NOT_SUPPORTED", "a string literal")

    def _constant(self, term: Term) -> Term:
        known = self.environment.constants.get(term.a)
        if known is None:
            # The reader admits no constant that is not declared before.
            raise KeyError(str(term.a))
        if len(known.universes) != len(term.b):
            detail = f"{term.a} has {len(known.universes)}, not {len(term.b)}"
            refuse("UNIVERSE_COUNT", detail)
        values = dict(zip(known.universes, term.b, strict=True))
        return self.substitution.instantiate_levels(known.type, values)

    def _application(self, term: Term, check: bool) -> Term:
        instantiate = self.substitution.instantiate
        head, arguments = spine(term)
        type_ = self._type(head, check)
        pending: list[Term] = []
        for argument in arguments:
            if type_.kind != PI:
                type_, pending = self.whnf(instantiate(type_, pending)), []
                if type_.kind != PI:
                    refuse("NOT_A_FUNCTION", "more arguments than the function takes")
            if check:
                domain = instantiate(type_.a, pending)
                own = self._type(argument, True)
                if not self.equal(own, domain):
                    refuse(
                        "ARGUMENT_TYPE", f"argument {arguments.index(argument)} of {_name(head)}"
                    )
            pending.append(argument)
            type_ = type_.b
        return instantiate(type_, pending)

    def _lambda(self, term: Term, check: bool) -> Term:
        instantiate = self.substitution.instantiate
        variables: list[Term] = []
        base = term.free
        while term.kind == LAM:
            type_ = instantiate(term.a, variables)
            if check:
                self.sort_of(type_, True)
            variables.append(self.terms.variable(base + len(variables), type_))
            term = term.b
        body = self._type(instantiate(term, variables), check)
        return self.substitution.bind(PI, variables, body)

    def _product(self, term: Term, check: bool) -> Term:
        instantiate = self.substitution.instantiate
        variables: list[Term] = []
        levels = []
        base = term.free
        while term.kind == PI:
            type_ = instantiate(term.a, variables)
            levels.append(self.sort_of(type_, check))
            variables.append(self.terms.variable(base + len(variables), type_))
            term = term.b
        level = self.sort_of(instantiate(term, variables), check)
        for one in reversed(levels):
            level = self.terms.imax(one, level)
        return self.terms.sort(level)

    def _let(self, term: Term, check: bool) -> Term:
        if check:
            self.sort_of(term.a, True)
            if not self.equal(self._type(term.b, True), term.a):
                refuse("LET_TYPE", "the value has another type than is declared")
        return self._type(self.substitution.instantiate(term.c, [term.b]), check)

    def _projection(self, term: Term, check: bool) -> Term:
        type_ = self.whnf(self._type(term.c, check))
        head, arguments = spine(type_)
        what = self.environment.what(head)
        if head.a is not term.a or not isinstance(what, Type) or len(what.constructors) != 1:
            self._no_field(term)
        structure = what
        # A type has no fields while its own constructors are being checked.
        ready = structure.constructors[0].name in self.environment.constants
        if not ready or len(arguments) != structure.params + structure.indices:
            self._no_field(term)
        constructor = self.terms.const(structure.constructors[0].name, head.b)
        rest = self._constant(constructor)
        maybe_proof = not self.levels.never_zero(self.sort_of(type_))
        for argument in arguments[: structure.params]:
            rest = self.whnf(rest)
            if rest.kind != PI:
                self._no_field(term)
            rest = self.substitution.instantiate(rest.b, [argument])
        for index in range(term.b + 1):
            rest = self.whnf(rest)
            if rest.kind != PI:
                self._no_field(term)
            last = index == term.b
            # Data must not come out of a proof, nor a field that depends on such data.
            if maybe_proof and (last or rest.b.loose) and not self.is_proposition(rest.a):
                refuse("PROJECTION_FROM_PROP", f"field {index} of {structure.name}")
            if not last:
                field = self.terms.proj(term.a, index, term.c)
                rest = self.substitution.instantiate(rest.b, [field])
        found: Term = rest.a
        return found

    def _no_field(self, term: Term) -> NoReturn:
        refuse("PROJECTION", f"no field {term.b} of {term.a} here")


def _name(head: Term) -> str:
    return str(head.a) if head.kind == CONST else "a term"
