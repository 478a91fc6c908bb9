"""Equality by definition: the same normal form up to eta, proof irrelevance and unit types."""

from lockstep_verify.kernel.declarations import Constant
from lockstep_verify.kernel.environment import Environment
from lockstep_verify.kernel.inference import Inference
from lockstep_verify.kernel.terms import APP, CONST, LAM, NAT, PI, PROJ, SORT, Term, spine


class Equality(Inference):
    """Decides equality over what reduction and inference offer."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self._joined: dict[Term, Term] = {}
        self._different: set[tuple[Term, Term]] = set()

    def forget(self) -> None:
        """Forget what was found so far."""
        super().forget()
        self._joined.clear()
        self._different.clear()

    def _class(self, term: Term) -> Term:
        """Give the representative of the terms that a term has been found equal to."""
        joined = self._joined
        found = joined.get(term)
        if found is None:
            return term
        while (further := joined.get(found)) is not None:
            joined[term] = further
            term, found = found, further
        return found

    def equal(self, a: Term, b: Term) -> bool:
        """Say whether two terms with a type are equal by definition."""
        if a is b:
            return True
        if self._class(a) is self._class(b):
            return True
        if not self._decide(a, b):
            return False
        first, second = self._class(a), self._class(b)
        if first is not second:
            self._joined[first] = second
        return True

    def _quick(self, a: Term, b: Term) -> bool | None:
        """Decide what needs no reduction; None where it does."""
        if a is b or self._class(a) is self._class(b):
            return True
        if a.kind != b.kind:
            return None
        if a.kind in (LAM, PI):
            return self._binders(a, b)
        if a.kind == SORT:
            return self.levels.equal(a.a, b.a)
        if a.kind == NAT:
            return False
        return None

    def _binders(self, a: Term, b: Term) -> bool:
        kind = a.kind
        base = max(a.free, b.free)
        instantiate = self.substitution.instantiate
        variables: list[Term] = []
        while a.kind == kind and b.kind == kind:
            type_ = instantiate(a.a, variables)
            if a.a is not b.a and not self.equal(type_, instantiate(b.a, variables)):
                return False
            variables.append(self.terms.variable(base + len(variables), type_))
            a, b = a.b, b.b
        return self.equal(instantiate(a, variables), instantiate(b, variables))

    def _decide(self, a: Term, b: Term) -> bool:
        quick = self._quick(a, b)
        if quick is not None:
            return quick
        if b is self.naturals.true and not a.free and self.whnf(a) is b:
            return True
        x, y = self.core(a, True), self.core(b, True)
        if x is not a or y is not b:
            quick = self._quick(x, y)
            if quick is not None:
                return quick
        proofs = self._proofs(x, y)
        if proofs is not None:
            return proofs
        return self._unfolding(x, y)

    def _proofs(self, a: Term, b: Term) -> bool | None:
        """Proofs of equal propositions are equal."""
        type_ = self.infer(a)
        if not self.is_proposition(type_):
            return None
        return self.equal(type_, self.infer(b))

    def _unfolding(self, a: Term, b: Term) -> bool:
        """Unfold definitions one by one, the higher first, until something decides."""
        while True:
            offset = self._offset(a, b)
            if offset is not None:
                return offset
            if not a.free and not b.free:
                number = self.arithmetic(a)
                if number is not None:
                    return self.equal(number, b)
                number = self.arithmetic(b)
                if number is not None:
                    return self.equal(a, number)
            progress = self._unfold_one(a, b)
            if progress is None:
                return self._stuck(a, b)
            if isinstance(progress, bool):
                return progress
            a, b = progress
            quick = self._quick(a, b)
            if quick is not None:
                return quick

    def _offset(self, a: Term, b: Term) -> bool | None:
        naturals = self.naturals
        if naturals.is_zero(a) and naturals.is_zero(b):
            return True
        first, second = naturals.predecessor(a), naturals.predecessor(b)
        if first is None or second is None:
            return None
        return self.equal(first, second)

    def _unfold_one(self, a: Term, b: Term) -> tuple[Term, Term] | bool | None:
        """Unfold one side or both; None where neither unfolds, an answer where that decides."""
        first, second = self.definition(a), self.definition(b)
        if first is None and second is None:
            return None
        if first is None or second is None:
            stuck, other = (a, b) if first is None else (b, a)
            projected = self._projection_head(stuck)
            if projected is not None:
                return (projected, other) if first is None else (other, projected)
            unfolded = self._unfolded(other)
            return (stuck, unfolded) if first is None else (unfolded, stuck)
        heights = _height(first), _height(second)
        if heights[0] < heights[1]:
            return a, self._unfolded(b)
        if heights[0] > heights[1]:
            return self._unfolded(a), b
        regular = first is second and isinstance(first.detail, int)
        if regular and a.kind == b.kind == APP and (a, b) not in self._different:
            if self._applications(a, b):
                return True
            self._different.add((a, b))
        return self._unfolded(a), self._unfolded(b)

    def _projection_head(self, term: Term) -> Term | None:
        head = term
        while head.kind == APP:
            head = head.a
        if head.kind != PROJ:
            return None
        reduced = self.core(term)
        return reduced if reduced is not term else None

    def _unfolded(self, term: Term) -> Term:
        unfolded = self.unfold(term, True)
        if unfolded is None:
            raise TypeError("only definitions unfold")
        return unfolded

    def _same_constant(self, a: Term, b: Term) -> bool:
        return a.a is b.a and all(map(self.levels.equal, a.b, b.b))

    def _stuck(self, a: Term, b: Term) -> bool:
        """Compare two terms whose heads do not unfold."""
        if a.kind == CONST and b.kind == CONST and self._same_constant(a, b):
            return True
        both = a.kind == PROJ and b.kind == PROJ
        if both and (a.a, a.b) == (b.a, b.b) and self.equal(a.c, b.c):
            return True
        x, y = self.core(a), self.core(b)
        if x is not a or y is not b:
            return self.equal(x, y)
        return (
            self._applications(a, b)
            or self._eta(a, b)
            or self._eta(b, a)
            or self._eta_structure(a, b)
            or self._eta_structure(b, a)
            or self._units(a, b)
        )

    def _applications(self, a: Term, b: Term) -> bool:
        """Applications of equal functions to equal arguments are equal."""
        (x, first), (y, second) = spine(a), spine(b)
        if not first or len(first) != len(second):
            return False
        same = self._same_constant(x, y) if x.kind == y.kind == CONST else self.equal(x, y)
        return same and all(map(self.equal, first, second))

    def _eta(self, function: Term, other: Term) -> bool:
        """A function equals what it becomes when it is applied to a new variable and bound."""
        if function.kind != LAM or other.kind == LAM:
            return False
        type_ = self.whnf(self.infer(other))
        if type_.kind != PI:
            return False
        applied = self.terms.app(other, self.terms.bvar(0))
        return self.equal(function, self.terms.binder(LAM, type_.a, applied))

    def _eta_structure(self, structure: Term, made: Term) -> bool:
        """A structure equals its constructor at its fields."""
        head, arguments = spine(made)
        constructor = self.environment.constructor(head)
        if constructor is None or len(arguments) != constructor.params + constructor.fields:
            return False
        type_ = self.infer(made)
        if self.environment.structure(spine(self.whnf(type_))[0]) is None:
            return False
        if not self.equal(self.infer(structure), type_):
            return False
        return all(
            self.equal(self.terms.proj(constructor.type_name, index, structure), field)
            for index, field in enumerate(arguments[constructor.params :])
        )

    def _units(self, a: Term, b: Term) -> bool:
        """Two terms of a structure type without fields are equal."""
        type_ = self.whnf(self.infer(a))
        structure = self.environment.structure(spine(type_)[0])
        if structure is None or structure.constructors[0].fields:
            return False
        return self.equal(type_, self.infer(b))


def _height(definition: Constant) -> float:
    """Order definitions for unfolding: theorems and opaque hints last, abbreviations first."""
    if isinstance(definition.detail, int):
        return float(definition.detail)
    return float("inf") if definition.detail == "abbrev" else -1.0
