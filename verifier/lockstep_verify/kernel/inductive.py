"""Inductive types: what a declaration must meet, and the recursor that follows from it.

The derivation is that of Lean's kernel for one type that is not nested; everything that an export
says of a group is compared with what is derived here.
"""

from itertools import zip_longest
from typing import NamedTuple

from lockstep_verify.kernel.declarations import Constant, Constructor, Group, Recursor, Rule, Type
from lockstep_verify.kernel.environment import Known
from lockstep_verify.kernel.equality import Equality
from lockstep_verify.kernel.reasons import refuse
from lockstep_verify.kernel.terms import CONST, LAM, PI, SORT, Level, Name, Term, parts, spine


class Opened(NamedTuple):
    """A type with variables in the place of its parameters.

    Attributes:
        name: of the type.
        head: the type's constant at its own universe parameters.
        params: the variables.
        indices: variables in the place of what follows.
        sort: the level that the type lives in.
    """

    name: Name
    head: Term
    params: list[Term]
    indices: list[Term]
    sort: Level


class Fields(NamedTuple):
    """A constructor with variables in the place of its fields.

    Attributes:
        variables: one a field.
        recursive: those of them that hold the type itself.
        result: the type at the indices that the constructor gives.
    """

    variables: list[Term]
    recursive: list[Term]
    result: Term


class Inductives(Equality):
    """Checks inductive groups over what equality offers."""

    _next: int = 0

    def variable(self, type_: Term) -> Term:
        """Make a variable that occurs nowhere in the group yet."""
        self._next += 1
        return self.terms.variable(self._next - 1, type_)

    def group(self, group: Group) -> None:
        """Check a group and add what it declares.

        Raises:
            KernelRefusal: the group is not one that Lean's kernel would make.
        """
        if len(group.types) != 1:
            refuse("MUTUAL_NOT_SUPPORTED", f"{len(group.types)} types")
        one = group.types[0]
        if one.nested or len(group.recursors) != 1:
            refuse("NESTED_NOT_SUPPORTED", str(one.name))
        self._next = 0
        opened = self._open(one)
        constants = self.environment.constants
        constants[one.name] = Known(one.universes, one.type, one)
        fields = [self._constructor(opened, inner) for inner in one.constructors]
        for inner in one.constructors:
            constants[inner.name] = Known(one.universes, inner.type, inner)
        self._flags(opened, one, fields)
        self._check_recursor(opened, one, fields, group.recursors[0])
        # Flags enter reduction, so that nothing found before the type was whole may stay.
        self.forget()

    def _open(self, one: Type) -> Opened:
        self.sort_of(one.type, True)
        variables, sort = self._telescope(one.type)
        params, indices = variables[: one.params], variables[one.params :]
        if sort.kind != SORT or len(params) != one.params:
            refuse("INDUCTIVE_TYPE", f"{one.name} with {one.params} parameters")
        if len(indices) != one.indices:
            refuse("SIZES", f"{one.name} has {len(indices)} indices, not {one.indices}")
        head = self.terms.const(one.name, tuple(map(self.terms.param, one.universes)))
        return Opened(one.name, head, params, indices, sort.a)

    def _constructor(self, opened: Opened, constructor: Constructor) -> Fields:
        """Check a constructor: parameters, universes, positivity, result."""
        self.sort_of(constructor.type, True)
        name = constructor.name
        type_ = constructor.type
        for param in opened.params:
            if type_.kind != PI or not self.equal(type_.a, param.b):
                refuse("CONSTRUCTOR_PARAMETERS", str(name))
            type_ = self.substitution.instantiate(type_.b, [param])
        variables: list[Term] = []
        recursive: list[Term] = []
        while type_.kind == PI:
            sort = self.sort_of(type_.a)
            if not self.levels.is_zero(opened.sort) and not self.levels.at_most(sort, opened.sort):
                refuse("CONSTRUCTOR_UNIVERSE", f"field {len(variables)} of {name}")
            self._positive(opened, type_.a, f"field {len(variables)} of {name}")
            variable = self.variable(type_.a)
            variables.append(variable)
            if self._is_applied(opened, self._telescope(type_.a)[1]):
                recursive.append(variable)
            type_ = self.substitution.instantiate(type_.b, [variable])
        if not self._is_applied(opened, type_):
            refuse("CONSTRUCTOR_RESULT", str(name))
        if (constructor.params, constructor.fields) != (len(opened.params), len(variables)):
            refuse("SIZES", f"{name} has {len(variables)} fields")
        return Fields(variables, recursive, type_)

    def _is_applied(self, opened: Opened, term: Term) -> bool:
        """Say whether a term is the type at its own parameters and at indices without it."""
        head, arguments = spine(term)
        count = len(opened.params)
        if head is not opened.head or len(arguments) != count + len(opened.indices):
            return False
        return arguments[:count] == opened.params and not any(
            occurs(opened.name, index) for index in arguments[count:]
        )

    def _positive(self, opened: Opened, type_: Term, where: str) -> None:
        while True:
            type_ = self.whnf(type_)
            if not occurs(opened.name, type_):
                return
            if type_.kind != PI:
                break
            if occurs(opened.name, type_.a):
                refuse("NOT_POSITIVE", f"{where}: to the left of an arrow")
            variable = self.variable(type_.a)
            type_ = self.substitution.instantiate(type_.b, [variable])
        if not self._is_applied(opened, type_):
            refuse("NOT_POSITIVE", f"{where}: within another type")

    def _telescope(self, type_: Term) -> tuple[list[Term], Term]:
        """Put variables in the place of what a type takes, reducing on the way."""
        variables: list[Term] = []
        type_ = self.whnf(type_)
        while type_.kind == PI:
            variables.append(self.variable(type_.a))
            type_ = self.whnf(self.substitution.instantiate(type_.b, [variables[-1]]))
        return variables, type_

    def _flags(self, opened: Opened, one: Type, fields: list[Fields]) -> None:
        types = [variable.b for inner in fields for variable in inner.variables]
        holding = [type_ for type_ in types if occurs(opened.name, type_)]
        flags = bool(holding), any(type_.kind == PI for type_ in holding)
        if (one.recursive, one.reflexive) != flags:
            refuse("SIZES", f"{one.name}: isRec and isReflexive are {flags}")

    def _eliminates_into_all(self, opened: Opened, fields: list[Fields]) -> bool:
        """Say whether the recursor may give data: from data, or from proofs that hold none."""
        if self.levels.never_zero(opened.sort) or not fields:
            return True
        if len(fields) > 1:
            return False
        _, given = spine(fields[0].result)
        return all(
            self.is_proposition(variable.b) or variable in given for variable in fields[0].variables
        )

    def _check_recursor(
        self, opened: Opened, one: Type, fields: list[Fields], recursor: Recursor
    ) -> None:
        """Derive the recursor and compare it with the one that is given."""
        into_all = self._eliminates_into_all(opened, fields)
        universes = recursor.universes
        if universes[len(universes) - len(one.universes) :] != one.universes or into_all != (
            len(universes) == len(one.universes) + 1
        ):
            refuse("LARGE_ELIMINATION", f"{recursor.name}: into all sorts {into_all}")
        sizes = (len(opened.params), len(opened.indices), 1, len(fields))
        given = (recursor.params, recursor.indices, recursor.motives, recursor.minors)
        if given != sizes:
            refuse("SIZES", f"{recursor.name}: {given}, not {sizes}")
        is_k = self.levels.is_zero(opened.sort) and [len(one.variables) for one in fields] == [0]
        if recursor.k != is_k:
            refuse("K_FLAG", str(recursor.name))
        level = self.terms.param(universes[0]) if into_all else self.terms.zero
        type_, rules = _Derivation(self, opened, one, fields, recursor, level).derive()
        if not self._as_derived(recursor.type, type_):
            refuse("RECURSOR_TYPE", str(recursor.name))
        # The rules speak of the recursor, which does not compute before they have been compared.
        stuck = Constant("axiom", recursor.name, universes, type_, None, "", 0)
        self.environment.constants[recursor.name] = Known(universes, type_, stuck)
        for rule, derived in zip_longest(recursor.rules, rules):
            same = rule is not None and derived is not None and rule[:2] == derived[:2]
            if not same or not self._as_derived(rule.value, derived.value):
                refuse("RECURSOR_RULE", str(recursor.name))
        derived = recursor._replace(type=type_, rules=rules)
        self.environment.constants[recursor.name] = Known(universes, type_, derived)

    def _as_derived(self, given: Term, derived: Term) -> bool:
        """Say whether a term is the derived one, annotations such as `outParam` aside."""
        if given is derived:
            return True
        self.check(given)
        return self.equal(given, derived)


class _Derivation:
    """The recursor of an opened type: its type and its rules."""

    def __init__(
        self,
        kernel: Inductives,
        opened: Opened,
        one: Type,
        fields: list[Fields],
        recursor: Recursor,
        level: Level,
    ) -> None:
        self.kernel = kernel
        self.opened = opened
        self.one = one
        self.fields = fields
        terms = self.terms = kernel.terms
        self.bind = kernel.substitution.bind
        self.head = terms.const(recursor.name, tuple(map(terms.param, recursor.universes)))
        self.applied = terms.apps(opened.head, opened.params)
        self.major = kernel.variable(terms.apps(self.applied, self.opened.indices))
        motive = self.bind(PI, [*self.opened.indices, self.major], terms.sort(level))
        self.motive = kernel.variable(motive)
        self.minors = [
            kernel.variable(self._minor(inner.name, given))
            for inner, given in zip(one.constructors, fields, strict=True)
        ]

    def derive(self) -> tuple[Term, tuple[Rule, ...]]:
        """Give the recursor's type and rules."""
        result = self._motive_at(self.terms.apps(self.applied, self.opened.indices), self.major)
        outer = [*self.opened.params, self.motive, *self.minors]
        type_ = self.bind(PI, [*outer, *self.opened.indices, self.major], result)
        rules = []
        for place, (inner, given) in enumerate(
            zip(self.one.constructors, self.fields, strict=True)
        ):
            value = self.terms.apps(self.minors[place], given.variables)
            value = self.terms.apps(value, [self._recursion(one) for one in given.recursive])
            value = self.bind(LAM, [*outer, *given.variables], value)
            rules.append(Rule(inner.name, len(given.variables), value))
        return type_, tuple(rules)

    def _motive_at(self, type_: Term, term: Term) -> Term:
        """Apply the motive to a term of the inductive type, and to its indices before it."""
        _, arguments = spine(type_)
        indices = arguments[len(self.opened.params) :]
        return self.terms.app(self.terms.apps(self.motive, indices), term)

    def _minor(self, name: Name, given: Fields) -> Term:
        """Give the type of a constructor's minor premise."""
        hypotheses = []
        for one in given.recursive:
            variables, type_ = self.kernel._telescope(one.b)
            motive = self._motive_at(type_, self.terms.apps(one, variables))
            hypotheses.append(self.kernel.variable(self.bind(PI, variables, motive)))
        made = self.terms.const(name, self.opened.head.b)
        made = self.terms.apps(made, [*self.opened.params, *given.variables])
        result = self._motive_at(given.result, made)
        return self.bind(PI, [*given.variables, *hypotheses], result)

    def _recursion(self, one: Term) -> Term:
        """Give the recursor applied to a field that holds the type."""
        variables, type_ = self.kernel._telescope(one.b)
        _, arguments = spine(type_)
        indices = arguments[len(self.opened.params) :]
        outer = [*self.opened.params, self.motive, *self.minors, *indices]
        value = self.terms.apps(self.head, outer)
        return self.bind(LAM, variables, self.terms.app(value, self.terms.apps(one, variables)))


def occurs(name: Name, term: Term) -> bool:
    """Say whether a constant occurs in a term."""
    stack, seen = [term], {term}
    while stack:
        one = stack.pop()
        if one.kind == CONST and one.a is name:
            return True
        for inner in parts(one):
            if inner not in seen:
                seen.add(inner)
                stack.append(inner)
    return False
