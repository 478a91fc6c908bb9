"""What a reading rests on: values of records, numbers that were told, arms that nobody ran."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from lockstep.measure.readings import BUDGET_UNIT

Cell = tuple[str, str]
"""A record's id and a quantity."""

_UNCOUNTED = ("given", "product", "quotient")


class Grounds(NamedTuple):
    """What a reading rests on.

    Attributes:
        cells: values of records; none where all of it was told.
        told: whether a number of it was given, and not measured.
        budgets: batch budgets that were told, and that no profile's arms have been asked for yet.
        outside: whether it rests on an arm that nobody ran [MEAS-9].
    """

    cells: frozenset[Cell]
    told: bool = False
    budgets: frozenset[Fraction] = frozenset()
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
    uncounted = told and unit == "step" and value not in (0, 1) and operation in _UNCOUNTED
    return Grounds(
        frozenset(cell for one in operands for cell in one.cells),
        told,
        frozenset() if profiles else frozenset(budgets),
        unknown or uncounted or any(one.outside for one in operands),
    )
