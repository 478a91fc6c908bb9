"""Weak head normal forms: beta, let, projections, recursors, definitions, arithmetic."""

from lockstep_verify import limits
from lockstep_verify.kernel.declarations import Constant, Recursor
from lockstep_verify.kernel.environment import Environment
from lockstep_verify.kernel.levels import Levels
from lockstep_verify.kernel.naturals import Naturals
from lockstep_verify.kernel.reasons import refuse
from lockstep_verify.kernel.substitution import Substitution
from lockstep_verify.kernel.terms import (
    APP,
    CONST,
    LAM,
    LET,
    NAT,
    PROJ,
    SORT,
    STR,
    Name,
    Term,
    spine,
)


class Reduction:
    """Reduces terms without loose bound variables.

    `infer` and `equal` come from the classes that rest on this one.
    """

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.terms = environment.terms
        self.levels = Levels(self.terms)
        self.substitution = Substitution(self.levels)
        self.naturals = Naturals(environment)
        self.steps = 0
        self._core: dict[Term, Term] = {}
        self._whole: dict[Term, Term] = {}
        self._values: dict[tuple[Term, Term], Term] = {}

    def infer(self, term: Term) -> Term:
        """Give the type of a term that is known to have one."""
        raise NotImplementedError

    def equal(self, a: Term, b: Term) -> bool:
        """Say whether two terms are equal by definition."""
        raise NotImplementedError

    def forget(self) -> None:
        """Forget what was found so far, since more reduces now or terms are dropped."""
        self._core.clear()
        self._whole.clear()
        self._values.clear()

    def step(self) -> None:
        """Count a step of computation."""
        self.steps += 1
        if self.steps > limits.KERNEL_STEPS:
            refuse("TOO_MANY_STEPS", f"more than {limits.KERNEL_STEPS} steps for one declaration")

    def whnf(self, term: Term) -> Term:
        """Reduce until the head can be neither computed nor unfolded."""
        if term.kind not in (APP, CONST, LET, PROJ):
            return term
        found = self._whole.get(term)
        if found is not None:
            return found
        reduced = self.core(term)
        while True:
            further = self.arithmetic(reduced) or self.unfold(reduced)
            if further is None:
                break
            reduced = further
        self._whole[term] = reduced
        return reduced

    def core(self, term: Term, cheap: bool = False) -> Term:
        """Reduce without unfolding definitions at the head.

        Args:
            term: what is reduced.
            cheap: structures under a projection are reduced in this way too, not wholly.
        """
        if term.kind not in (APP, LET, PROJ):
            return term
        found = self._core.get(term)
        if found is not None:
            return found
        result = self._core_of(term, [], cheap)
        if not cheap:
            self._core[term] = result
        return result

    def _core_of(self, term: Term, arguments: list[Term], cheap: bool) -> Term:
        """Reduce a term that is applied to some arguments, without building the application."""
        unchanged = None if arguments else term
        head, inner = spine(term)
        arguments = inner + arguments
        while True:
            kind = head.kind
            if kind == LAM and arguments:
                count = 0
                while head.kind == LAM and count < len(arguments):
                    head = head.b
                    count += 1
                head = self.substitution.instantiate(head, arguments[:count])
                arguments = arguments[count:]
            elif kind == LET:
                head = self.substitution.instantiate(head.c, [head.b])
            elif kind == PROJ:
                field = self.project(head, cheap)
                if field is None:
                    return unchanged or self.terms.apps(head, arguments)
                head = field
            elif kind == CONST:
                reduced = self._recursor(head, arguments)
                if reduced is None:
                    return unchanged or self.terms.apps(head, arguments)
                head, arguments = reduced
            else:
                return unchanged or self.terms.apps(head, arguments)
            unchanged = None
            self.step()
            if head.kind == APP:
                head, inner = spine(head)
                arguments = inner + arguments

    def project(self, term: Term, cheap: bool) -> Term | None:
        """Give the field that a projection stands for, if its structure is a constructor's."""
        structure = self.core(term.c, True) if cheap else self.whnf(term.c)
        return self.field(structure, term.a, term.b)

    def field(self, structure: Term, name: Name, index: int) -> Term | None:
        """Give a field of an application of the constructor of a structure type."""
        head, arguments = spine(structure)
        constructor = self.environment.constructor(head)
        if constructor is None or constructor.type_name is not name:
            return None
        place = constructor.params + index
        return arguments[place] if place < len(arguments) else None

    def _recursor(self, head: Term, arguments: list[Term]) -> tuple[Term, list[Term]] | None:
        """Compute a recursor on a constructor: give the rule's value and what it is applied to."""
        recursor = self.environment.what(head)
        if not isinstance(recursor, Recursor):
            return None
        first = recursor.params + recursor.motives + recursor.minors
        place = first + recursor.indices
        if place >= len(arguments):
            return None
        major = arguments[place]
        type_name: Name = recursor.name.parent or recursor.name
        if recursor.k:
            major = self._as_k(major, type_name, recursor) or major
        major = self.whnf(major)
        if major.kind == NAT:
            major = self.naturals.constructor(major)
        elif major.kind == STR:
            refuse("STRING_NOT_SUPPORTED", "a recursor is computed on a string")
        else:
            major = self._as_structure(major, type_name)
        constructor, fields = spine(major)
        matching = [rule for rule in recursor.rules if rule.constructor is constructor.a]
        if not matching or matching[0].fields > len(fields):
            return None
        rule = matching[0]
        self.step()
        value = self._at_levels(head, rule.value, recursor.universes)
        fields = fields[len(fields) - rule.fields :]
        return value, [*arguments[:first], *fields, *arguments[place + 1 :]]

    def _as_k(self, major: Term, type_name: Name, recursor: Recursor) -> Term | None:
        """Give the constructor that a proof equals, if its type is the constructor's."""
        type_ = self.whnf(self.infer(major))
        head, arguments = spine(type_)
        if head.kind != CONST or head.a is not type_name:
            return None
        constructor = self.terms.const(recursor.rules[0].constructor, head.b)
        made = self.terms.apps(constructor, arguments[: recursor.params])
        return made if self.equal(type_, self.infer(made)) else None

    def _as_structure(self, major: Term, type_name: Name) -> Term:
        """Write a structure as its constructor at its own fields, unless it may be a proof."""
        if self.environment.constructor(spine(major)[0]) is not None:
            return major
        type_ = self.whnf(self.infer(major))
        head, arguments = spine(type_)
        structure = self.environment.structure(head)
        if structure is None or structure.name is not type_name:
            return major
        sort = self.whnf(self.infer(type_))
        if sort.kind != SORT or not self.levels.never_zero(sort.a):
            return major
        constructor = structure.constructors[0]
        made = self.terms.const(constructor.name, head.b)
        made = self.terms.apps(made, arguments[: constructor.params])
        fields = [self.terms.proj(type_name, at, major) for at in range(constructor.fields)]
        return self.terms.apps(made, fields)

    def definition(self, term: Term) -> Constant | None:
        """Give the definition or theorem at the head of a term."""
        while term.kind == APP:
            term = term.a
        what = self.environment.what(term)
        if not isinstance(what, Constant) or what.value is None:
            return None
        return what if what.kind in ("def", "thm") else None

    def unfold(self, term: Term, cheap: bool = False) -> Term | None:
        """Put a definition's value in the place of the constant at the head, and reduce."""
        definition = self.definition(term)
        if definition is None or definition.value is None:
            return None
        self.step()
        head, arguments = spine(term)
        value = self._at_levels(head, definition.value, definition.universes)
        return self._core_of(value, arguments, cheap)

    def _at_levels(self, head: Term, value: Term, universes: tuple[Name, ...]) -> Term:
        """Give the value of a definition, or of a recursor's rule, at the levels of a constant."""
        found = self._values.get((head, value))
        if found is None:
            values = dict(zip(universes, head.b, strict=True))
            found = self.substitution.instantiate_levels(value, values)
            self._values[head, value] = found
        return found

    def arithmetic(self, term: Term) -> Term | None:
        """Compute an accelerated function on literals."""
        if term.kind != APP or term.free:
            return None
        call = self.naturals.call(term)
        if call is None:
            return None
        name, arguments = call
        numbers = []
        for argument in arguments:
            number = self.naturals.number(self.whnf(argument))
            if number is None:
                return None
            numbers.append(number)
        self.step()
        return self.naturals.compute(name, numbers)
