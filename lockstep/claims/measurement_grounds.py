"""What a reading rests on: values of records, numbers that were told, arms that nobody ran."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from lockstep.measure import units
from lockstep.measure.readings import BUDGET_UNIT

Cell = tuple[str, str]
"""A record's id and a quantity."""

_UNCOUNTED = ("given", "product", "quotient")
"""Operations that count no steps, of whatever they are made."""

_PASSING_ON = ("sum", "difference", "convert")
"""Operations whose result is of the unit of their operands, and counted as little as these."""


class Grounds(NamedTuple):
    """What a reading rests on.

    Attributes:
        cells: values of records; none where all of it was told.
        told: whether a number of it was given, and not measured.
        budgets: batch budgets that were told, and that no profile's arms have been asked for yet.
        uncounted: whether it is a number of steps that nobody counted or computed [MEAS-9].
        outside: whether it rests on an arm that nobody ran [MEAS-9].
    """

    cells: frozenset[Cell]
    told: bool = False
    budgets: frozenset[Fraction] = frozenset()
    uncounted: bool = False
    outside: bool = False

    def apart_from(self, other: Grounds) -> bool:
        """Whether it rests on a value that the other does not rest on [MEAS-10]."""
        return bool(self.cells - other.cells)


def of_operation(
    operation: str,
    value: Fraction,
    unit: str,
    profiles: Sequence[str],
    operands: Sequence[Grounds],
    had: Mapping[str, set[int]],
) -> Grounds:
    """Give what the result of an operation rests on.

    Args:
        operation: but for `coefficient`, which rests on its fit's population.
        value: of the result.
        unit: of the result.
        profiles: of the result.
        operands: what each rests on.
        had: batch budgets of each profile's arms.
    """
    told = operation == "given" or any(one.told for one in operands)
    budgets = {budget for one in operands for budget in one.budgets}
    if told and unit == BUDGET_UNIT:
        budgets.add(value)
    if profiles:
        unknown = any(budget not in had[name] for budget in budgets for name in profiles)
    else:
        unknown = any(not any(budget in one for one in had.values()) for budget in budgets)
    if operation in _PASSING_ON:
        uncounted = any(one.uncounted for one in operands)
    else:
        uncounted = told and operation in _UNCOUNTED and _tells_steps(unit)
    # One step is what a rate for each step is read at; none is nothing.
    harmless = unit == "step" and value in (0, 1)
    return Grounds(
        frozenset(cell for one in operands for cell in one.cells),
        told,
        frozenset() if profiles else frozenset(budgets),
        uncounted,
        unknown or (uncounted and not harmless) or any(one.outside for one in operands),
    )


def _tells_steps(unit: str) -> bool:
    """Whether a told number of a unit is one of steps: `step/token` is a budget upside down."""
    return unit == "1/step" or units.parse(unit).get("step", 0) > 0
