"""Putting terms in the place of variables, and variables in the place of terms.

Terms that are put in have no loose bound variables, so that they need no shifting.
"""

from collections.abc import Callable

from lockstep_verify.kernel.levels import Levels
from lockstep_verify.kernel.terms import APP, BVAR, CONST, FREE, LET, PROJ, SORT, Level, Name, Term

Memo = dict[tuple[Term, int], Term]
Leaf = Callable[[Term, int], Term | None]


class Substitution:
    """Substitution over one store of terms."""

    def __init__(self, levels: Levels) -> None:
        self.terms = levels.terms
        self.levels = levels

    def instantiate(self, term: Term, values: list[Term]) -> Term:
        """Put `values` in the place of the loose variables 0, 1, …, the last value first.

        Larger indices come down by the number of values.
        """
        if not term.loose or not values:
            return term
        return self._instantiate(term, 0, values, {})

    # Most of all time is spent here, hence not through `_rebuild`; and a method, since a function
    # that calls itself from within another is a cycle, which nobody collects.
    def _instantiate(self, term: Term, depth: int, values: list[Term], memo: Memo) -> Term:
        make, go, kind = self.terms, self._instantiate, term.kind
        if kind == BVAR:
            place = len(values) - 1 - (term.a - depth)
            return values[place] if place >= 0 else make.bvar(term.a - len(values))
        found = memo.get((term, depth))
        if found is not None:
            return found
        a, b = term.a, term.b
        if kind == APP:
            a = go(a, depth, values, memo) if a.loose > depth else a
            found = make.app(a, go(b, depth, values, memo) if b.loose > depth else b)
        elif kind == PROJ:
            found = make.proj(a, b, go(term.c, depth, values, memo))
        else:
            a = go(a, depth, values, memo) if a.loose > depth else a
            inner = depth + 1
            if kind == LET:
                b = go(b, depth, values, memo) if b.loose > depth else b
                c = term.c
                found = make.let(a, b, go(c, inner, values, memo) if c.loose > inner else c)
            else:
                b = go(b, inner, values, memo) if b.loose > inner else b
                found = make.binder(kind, a, b)
        memo[term, depth] = found
        return found

    def abstract(self, term: Term, variables: list[Term]) -> Term:
        """Bind FREE variables: the last becomes index 0, the one before it 1, and so on."""
        if not variables:
            return term
        lowest = min(variable.a for variable in variables)
        places = {one: len(variables) - 1 - place for place, one in enumerate(variables)}

        def leaf(term: Term, depth: int) -> Term | None:
            if term.free <= lowest:
                return term
            if term.kind != FREE:
                return None
            place = places.get(term)
            return term if place is None else self.terms.bvar(place + depth)

        return self._rebuild(term, 0, leaf, {})

    def _rebuild(self, term: Term, depth: int, leaf: Leaf, memo: Memo) -> Term:
        """Make a term anew where `leaf`, called with each part and its depth, gives none for it."""
        found = leaf(term, depth) or memo.get((term, depth))
        if found is not None:
            return found
        make, go, kind = self.terms, self._rebuild, term.kind
        if kind == APP:
            found = make.app(go(term.a, depth, leaf, memo), go(term.b, depth, leaf, memo))
        elif kind == PROJ:
            found = make.proj(term.a, term.b, go(term.c, depth, leaf, memo))
        elif kind == LET:
            outer = go(term.a, depth, leaf, memo), go(term.b, depth, leaf, memo)
            found = make.let(*outer, go(term.c, depth + 1, leaf, memo))
        else:
            inner = go(term.b, depth + 1, leaf, memo)
            found = make.binder(kind, go(term.a, depth, leaf, memo), inner)
        memo[term, depth] = found
        return found

    def bind(self, kind: int, variables: list[Term], body: Term) -> Term:
        """Make the LAM or PI over FREE variables, the first outermost."""
        body = self.abstract(body, variables)
        for place in range(len(variables) - 1, -1, -1):
            type_ = self.abstract(variables[place].b, variables[:place])
            body = self.terms.binder(kind, type_, body)
        return body

    def instantiate_levels(self, term: Term, values: dict[Name, Level]) -> Term:
        """Put levels in the place of level parameters."""
        make = self.terms
        level = self.levels.instantiate

        def leaf(term: Term, _: int) -> Term | None:
            if not term.poly:
                return term
            if term.kind == SORT:
                return make.sort(level(term.a, values))
            if term.kind == CONST:
                return make.const(term.a, tuple(level(one, values) for one in term.b))
            return None

        return self._rebuild(term, 0, leaf, {}) if values else term
