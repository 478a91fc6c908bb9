"""Readings: measured, derived, predicted, each computed again from what it names (MEAS-6, 7, 9)."""

from collections.abc import Iterable
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
    named,
    of_steps,
    read_unit,
    write_unit,
)
from lockstep_verify.errors import Refusal

_AT = "/predicate"
_OPERANDS = {"given": (0, 0), "coefficient": (1, 1), "sum": (2, 16), "convert": (1, 1)}
_BUDGET = "token/step"
_UNCOUNTED = ("given", "product", "quotient")
_KEEPING = ("sum", "difference", "convert")


class Reading(NamedTuple):
    """A reading that has been computed again.

    Attributes:
        kind: measured, derived or predicted, as the specification writes it.
        rests_on: the values of records that it is made of, a bit for each.
        given: whether it is a number that is given, and made of nothing.
        told: whether it rests on a number that is given.
        budgets: batch budgets that it carries, told and not held against a profile's arms yet.
        uncounted: whether it tells of steps that were neither counted nor computed (MEAS-9).
        outside: whether it lies outside the arms that were measured (MEAS-9).
    """

    kind: str
    unit: str
    profiles: tuple[str, ...]
    value: Fraction
    rests_on: int
    given: bool = False
    told: bool = False
    budgets: frozenset[Fraction] = frozenset()
    uncounted: bool = False
    outside: bool = False


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
        self._budgets: dict[str, set[int | None]] = {one["id"]: set() for one in self._profiles}
        for arm in predicate["arms"]:
            self._budgets[arm["profile"]].add(arm["budget_tokens"])
        self._records = {record.name: record for record in records}
        self._cells = _numbered(records)
        self._coefficients = coefficients
        self._groups = _groups(records)
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
        if not named(one["name"], reading.unit):
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
        self._check_samples(one, f"{at}/records")
        quantities = spec.load("measurement.json")["quantities"]
        unit = next(q["unit"] for q in quantities if q["name"] == one["quantity"])
        found = statistic(one["statistic"], sorted(values), f"{at}/statistic")
        bits = _bits(self._cells[name, one["quantity"]] for name in one["records"])
        self._add(one, Reading(one["kind"], unit, tuple(profiles), found, bits), at)

    def _check_samples(self, one: dict[str, Any], at: str) -> None:
        """See that samples of one arm and entry are taken all or none of them (MEAS-6)."""
        groups = {group for name in one["records"] if (group := self._records[name].group)}
        for group in sorted(groups):
            due = {
                record.name
                for record in self._groups[group]
                if record.refusal is None and record.values.get(one["quantity"]) is not None
            }
            if due != set(one["records"]):
                code = "COVERAGE_DENOMINATOR_NOT_DERIVED"
                raise Refusal(code, at, sorted(due), one["records"])

    def _made(self, section: str, one: dict[str, Any], at: str) -> None:
        operation = one["operation"]
        least, most = _OPERANDS.get(operation, (2, 2))
        if not least <= len(one["operands"]) <= most:
            got = len(one["operands"])
            raise Refusal("BAD_VALUE", f"{at}/operands", f"{least} to {most} operands", got)
        for member, user in (("given", "given"), ("coefficient", "coefficient")):
            if (one[member] is None) == (operation == user):
                raise Refusal("BAD_VALUE", f"{at}/{member}", f"for {user} alone", one[member])
        reading = self._computed(one, at)
        # A number that is given is none that was predicted, whatever it says.
        wanted = "predicted" if reading.outside and not reading.given else "derived"
        if section != wanted:
            raise Refusal("READING_KIND", at, wanted, section)
        varies = varying(self._profiles, list(reading.profiles))
        if one["varies"] != varies:
            raise Refusal("OUTCOME_NOT_DERIVED", f"{at}/varies", varies, one["varies"])
        self._add(one, reading, at)

    def _computed(self, one: dict[str, Any], at: str) -> Reading:
        """Compute a reading by its operation (MEAS-9)."""
        operation, kind = one["operation"], one["kind"]
        if operation == "coefficient":
            found = self._coefficient(one, at)
            bits = _bits(self._cells[cell] for cell in found.cells)
            return Reading(kind, found.unit, (found.profile,), found.value, bits)
        if operation == "given":
            read_unit(one["unit"], f"{at}/unit")
            value, unit = fraction(one["given"], f"{at}/given"), one["unit"]
            return self._placed(Reading(kind, unit, (), value, 0, given=True, told=True), operation)
        for j, name in enumerate(one["operands"]):
            known(name, self.found, f"{at}/operands/{j}")
        operands = [self.found[name] for name in one["operands"]]
        profiles = self._joined(operands, operation, at)
        value, unit = operate(operation, operands, one["unit"], at)
        bits, budgets = 0, frozenset[Fraction]()
        for operand in operands:
            bits, budgets = bits | operand.rests_on, budgets | operand.budgets
        told = any(operand.told for operand in operands)
        uncounted = any(operand.uncounted for operand in operands)
        outside = any(operand.outside for operand in operands)
        made = Reading(kind, unit, profiles, value, bits, False, told, budgets, uncounted, outside)
        return self._placed(made, operation)

    def _placed(self, one: Reading, operation: str) -> Reading:
        """Give a reading with the budgets that it carries, and whether it lies outside (MEAS-9)."""
        budgets = one.budgets | ({one.value} if one.told and one.unit == _BUDGET else frozenset())
        had = [self._budgets[name] for name in one.profiles]
        every = set[int | None]().union(*self._budgets.values())
        allowed = every.intersection(*had)
        kept = one.uncounted and operation in _KEEPING
        uncounted = kept or (one.told and operation in _UNCOUNTED and of_steps(one.unit, _AT))
        passes = one.unit == "step" and one.value in (0, 1)
        outside = one.outside or (uncounted and not passes) or not budgets <= allowed
        left = frozenset[Fraction]() if had else budgets
        return one._replace(budgets=left, uncounted=uncounted, outside=outside)

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


def _numbered(records: list[Record]) -> dict[tuple[str, str], int]:
    """Give each value of each record a place, by record and quantity."""
    found: dict[tuple[str, str], int] = {}
    for record in records:
        for quantity in record.values:
            found[record.name, quantity] = len(found)
    return found


def _bits(places: Iterable[int]) -> int:
    """Give the number that has a bit at each place."""
    found = bytearray()
    for place in sorted(places):
        found.extend(bytes(place // 8 + 1 - len(found)))
        found[place // 8] |= 1 << place % 8
    return int.from_bytes(found, "little")


def _groups(records: list[Record]) -> dict[str, list[Record]]:
    """Give the records of samples by arm and entry."""
    found: dict[str, list[Record]] = {}
    for record in records:
        if record.group is not None:
            found.setdefault(record.group, []).append(record)
    return found


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
