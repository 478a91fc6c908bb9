"""The readings of a claim by name: measured, derived, predicted, in the order of the predicate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from lockstep.claims.measurement_grounds import Cell, Grounds, of_operation
from lockstep.claims.measurement_names import require_once
from lockstep.errors import LockstepError
from lockstep.measure import profiles, units
from lockstep.measure.fits import Solution
from lockstep.measure.readings import (
    DerivedAtCommonWorkload,
    PredictedOutsideMeasuredArm,
    Reading,
    direct,
    operate,
    require_operands,
    require_words,
)
from lockstep.measure.records import Record


class Readings:
    """What has been read so far; each reading is made of earlier ones.

    Args:
        records: of the claim.
        known: its profiles by id.
        arms: of the claim.
    """

    def __init__(
        self,
        records: Sequence[Record],
        known: Mapping[str, Mapping[str, Any]],
        arms: Sequence[Mapping[str, Any]],
    ) -> None:
        self._records = {one.id: one for one in records}
        self._known = known
        self._had: dict[str, set[int]] = {name: set() for name in known}
        for arm in arms:
            if arm["budget_tokens"] is not None:
                self._had[arm["profile"]].add(arm["budget_tokens"])
        self._readings: dict[str, Reading] = {}
        self._grounds: dict[str, Grounds] = {}
        self._given: set[str] = set()
        self._coefficients: dict[tuple[str, str], tuple[Fraction, str, str]] = {}
        self._fitted: dict[str, frozenset[Cell]] = {}

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
        population: Sequence[Record],
        law: Mapping[str, Any],
        solution: Solution,
    ) -> None:
        """Add the coefficients of a fit, for readings that take them."""
        coefficients, profile = law["coefficients"], population[0].profile
        self._fitted[name] = frozenset(
            (one.id, need) for one in population for need in law["needs"]
        )
        for (own, unit), value in zip(coefficients, solution.coefficients, strict=True):
            self._coefficients[name, own] = (value, unit, profile)

    def measure(self, one: Mapping[str, Any], pointer: str) -> dict[str, Any]:
        """Add a direct measurement and give it as the predicate has it."""
        require_once(one["records"], f"{pointer}/records")
        reading = direct(one, self._records, pointer)
        cells = frozenset((name, one["quantity"]) for name in one["records"])
        self._add(reading, Grounds(cells), pointer)
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
        grounds = self._found(one, value, unit, of)
        if grounds.outside and one["operation"] != "given":
            expected = "predicted, since it rests on an arm that nobody ran"
            raise LockstepError("READING_KIND", pointer, expected, "derived")
        reading = DerivedAtCommonWorkload(one["name"], unit, of, value)
        self._add(reading, grounds, pointer)
        if one["operation"] == "given":
            self._given.add(one["name"])
        return {**self._common(reading), "workload": one["workload"], **self._made(one, reading)}

    def predict(self, one: Mapping[str, Any], pointer: str) -> dict[str, Any]:
        """Add a prediction and give it as the predicate has it.

        Raises:
            LockstepError: READING_KIND, nothing that it rests on lies outside what was measured.
        """
        value, unit, of = self._value(one, pointer)
        grounds = self._found(one, value, unit, of)
        if not grounds.outside or one["operation"] == "given":
            expected = "derived, since it rests on no arm that nobody ran"
            raise LockstepError("READING_KIND", pointer, expected, "predicted")
        reading = PredictedOutsideMeasuredArm(one["name"], unit, of, value)
        self._add(reading, grounds, pointer)
        return {**self._common(reading), "outside": one["outside"], **self._made(one, reading)}

    def require_independent(self, first: str, second: str, pointer: str) -> None:
        """See that each of two routes rests on a value that the other does not rest on.

        Raises:
            LockstepError: BAD_VALUE.
        """
        routes = [self.named(name, pointer).name for name in (first, second)]
        one, other = (self._grounds[name] for name in routes)
        if not (one.apart_from(other) and other.apart_from(one)):
            raise LockstepError("BAD_VALUE", pointer, "routes over values of their own", routes)

    def require_made(self, name: str, pointer: str) -> None:
        """See that a reading is more than a number that is given.

        Raises:
            LockstepError: BAD_VALUE.
        """
        if name in self._given:
            raise LockstepError("BAD_VALUE", pointer, "a reading", "a number that is given")

    def rests_on_records(self, name: str) -> bool:
        """Whether a reading rests on a record, and is no arithmetic of given numbers alone."""
        return bool(self._grounds[name].cells)

    def _add(self, reading: Reading, grounds: Grounds, pointer: str) -> None:
        if reading.name in self._readings:
            raise LockstepError("BAD_VALUE", f"{pointer}/name", "a new name", reading.name)
        self._readings[reading.name], self._grounds[reading.name] = reading, grounds

    def _found(
        self, one: Mapping[str, Any], value: Fraction, unit: str, of: tuple[str, ...]
    ) -> Grounds:
        """Give what a reading that is made rests on."""
        if one["operation"] == "coefficient":
            return Grounds(self._fitted[one["operands"][0]])
        operands = [self._grounds[name] for name in self._names(one)]
        return of_operation(one["operation"], value, unit, of, operands, self._had)

    def _names(self, one: Mapping[str, Any]) -> list[str]:
        """Name the readings among the operands: the operand of a coefficient is a fit."""
        return [] if one["operation"] == "coefficient" else list(one.get("operands", ()))

    def _value(self, one: Mapping[str, Any], pointer: str) -> tuple[Fraction, str, tuple[str, ...]]:
        """Compute a reading: value, unit and the profiles that it is of."""
        operation: str = one["operation"]
        require_operands(operation, one.get("operands", ()), pointer)
        for member in ("given", "coefficient"):
            if (one.get(member) is None) == (operation == member):
                expected = f"for {member} alone"
                raise LockstepError("BAD_VALUE", f"{pointer}/{member}", expected, one.get(member))
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


def written(value: Fraction) -> dict[str, str]:
    """Write a fraction in lowest terms as the schema has it."""
    return {"num": str(value.numerator), "den": str(value.denominator)}
