"""Routes, printed figures, gates and tables of measurements (MEAS-10 to MEAS-13)."""

from fractions import Fraction
from typing import Any

from lockstep_verify import spec
from lockstep_verify.derive.measurement_fits import digits, require
from lockstep_verify.derive.measurement_readings import Reading
from lockstep_verify.derive.measurement_records import Record, known, unique, varying
from lockstep_verify.derive.measurement_units import fraction, read_unit
from lockstep_verify.errors import Refusal

_AT = "/predicate"
_OUTCOME = "OUTCOME_NOT_DERIVED"


def check_routes(routes: list[dict[str, Any]], readings: dict[str, Reading]) -> None:
    """See that two independent routes lead to one quantity.

    Raises:
        Refusal: BAD_VALUE, UNIT_MISMATCH, PROFILE_MISMATCH, ZERO_POPULATION,
            STATISTICS_DO_NOT_RECOMPUTE, TWO_ROUTES_DISAGREE.
    """
    unique(routes, "name", f"{_AT}/routes")
    for i, route in enumerate(routes):
        at = f"{_AT}/routes/{i}"
        names = (route["first"], route["second"])
        for member, name in zip(("first", "second"), names, strict=True):
            known(name, readings, f"{at}/{member}")
        first, second = (readings[name] for name in names)
        if not first.rests_on & ~second.rests_on or not second.rests_on & ~first.rests_on:
            raise Refusal("BAD_VALUE", at, "routes over values of their own", list(names))
        if first.unit != second.unit:
            raise Refusal("UNIT_MISMATCH", at, first.unit, second.unit)
        if first.profiles != second.profiles:
            raise Refusal("PROFILE_MISMATCH", at, list(first.profiles), list(second.profiles))
        if second.value == 0:
            raise Refusal("ZERO_POPULATION", f"{at}/second", "a quantity that is not 0", 0)
        apart = abs(first.value - second.value) * 1_000_000 / abs(second.value)
        distance = -(-apart.numerator // apart.denominator)
        require(route["distance_ppm"], digits(distance), f"{at}/distance_ppm")
        if distance > route["envelope_ppm"]:
            expected = f"at most {route['envelope_ppm']} ppm"
            raise Refusal("TWO_ROUTES_DISAGREE", at, expected, f"{digits(distance)} ppm")


def check_published(
    published: list[dict[str, Any]], readings: dict[str, Reading], sources: set[str]
) -> None:
    """Judge printed figures again by what was computed.

    Raises:
        Refusal: BAD_VALUE, UNIT_MISMATCH, OUTCOME_NOT_DERIVED.
    """
    unique(published, "name", f"{_AT}/published")
    for i, one in enumerate(published):
        at = f"{_AT}/published/{i}"
        known(one["source"], sources, f"{at}/source")
        read_unit(one["unit"], f"{at}/unit")
        printed = fraction(one["value"], f"{at}/value")
        resolution = fraction(one["resolution"], f"{at}/resolution")
        judged = one["reading"] is not None and one["rounding"] != "envelope"
        most = abs(printed) or 1
        if judged and not 0 < resolution <= most:
            expected = f"above 0, at most {most}"
            raise Refusal("BAD_VALUE", f"{at}/resolution", expected, str(resolution))
        outcome = "not_rederivable"
        if one["reading"] is not None:
            known(one["reading"], readings, f"{at}/reading")
            if readings[one["reading"]].given:
                raise Refusal("BAD_VALUE", f"{at}/reading", "a reading", "a number that is given")
            outcome = _outcome(one, readings[one["reading"]], printed, resolution, at)
        elif one["reason"] is None:
            raise Refusal("BAD_VALUE", f"{at}/reason", "why it cannot be derived again", None)
        if one["outcome"] != outcome:
            raise Refusal(_OUTCOME, f"{at}/outcome", outcome, one["outcome"])


def _outcome(
    one: dict[str, Any], reading: Reading, printed: Fraction, resolution: Fraction, at: str
) -> str:
    if one["unit"] != reading.unit:
        raise Refusal("UNIT_MISMATCH", f"{at}/unit", reading.unit, one["unit"])
    above = reading.value - printed
    agrees = {
        "nearest": abs(above) <= resolution / 2,
        "down": 0 <= above < resolution,
        "envelope": abs(above) * 1_000_000 <= abs(reading.value) * one["envelope_ppm"],
    }[one["rounding"]]
    if one["kind"] is not None and one["kind"] != reading.kind:
        agrees = False
    return "agrees" if agrees else "contradicted"


def check_gates(predicate: dict[str, Any], records: list[Record]) -> None:
    """Decide again which profile may stand in for which.

    Raises:
        Refusal: BAD_VALUE, OUTCOME_NOT_DERIVED, STATISTICS_DO_NOT_RECOMPUTE,
            H10_COUNTS_DO_NOT_RECOMPUTE.
    """
    unique(predicate["gates"], "name", f"{_AT}/gates")
    profiles = {profile["id"] for profile in predicate["profiles"]}
    for i, gate in enumerate(predicate["gates"]):
        at = f"{_AT}/gates/{i}"
        for member in ("first", "second"):
            known(gate[member], profiles, f"{at}/{member}")
        if gate["first"] == gate["second"]:
            raise Refusal("BAD_VALUE", f"{at}/second", "another profile", gate["second"])
        _check_gate(gate, predicate["profiles"], records, at)


def _check_gate(
    gate: dict[str, Any], profiles: list[dict[str, Any]], records: list[Record], at: str
) -> None:
    found: dict[str, list[int]] = {
        name: []
        for name in (
            "first_repeats", "first_relaunches", "second_repeats", "second_relaunches", "across",
        )
    }  # fmt: skip
    sides = {gate["first"]: "first", gate["second"]: "second"}
    for record in records:
        distance = record.values.get("distance_unat")
        if distance is None or record.refusal is not None or record.profile not in sides:
            continue
        if record.against == (record.profile, record.launch):
            found[f"{sides[record.profile]}_repeats"].append(distance)
        elif record.against is not None and record.against[0] == record.profile:
            found[f"{sides[record.profile]}_relaunches"].append(distance)
        elif record.against is not None and record.against[0] in sides:
            found["across"].append(distance)
    varies = varying(profiles, list(sides))
    if gate["varies"] != varies:
        raise Refusal(_OUTCOME, f"{at}/varies", varies, gate["varies"])
    for name, distances in found.items():
        if gate[name] != len(distances):
            code = "H10_COUNTS_DO_NOT_RECOMPUTE"
            raise Refusal(code, f"{at}/{name}", len(distances), gate[name])
    across = found.pop("across")
    within = [distance for distances in found.values() for distance in distances]
    require(gate["within_unat"], max(within, default=None), f"{at}/within_unat")
    require(gate["across_unat"], max(across, default=None), f"{at}/across_unat")
    verdict = "unmeasured"
    if across and all(found.values()):
        verdict = "different" if max(across) > max(within) else "interchangeable"
    if gate["verdict"] != verdict:
        raise Refusal(_OUTCOME, f"{at}/verdict", verdict, gate["verdict"])


def check_tables(tables: list[dict[str, Any]], readings: dict[str, Reading]) -> None:
    """See that each table names the kinds of reading that it has.

    Raises:
        Refusal: BAD_VALUE, READING_KIND.
    """
    unique(tables, "name", f"{_AT}/tables")
    for i, table in enumerate(tables):
        for j, name in enumerate(table["readings"]):
            known(name, readings, f"{_AT}/tables/{i}/readings/{j}")
        present = {readings[name].kind for name in table["readings"]}
        kinds = [kind for kind in spec.load("measurement.json")["kinds"] if kind in present]
        if table["kinds"] != kinds:
            raise Refusal("READING_KIND", f"{_AT}/tables/{i}/kinds", kinds, table["kinds"])
