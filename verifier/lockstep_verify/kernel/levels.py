"""Universe levels: which is at least which, whatever values their parameters take.

A parameter that decides whether some `imax` is zero is taken apart into the cases 0 and at least
1; in each case a level is the largest of some constants and parameters plus constants, and such
levels are compared part by part. The decision is exact.
"""

from lockstep_verify.kernel.reasons import refuse
from lockstep_verify.kernel.terms import IMAX, PARAM, Level, Name, Terms, level_parameters

DECIDING_PARAMETERS = 8
"""Parameters that are taken apart at once; each doubles the work, and declarations have few."""

Summands = dict[Name | None, int]
"""The largest of these: for None a constant, for a parameter the parameter plus the number."""


class Levels:
    """Comparison of levels, remembered."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self._at_most: dict[tuple[Level, Level], bool] = {}

    def at_most(self, a: Level, b: Level) -> bool:
        """Say whether `a` is at most `b` for all values of the parameters.

        Raises:
            KernelRefusal: LEVEL_TOO_COMPLEX.
        """
        if a is b or a is self.terms.zero:
            return True
        key = (a, b)
        answer = self._at_most.get(key)
        if answer is None:
            answer = self._at_most[key] = _at_most_in_all_cases(a, b)
        return answer

    def equal(self, a: Level, b: Level) -> bool:
        """Say whether two levels are equal for all values of the parameters."""
        return a is b or (self.at_most(a, b) and self.at_most(b, a))

    def is_zero(self, level: Level) -> bool:
        """Say whether a level is zero for all values of the parameters."""
        return self.at_most(level, self.terms.zero)

    def never_zero(self, level: Level) -> bool:
        """Say whether a level is at least one for all values of the parameters."""
        return self.at_most(self.terms.succ(self.terms.zero), level)

    def instantiate(self, level: Level, values: dict[Name, Level]) -> Level:
        """Put levels in the place of parameters."""
        if not level.poly:
            return level
        make = self.terms
        match level.kind:
            case 4:
                return values.get(level.a, level)
            case 1:
                return make.succ(self.instantiate(level.a, values))
            case 2:
                return make.max(
                    self.instantiate(level.a, values), self.instantiate(level.b, values)
                )
        return make.imax(self.instantiate(level.a, values), self.instantiate(level.b, values))


def _deciding(level: Level) -> set[Name]:
    """Collect the parameters on the right of some imax."""
    if not level.poly or level.kind == PARAM:
        return set()
    found = level_parameters(level.b) if level.kind == IMAX else set()
    below = [one for one in (level.a, level.b) if one is not None]
    return found.union(*map(_deciding, below))


def _at_most_in_all_cases(a: Level, b: Level) -> bool:
    deciding = sorted(_deciding(a) | _deciding(b), key=str)
    if len(deciding) > DECIDING_PARAMETERS:
        refuse("LEVEL_TOO_COMPLEX", f"{len(deciding)} parameters decide whether some imax is zero")
    for case in range(1 << len(deciding)):
        zero = {name for place, name in enumerate(deciding) if case >> place & 1}
        if not _covers(_summands(b, zero), _summands(a, zero), set(deciding) - zero):
            return False
    return True


def _summands(level: Level, zero: set[Name]) -> Summands:
    """Write a level as a largest of summands, where some parameters are zero.

    Those of the other parameters that decide an imax are at least one.
    """
    match level.kind:
        case 0:
            return {None: 0}
        case 4:
            return {None: 0} if level.a in zero else {None: 0, level.a: 0}
        case 1:
            return {name: more + 1 for name, more in _summands(level.a, zero).items()}
    right = _summands(level.b, zero)
    # In its own case each deciding parameter left is at least one, so a summand means not zero.
    if level.kind == IMAX and right == {None: 0}:
        return right
    merged = dict(_summands(level.a, zero))
    for name, more in right.items():
        merged[name] = max(more, merged.get(name, 0))
    return merged


def _covers(large: Summands, small: Summands, positive: set[Name]) -> bool:
    least = max(more + (name in positive) for name, more in large.items())
    for name, more in small.items():
        if name is None:
            if more > least:
                return False
        elif name not in large or large[name] < more:
            return False
    return True
