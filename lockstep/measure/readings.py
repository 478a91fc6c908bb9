"""Readings: each is measured, derived or predicted, and none passes for another [MEAS-6]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lockstep import spec
from lockstep.errors import LockstepError
from lockstep.measure import units
from lockstep.measure.records import Record, quantities, require_usable

BUDGET_UNIT = "token/step"
_OPERANDS = {"given": (0, 0), "coefficient": (1, 1), "sum": (2, 16), "convert": (1, 1)}
"""The fewest and the most operands of an operation; others have two."""


@dataclass(frozen=True)
class DirectMeasurement:
    """A statistic of one quantity over records of one profile."""

    name: str
    unit: str
    profiles: tuple[str, ...]
    value: Fraction


@dataclass(frozen=True)
class DerivedAtCommonWorkload:
    """What follows from measurements and fits, at a workload that its claim states."""

    name: str
    unit: str
    profiles: tuple[str, ...]
    value: Fraction


@dataclass(frozen=True)
class PredictedOutsideMeasuredArm:
    """What a law says of an arm that nobody ran."""

    name: str
    unit: str
    profiles: tuple[str, ...]
    value: Fraction


Reading = DirectMeasurement | DerivedAtCommonWorkload | PredictedOutsideMeasuredArm


def kinds(readings: Sequence[Reading]) -> list[str]:
    """Name the kinds that some readings have, in the order of the specification."""
    present = {type(reading).__name__ for reading in readings}
    return [kind for kind in spec.load("measurement.json")["kinds"] if kind in present]


def statistic(name: str, values: Sequence[int], pointer: str = "") -> Fraction:
    """Give a statistic of one value or more.

    Raises:
        LockstepError: ZERO_POPULATION, there is none; BAD_VALUE, `only` of several.
    """
    if not values:
        raise LockstepError("ZERO_POPULATION", pointer, "a value at least", "none")
    ranked = sorted(values)
    middle = len(ranked) // 2
    match name:
        case "median":
            return Fraction(ranked[middle] + ranked[-1 - middle], 2)
        case "mean":
            return Fraction(sum(ranked), len(ranked))
        case "least":
            return Fraction(ranked[0])
        case "greatest":
            return Fraction(ranked[-1])
        case "sum":
            return Fraction(sum(ranked))
    if len(ranked) != 1:
        raise LockstepError("BAD_VALUE", pointer, "one record", len(ranked))
    return Fraction(ranked[0])


def direct(
    document: Mapping[str, Any], records: Mapping[str, Record], pointer: str
) -> DirectMeasurement:
    """Measure a quantity over records.

    Raises:
        LockstepError: RECORD_REFUSED, MISSING_READING, PROFILE_MISMATCH, ZERO_POPULATION;
            UNIT_MISMATCH, the name does not end with the unit; BAD_VALUE, no such record.
    """
    chosen = [_known(records, name, f"{pointer}/records") for name in document["records"]]
    for one in chosen:
        require_usable(one, f"{pointer}/records")
    quantity = document["quantity"]
    values = [one.values.get(quantity) for one in chosen]
    if None in values:
        lacking = [one.id for one in chosen if one.values.get(quantity) is None]
        hint = "Leave these records out, or measure what they lack."
        raise LockstepError("MISSING_READING", f"{pointer}/records", quantity, lacking, hint)
    profiles = tuple(sorted({one.profile for one in chosen}))
    if len(profiles) > 1:
        raise LockstepError("PROFILE_MISMATCH", f"{pointer}/records", "one profile", profiles)
    unit = quantities()[quantity]["unit"]
    require_words(document["name"], unit, pointer)
    value = statistic(document["statistic"], [v for v in values if v is not None], pointer)
    return DirectMeasurement(document["name"], unit, profiles, value)


def require_words(name: str, unit: str, pointer: str) -> None:
    """See that a reading's name ends with its unit.

    Raises:
        LockstepError: UNIT_MISMATCH.
    """
    if not units.names(unit, name):
        expected = f"a name that ends with _{units.words(unit)}, and with no longer unit"
        raise LockstepError("UNIT_MISMATCH", f"{pointer}/name", expected, name)


def require_operands(operation: str, operands: Sequence[str], pointer: str) -> None:
    """See that an operation has as many operands as it takes [MEAS-9].

    Raises:
        LockstepError: BAD_VALUE.
    """
    least, most = _OPERANDS.get(operation, (2, 2))
    if not least <= len(operands) <= most:
        raise LockstepError("BAD_VALUE", f"{pointer}/operands", f"{least} to {most}", len(operands))


def operate(
    operation: str, operands: Sequence[Reading], unit: str | None, pointer: str
) -> tuple[Fraction, str]:
    """Apply an operation to readings: value and unit.

    Args:
        operation: of the specification, but for `given` and `coefficient`, which have no operand.
        operands: as many as the operation takes.
        unit: what `convert` converts to.
        pointer: of the reading, for a refusal.

    Raises:
        LockstepError: UNIT_MISMATCH; ZERO_POPULATION, something is divided by 0.
    """
    value, first = operands[0].value, units.parse(operands[0].unit)
    if operation == "convert":
        wanted = units.parse(unit or "", f"{pointer}/unit")
        return value * units.conversion(first, wanted, f"{pointer}/unit"), units.render(wanted)
    other, second = operands[1].value, units.parse(operands[1].unit)
    if operation == "product":
        return value * other, units.render(units.times(first, second))
    if operation == "steps":
        return _steps(operands, pointer), "step"
    if operation == "quotient":
        _require_divisor(other, pointer)
        return value / other, units.render(units.times(first, second, -1))
    if any(units.parse(one.unit) != first for one in operands):
        found = [one.unit for one in operands]
        raise LockstepError("UNIT_MISMATCH", f"{pointer}/operands", "one unit", found)
    if operation == "sum":
        return sum((one.value for one in operands), Fraction(0)), operands[0].unit
    if operation == "difference":
        return value - other, operands[0].unit
    _require_divisor(value, pointer)
    return (other - value) / value, "1"


def _steps(operands: Sequence[Reading], pointer: str) -> Fraction:
    """Divide tokens among steps of a budget, rounding up."""
    found = [one.unit for one in operands]
    if found != ["token", BUDGET_UNIT]:
        expected = ["token", BUDGET_UNIT]
        raise LockstepError("UNIT_MISMATCH", f"{pointer}/operands", expected, found)
    tokens, budget = (one.value for one in operands)
    _require_divisor(budget, pointer)
    return Fraction(-(-tokens // budget))


def _require_divisor(value: Fraction, pointer: str) -> None:
    if value == 0:
        raise LockstepError("ZERO_POPULATION", f"{pointer}/operands", "a divisor above 0", 0)


def _known(records: Mapping[str, Record], name: str, pointer: str) -> Record:
    if name not in records:
        raise LockstepError("BAD_VALUE", pointer, "a record of the claim", name)
    return records[name]
