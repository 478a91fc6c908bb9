"""The readings of a claim by name: measured, derived, predicted, in the order of the predicate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from lockstep.errors import LockstepError
from lockstep.measure import profiles, units
from lockstep.measure.fits import Solution
from lockstep.measure.readings import (
    BUDGET_UNIT,
    DerivedAtCommonWorkload,
    DirectMeasurement,
    PredictedOutsideMeasuredArm,
    Reading,
    direct,
    operate,
    require_words,
)
from lockstep.measure.records import Record


class Readings:
    """What has been read so far; each reading is made of earlier ones.

    Args:
        records: of the claim.
        known: its profiles by id.
    """

    def __init__(self, records: Sequence[Record], known: Mapping[str, Mapping[str, Any]]) -> None:
        self._records = {one.id: one for one in records}
        self._budgets = {one.budget_tokens for one in records} - {None}
        self._known = known
        self._readings: dict[str, Reading] = {}
        self._rests_on: dict[str, frozenset[str]] = {}
        self._coefficients: dict[tuple[str, str], tuple[Fraction, str, str]] = {}

    def named(self, name: str, pointer: str = "") -> Reading:
        """Give a reading.

        Raises:
            LockstepError: BAD_VALUE, there is none of this name so far.
        """
        if name not in self._readings:
            raise LockstepError("BAD_VALUE", pointer, "an earlier reading", name)
        return self._readings[name]

    def fitted(
        self,
        name: str,
        profile: str,
        coefficients: Sequence[tuple[str, str]],
        solution: Solution,
    ) -> None:
        """Add the coefficients of a fit, for readings that take them."""
        for (own, unit), value in zip(coefficients, solution.coefficients, strict=True):
            self._coefficients[name, own] = (value, unit, profile)

    def measure(self, one: Mapping[str, Any], pointer: str) -> dict[str, Any]:
        """Add a direct measurement and give it as the predicate has it."""
        reading = direct(one, self._records, pointer)
        self._add(reading, (), pointer)
        return {
            **self._common(reading),
            "records": list(one["records"]),
            "quantity": one["quantity"],
            "statistic": one["statistic"],
            "value": written(reading.value),
        }

    def derive(self, one: Mapping[str, Any], pointer: str) -> dict[str, Any]:
        """Add a derived reading and give it as the predicate has it.

        Raises:
            LockstepError: READING_KIND, it rests on what nobody measured.
        """
        value, unit, of = self._value(one, pointer)
        operands = [self._readings[name] for name in self._names(one)]
        if any(_outside(operand) for operand in operands):
            expected = "predicted, since an operand lies outside the measured arms"
            raise LockstepError("READING_KIND", pointer, expected, "derived")
        outside = one["operation"] == "given" and unit == BUDGET_UNIT and value not in self._budgets
        reading = DerivedAtCommonWorkload(one["name"], unit, of, value, outside)
        self._add(reading, self._names(one), pointer)
        return {**self._common(reading), "workload": one["workload"], **self._made(one, reading)}

    def predict(self, one: Mapping[str, Any], pointer: str) -> dict[str, Any]:
        """Add a prediction and give it as the predicate has it.

        Raises:
            LockstepError: READING_KIND, nothing that it rests on lies outside what was measured.
        """
        value, unit, of = self._value(one, pointer)
        if not any(_outside(self._readings[name]) for name in self._names(one)):
            expected = "derived, since every operand lies within the measured arms"
            raise LockstepError("READING_KIND", pointer, expected, "predicted")
        reading = PredictedOutsideMeasuredArm(one["name"], unit, of, value)
        self._add(reading, self._names(one), pointer)
        return {**self._common(reading), "outside": one["outside"], **self._made(one, reading)}

    def require_independent(self, first: str, second: str, pointer: str) -> None:
        """See that neither of two routes rests on the other.

        Raises:
            LockstepError: BAD_VALUE.
        """
        for one, other in ((first, second), (second, first)):
            if one == other or other in self._rests_on.get(one, ()):
                raise LockstepError("BAD_VALUE", pointer, "two independent routes", [one, other])

    def _add(self, reading: Reading, names: Sequence[str], pointer: str) -> None:
        if reading.name in self._readings:
            raise LockstepError("BAD_VALUE", f"{pointer}/name", "a new name", reading.name)
        self._readings[reading.name] = reading
        below = [self._rests_on.get(name, frozenset()) for name in names]
        self._rests_on[reading.name] = frozenset(names).union(*below)

    def _names(self, one: Mapping[str, Any]) -> list[str]:
        """Name the readings among the operands: the operand of a coefficient is a fit."""
        return [] if one["operation"] == "coefficient" else list(one.get("operands", ()))

    def _value(self, one: Mapping[str, Any], pointer: str) -> tuple[Fraction, str, tuple[str, ...]]:
        """Compute a reading: value, unit and the profiles that it is of."""
        operation: str = one["operation"]
        of: tuple[str, ...] = ()
        if operation == "given":
            value, unit = Fraction(one["given"]), str(one["unit"])
            units.parse(unit, f"{pointer}/unit")
        elif operation == "coefficient":
            key = (one["operands"][0], one["coefficient"])
            if key not in self._coefficients:
                raise LockstepError("BAD_VALUE", f"{pointer}/coefficient", "of a fit", key)
            value, unit, profile = self._coefficients[key]
            of = (profile,)
        else:
            operands = [self.named(name, f"{pointer}/operands") for name in self._names(one)]
            of = profiles.joined((operand.profiles for operand in operands), operation, pointer)
            value, unit = operate(operation, operands, one.get("unit"), pointer)
        require_words(one["name"], unit, pointer)
        return value, unit, of

    def _common(self, reading: Reading) -> dict[str, Any]:
        return {
            "kind": type(reading).__name__,
            "name": reading.name,
            "unit": reading.unit,
            "profiles": list(reading.profiles),
        }

    def _made(self, one: Mapping[str, Any], reading: Reading) -> dict[str, Any]:
        given = one.get("given")
        return {
            "operation": one["operation"],
            "operands": list(one.get("operands", ())),
            "coefficient": one.get("coefficient"),
            "given": None if given is None else written(Fraction(given)),
            "varies": profiles.varying(self._known, reading.profiles),
            "value": written(reading.value),
        }


def _outside(reading: Reading) -> bool:
    if isinstance(reading, DirectMeasurement):
        return False
    return isinstance(reading, PredictedOutsideMeasuredArm) or reading.given_outside


def written(value: Fraction) -> dict[str, str]:
    """Write a fraction in lowest terms as the schema has it."""
    return {"num": str(value.numerator), "den": str(value.denominator)}
