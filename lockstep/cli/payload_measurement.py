"""What `lockstep show` and `lockstep measure show` print of measurements and of withdrawals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from lockstep import spec
from lockstep.cli.payload_parts import SHOWN_DIGITS, about, counts_table, table
from lockstep.cli.payload_probes import probes
from lockstep.cli.tables import Table

DIGITS = 6
"""Significant digits of a figure that is no integer; the certificate has the fraction."""

_LISTED = 3
"""Names that are listed; of more the number."""

_SECTIONS = ("direct", "derived", "predicted")
"""Where readings stand, by their kind."""

_KINDS = {
    "DirectMeasurement": "measured",
    "DerivedAtCommonWorkload": "derived",
    "PredictedOutsideMeasuredArm": "predicted",
}


def measurement(predicate: dict[str, Any], rows: bool) -> list[Table]:
    """Show measurements: tables, fits, routes, printed figures, gates, settings, receipts."""
    readings, values = readings_of(predicate), values_of(predicate)
    places = {
        one["name"]: f"/predicate/{section}/{number}"
        for section in _SECTIONS
        for number, one in enumerate(predicate[section])
    }
    named = [
        table(
            f"{one['title']} ({_mixture(one['kinds'])})",
            ("reading", "value", "unit", "kind", "profile"),
            [_reading(readings[name], values) for name in one["readings"]],
            [places[name] for name in one["readings"]],
        )
        for one in predicate["tables"]
    ]
    others = [_reading(one, values) for one in readings.values()] if rows else []
    return [
        about(
            ("verdict", predicate["verdict"], "/predicate/verdict"),
            *(
                (f"profile {one['id']}", _profile(one), f"/predicate/profiles/{number}")
                for number, one in enumerate(predicate["profiles"])
            ),
            ("not run", "; ".join(predicate["not_run"]), "/predicate/not_run"),
        ),
        *probes(predicate["probes"], rows),
        *named,
        table("fits", ("fit", "law", "records", "coefficients", "largest residual", "condition"),
              map(_fit, predicate["fits"]), "/predicate/fits"),
        table("left out of fits", ("fit", "record", "why"), *_left_out(predicate["fits"])),
        table("routes", ("route", "first", "second", "apart", "envelope"),
              map(_route, predicate["routes"]), "/predicate/routes"),
        table("published figures", ("outcome", "what", "printed", "computed", "held to", "why"),
              [published(one, readings) for one in predicate["published"]],
              "/predicate/published"),
        table("gates", ("may", "serve for", "verdict", "within", "across"),
              map(_gate, predicate["gates"]), "/predicate/gates"),
        table("settings that nobody chose", ("arm", "setting", "effective", "cause", "failure"),
              _unchosen(predicate["arms"])),
        table("records refused", ("record", "arm", "why", "own tokens", "booked"),
              _receipts(predicate["records"])),
        table("readings", ("reading", "value", "unit", "kind", "profile"), others,
              places.values() if rows else ()),
        counts_table(predicate),
    ]  # fmt: skip


def withdrawal(predicate: dict[str, Any], rows: bool) -> list[Table]:
    """Show a withdrawal: which certificate, which claims, why, and what replaces them."""
    claims = [
        (
            one["pointer"] or "the whole certificate",
            one["reason"],
            one["replacement"]["says"] if one["replacement"] else "withdrawn without replacement",
        )
        for one in predicate["claims"]
    ]
    target = predicate["certificate"]
    return [
        about(
            ("certificate", target["payload_sha256"], "/predicate/certificate/payload_sha256"),
            ("its kind", target["predicate_type"], "/predicate/certificate/predicate_type"),
            ("not run", "; ".join(predicate["not_run"]), "/predicate/not_run"),
        ),
        table("WITHDRAWN", ("claim", "why", "instead"), claims, "/predicate/claims"),
        counts_table(predicate),
    ]


def readings_of(predicate: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Give every reading of a predicate by name."""
    return {one["name"]: one for section in _SECTIONS for one in predicate[section]}


def values_of(predicate: Mapping[str, Any]) -> dict[tuple[str, str], int]:
    """Give what the records of a predicate hold, by record and quantity."""
    return {
        (record["id"], one["quantity"]): one["value"]
        for record in predicate["records"]
        for one in record["values"]
    }


def number(stated: dict[str, str]) -> Fraction:
    """Read a fraction of a predicate."""
    return Fraction(int(stated["num"]), int(stated["den"]))


def shown(value: Fraction) -> str:
    """Write a fraction for people: an integer whole, anything else to six digits, half away."""
    if value.denominator == 1:
        return f"{value.numerator:,}"
    places = DIGITS - 1
    size = abs(value)
    while size >= 10 and places > 0:
        size, places = size / 10, places - 1
    while size < 1:
        size, places = size * 10, places + 1
    scaled = abs(value) * 10**places
    whole = (2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator)
    head, tail = divmod(whole, 10**places)
    return f"{'-' if value < 0 else ''}{head:,}" + (f".{tail:0{places}}" if places else "")


def _mixture(kinds: list[str]) -> str:
    return " and ".join(_KINDS[kind] for kind in kinds)


def ranged(one: dict[str, Any], values: Mapping[tuple[str, str], int]) -> str:
    """Say how far apart the values are that a measured reading is of; nothing of a single one.

    Args:
        one: a direct measurement of a predicate.
        values: by record and quantity.
    """
    found = [values[name, one["quantity"]] for name in one["records"]]
    least, greatest = min(found), max(found)
    if len(found) == 1:
        return ""
    wide = 1000 * greatest > spec.load("throughput.json")["spread_permille"] * least
    return f", {least:,} to {greatest:,}{', wide spread' if wide else ''}"


def _reading(one: dict[str, Any], values: Mapping[tuple[str, str], int]) -> tuple[str, ...]:
    value = shown(number(one["value"]))
    profiles = " against ".join(one["profiles"]) or "none"
    made = _made(one) + (ranged(one, values) if "quantity" in one else "")
    return one["name"], value, one["unit"], f"{_KINDS[one['kind']]}: {made}", profiles


def _made(one: dict[str, Any]) -> str:
    """Say of what a reading is made."""
    if "quantity" in one:
        records = one["records"]
        return f"{one['statistic']} {one['quantity']} of {_few(records, 'records')}"
    if one["operation"] == "coefficient":
        return f"{one['coefficient']} of the fit {one['operands'][0]}"
    if one["operation"] == "given":
        return "given"
    return f"{one['operation']} of {_few(one['operands'], 'readings')}"


def _few(names: list[str], what: str) -> str:
    return ", ".join(names) if len(names) <= _LISTED else f"{len(names)} {what}"


def _left_out(fits: list[dict[str, Any]]) -> tuple[list[tuple[str, ...]], list[str]]:
    """Give the records that fits leave out, each with its reason, and where they stand."""
    rows: list[tuple[str, ...]] = []
    places = []
    for place, fit in enumerate(fits):
        for number, one in enumerate(fit["left_out"]):
            rows.append((fit["name"], one["record"], one["reason"]))
            places.append(f"/predicate/fits/{place}/left_out/{number}")
    return rows, places


def _profile(one: dict[str, Any]) -> str:
    members = [(name, value) for name, value in one.items() if name != "id"]
    known = [
        f"{name} {value[:SHOWN_DIGITS] if name.endswith('_sha256') else value}"
        for name, value in members
        if value is not None
    ]
    unknown = [name for name, value in members if value is None]
    return "; ".join([*known, f"not known: {', '.join(unknown)}"] if unknown else known)


def _fit(one: dict[str, Any]) -> tuple[str, ...]:
    coefficients = [
        f"{c['name']} {shown(number(c['value']))} {c['unit']}" for c in one["coefficients"]
    ]
    condition = Fraction(int(one["condition_permille"]), 1000)
    residual = shown(number(one["largest_residual"]))
    population = f"{one['population']}, {len(one['left_out'])} left out"
    return (
        one["name"], one["law"], population, "; ".join(coefficients), residual, shown(condition),
    )  # fmt: skip


def _route(one: dict[str, Any]) -> tuple[str, ...]:
    apart = f"{int(one['distance_ppm']):,} ppm"
    return one["name"], one["first"], one["second"], apart, f"{one['envelope_ppm']:,} ppm"


def published(one: dict[str, Any], readings: dict[str, Any]) -> tuple[str, ...]:
    """Give a printed figure's row: outcome, what, printed, computed, how near it must be, why."""
    computed = "-" if one["reading"] is None else shown(number(readings[one["reading"]]["value"]))
    unit = "" if one["unit"] == "1" else f" {one['unit']}"
    printed = f"{shown(number(one['value']))}{unit}"
    outcome, why = one["outcome"].replace("_", " "), one["reason"] or ""
    return outcome, one["says"], printed, computed, _held_to(one), why


def _held_to(one: dict[str, Any]) -> str:
    """Say how near a computed figure must come to the printed one."""
    if one["reading"] is None:
        return "-"
    if one["rounding"] == "envelope":
        return f"within {one['envelope_ppm']:,} ppm"
    digit = shown(number(one["resolution"]))
    return f"nearest {digit}" if one["rounding"] == "nearest" else f"down to {digit}"


def _gate(one: dict[str, Any]) -> tuple[str, ...]:
    within = "not measured" if one["within_unat"] is None else f"{one['within_unat']:,} unat"
    across = "not measured" if one["across_unat"] is None else f"{one['across_unat']:,} unat"
    return one["second"], one["first"], one["verdict"], within, across


def _unchosen(arms: list[dict[str, Any]]) -> Iterable[tuple[str, ...]]:
    for arm in arms:
        for one in arm["settings"]:
            if not one["chosen"]:
                cause = one["cause"].replace("_", " ")
                yield arm["id"], one["name"], one["effective"], cause, one["failure"] or ""


def _receipts(records: list[dict[str, Any]]) -> Iterable[tuple[str, ...]]:
    for one in records:
        if one["refusal"] is not None:
            watched = one["attribution"] or {"own_tokens": "-", "booked_tokens": "-"}
            yield (
                one["id"], one["arm"], one["refusal"].replace("_", " "),
                str(watched["own_tokens"]), str(watched["booked_tokens"]),
            )  # fmt: skip
