"""Readings: measured, derived, predicted, each computed again from what it names (MEAS-6, 7, 9)."""

from fractions import Fraction
from typing import Any, NamedTuple

from lockstep_verify import spec
from lockstep_verify.derive.measurement_fits import Coefficient, require, written
from lockstep_verify.derive.measurement_records import Record, known, varying
from lockstep_verify.derive.measurement_units import (
    ending,
    factor,
    fraction,
    invert,
    multiply,
    read_unit,
    write_unit,
)
from lockstep_verify.errors import Refusal

_AT = "/predicate"
_OPERANDS = {"given": (0, 0), "coefficient": (1, 1), "sum": (2, 16), "convert": (1, 1)}
_BUDGET = "token/step"


class Reading(NamedTuple):
    """A reading that has been computed again.

    Attributes:
        kind: measured, derived or predicted, as the specification writes it.
        outside: whether it rests on a batch budget that no arm had.
        below: the names of all readings that it rests on.
    """

    kind: str
    unit: str
    profiles: tuple[str, ...]
    value: Fraction
    outside: bool
    below: frozenset[str]


class Readings:
    """The readings of a predicate by name, each computed from earlier ones.

    Args:
        predicate: whose records have been read.
        records: these.
        coefficients: of its fits.
    """

    def __init__(
        self,
        predicate: dict[str, Any],
        records: list[Record],
        coefficients: dict[tuple[str, str], Coefficient],
    ) -> None:
        self.found: dict[str, Reading] = {}
        self._profiles = predicate["profiles"]
        self._budgets = {arm["budget_tokens"] for arm in predicate["arms"]}
        self._records = {record.name: record for record in records}
        self._coefficients = coefficients
        for i, one in enumerate(predicate["direct"]):
            self._direct(one, f"{_AT}/direct/{i}")

    def check_made(self, predicate: dict[str, Any]) -> None:
        """Compute the derived and the predicted readings again.

        Raises:
            Refusal: BAD_VALUE, UNIT_MISMATCH, PROFILE_MISMATCH, ZERO_POPULATION, READING_KIND,
                OUTCOME_NOT_DERIVED, STATISTICS_DO_NOT_RECOMPUTE.
        """
        for section in ("derived", "predicted"):
            for i, one in enumerate(predicate[section]):
                self._made(section, one, f"{_AT}/{section}/{i}")

    def _add(self, one: dict[str, Any], reading: Reading, at: str) -> None:
        """See to what is told of a reading, and keep it."""
        if one["name"] in self.found:
            raise Refusal("BAD_VALUE", f"{at}/name", "a new name", one["name"])
        if one["unit"] != reading.unit:
            raise Refusal("UNIT_MISMATCH", f"{at}/unit", reading.unit, one["unit"])
        if not one["name"].endswith(ending(reading.unit)):
            raise Refusal("UNIT_MISMATCH", f"{at}/name", f"...{ending(reading.unit)}", one["name"])
        if one["profiles"] != list(reading.profiles):
            expected = list(reading.profiles)
            raise Refusal("OUTCOME_NOT_DERIVED", f"{at}/profiles", expected, one["profiles"])
        require(one["value"], written(reading.value), f"{at}/value")
        self.found[one["name"]] = reading

    def _direct(self, one: dict[str, Any], at: str) -> None:
        values: list[int] = []
        profiles: set[str] = set()
        seen: set[str] = set()
        for j, name in enumerate(one["records"]):
            known(name, self._records, f"{at}/records/{j}")
            record = self._records[name]
            if name in seen:
                raise Refusal("BAD_VALUE", f"{at}/records/{j}", "each record once", name)
            seen.add(name)
            if record.refusal is not None:
                raise Refusal("RECORD_REFUSED", f"{at}/records/{j}", None, record.refusal)
            value = record.values.get(one["quantity"])
            if value is None:
                raise Refusal("MISSING_READING", f"{at}/records/{j}", one["quantity"], None)
            values.append(value)
            profiles.add(record.profile)
        if len(profiles) > 1:
            raise Refusal("PROFILE_MISMATCH", f"{at}/records", "one profile", sorted(profiles))
        quantities = spec.load("measurement.json")["quantities"]
        unit = next(q["unit"] for q in quantities if q["name"] == one["quantity"])
        found = statistic(one["statistic"], sorted(values), f"{at}/statistic")
        reading = Reading(one["kind"], unit, tuple(profiles), found, False, frozenset())
        self._add(one, reading, at)

    def _made(self, section: str, one: dict[str, Any], at: str) -> None:
        operation = one["operation"]
        least, most = _OPERANDS.get(operation, (2, 2))
        if not least <= len(one["operands"]) <= most:
            got = len(one["operands"])
            raise Refusal("BAD_VALUE", f"{at}/operands", f"{least} to {most} operands", got)
        for member, user in (("given", "given"), ("coefficient", "coefficient")):
            if (one[member] is None) == (operation == user):
                raise Refusal("BAD_VALUE", f"{at}/{member}", f"for {user} alone", one[member])
        outside, below = False, frozenset[str]()
        profiles: tuple[str, ...] = ()
        if operation == "given":
            read_unit(one["unit"], f"{at}/unit")
            value, unit = fraction(one["given"], f"{at}/given"), one["unit"]
            outside = unit == _BUDGET and value not in self._budgets
        elif operation == "coefficient":
            value, unit, profile = self._coefficient(one, at)
            profiles = (profile,)
        else:
            for j, name in enumerate(one["operands"]):
                known(name, self.found, f"{at}/operands/{j}")
            operands = [self.found[name] for name in one["operands"]]
            profiles = self._joined(operands, operation, at)
            value, unit = operate(operation, operands, one["unit"], at)
            below = frozenset(one["operands"]).union(*(operand.below for operand in operands))
            outside = any(operand.outside for operand in operands)
            self._check_kind(section, outside, at)
        if operation in ("given", "coefficient") and section == "predicted":
            self._check_kind(section, False, at)
        varies = varying(self._profiles, list(profiles))
        if one["varies"] != varies:
            raise Refusal("OUTCOME_NOT_DERIVED", f"{at}/varies", varies, one["varies"])
        self._add(one, Reading(one["kind"], unit, profiles, value, outside, below), at)

    def _check_kind(self, section: str, outside: bool, at: str) -> None:
        wanted = "predicted" if outside else "derived"
        if section != wanted:
            raise Refusal("READING_KIND", at, wanted, section)

    def _coefficient(self, one: dict[str, Any], at: str) -> Coefficient:
        key = (one["operands"][0], one["coefficient"])
        known(key[0], {fit for fit, _ in self._coefficients}, f"{at}/operands/0")
        if key not in self._coefficients:
            raise Refusal("BAD_VALUE", f"{at}/coefficient", "a coefficient of a fit", list(key))
        return self._coefficients[key]

    def _joined(self, operands: list[Reading], operation: str, at: str) -> tuple[str, ...]:
        """Give the profiles of what is made, and refuse to mix them but to compare."""
        profiles = sorted({name for operand in operands for name in operand.profiles})
        if len(profiles) > 1 and operation not in spec.load("measurement.json")["across"]:
            raise Refusal("PROFILE_MISMATCH", f"{at}/operands", "one profile", profiles)
        return tuple(profiles)


def statistic(name: str, values: list[int], at: str) -> Fraction:
    """Give a statistic of one value or more, which ascend.

    Raises:
        Refusal: BAD_VALUE, `only` of several.
    """
    count = len(values)
    if name == "only" and count != 1:
        raise Refusal("BAD_VALUE", at, "of one record", count)
    return {
        "only": Fraction(values[0]),
        "least": Fraction(values[0]),
        "greatest": Fraction(values[-1]),
        "sum": Fraction(sum(values)),
        "mean": Fraction(sum(values), count),
        "median": Fraction(values[(count - 1) // 2] + values[count // 2], 2),
    }[name]


def operate(operation: str, operands: list[Reading], target: str, at: str) -> tuple[Fraction, str]:
    """Apply an operation: value and unit.

    Raises:
        Refusal: UNIT_MISMATCH, ZERO_POPULATION.
    """
    values = [operand.value for operand in operands]
    units = [read_unit(operand.unit, at) for operand in operands]
    if operation == "convert":
        to = read_unit(target, f"{at}/unit")
        return values[0] * factor(units[0], to, f"{at}/unit"), target
    if operation == "product":
        return values[0] * values[1], write_unit(multiply(units[0], units[1]))
    if operation == "quotient":
        _divisor(values[1], at)
        return values[0] / values[1], write_unit(multiply(units[0], invert(units[1])))
    if operation == "steps":
        if [operand.unit for operand in operands] != ["token", _BUDGET]:
            got = [operand.unit for operand in operands]
            raise Refusal("UNIT_MISMATCH", f"{at}/operands", ["token", _BUDGET], got)
        _divisor(values[1], at)
        return Fraction(-((-values[0]) // values[1])), "step"
    if len(set(units)) > 1:
        got = [operand.unit for operand in operands]
        raise Refusal("UNIT_MISMATCH", f"{at}/operands", "one unit", got)
    if operation == "sum":
        return sum(values, Fraction(0)), operands[0].unit
    if operation == "difference":
        return values[0] - values[1], operands[0].unit
    _divisor(values[0], at)
    return values[1] / values[0] - 1, "1"


def _divisor(value: Fraction, at: str) -> None:
    if value == 0:
        raise Refusal("ZERO_POPULATION", f"{at}/operands", "a divisor that is not 0", 0)
