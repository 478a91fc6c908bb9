"""The claim about measurements: records, folded into the predicate (spec/measurement.md).

Nothing is measured, read or timed here: the same document gives the same predicate. No figure is
taken over that can be computed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from fractions import Fraction
from typing import Any

from lockstep import spec
from lockstep.claims.measurement_names import require_known, require_names, require_once
from lockstep.claims.measurement_readings import Readings, written
from lockstep.claims.measurement_totals import counts, verdict
from lockstep.errors import LockstepError
from lockstep.measure import comparisons, laws, profiles, units
from lockstep.measure.fits import Solution
from lockstep.measure.readings import kinds
from lockstep.measure.records import Record, cause, refusal, require_metrics

PREDICATE_TYPE = "urn:lockstep:certificate:measurement:v1"


def predicate(
    document: Mapping[str, Any], *, issued_at: str, producer: Mapping[str, str]
) -> dict[str, Any]:
    """Fold a document of records, and of what is asked of them, into the predicate.

    Args:
        document: sources, profiles, arms, records and what [MEAS-15] lists, without what is
            derived.
        issued_at: UTC time, as the schema writes it.
        producer: name, version, python, machine and command.

    Raises:
        LockstepError: the code of a rule that the document breaks, at its place; what is asked of
            samples alone [PROBE-15 to PROBE-18] the verifier alone refuses.
    """
    held = {name: list(document.get(name, ())) for name in _SECTIONS}
    require_names(held)
    held["profiles"] = _profiles(held["profiles"])
    held["sources"] = [{"revision": None, **one} for one in held["sources"]]
    known = {one["id"]: one for one in held["profiles"]}
    arms = [_arm(one, f"/arms/{i}") for i, one in enumerate(held["arms"])]
    by_id = {arm["id"]: arm for arm in arms}
    stated = [_record(one, by_id, f"/records/{i}") for i, one in enumerate(held["records"])]
    records = [opened(one, by_id) for one in stated]
    readings = Readings(records, known, arms)
    folded = {
        "sources": held["sources"],
        "profiles": held["profiles"],
        "arms": arms,
        "probes": document.get("probes"),
        "records": stated,
        "direct": [readings.measure(one, f"/direct/{i}") for i, one in enumerate(held["direct"])],
        "fits": [
            _fit(one, records, by_id, readings, f"/fits/{i}") for i, one in enumerate(held["fits"])
        ],
        "derived": [readings.derive(one, f"/derived/{i}") for i, one in enumerate(held["derived"])],
        "predicted": [
            readings.predict(one, f"/predicted/{i}") for i, one in enumerate(held["predicted"])
        ],
        "routes": [_route(one, readings, f"/routes/{i}") for i, one in enumerate(held["routes"])],
        "published": [
            _published(one, readings, f"/published/{i}") for i, one in enumerate(held["published"])
        ],
        "gates": [_gate(one, records, known, f"/gates/{i}") for i, one in enumerate(held["gates"])],
        "tables": [
            _table(one, readings, f"/tables/{i}/readings") for i, one in enumerate(held["tables"])
        ],
    }
    found = counts(folded, readings.rests_on_records)
    return {
        "issued_at": issued_at,
        "critical": [],
        "producer": dict(producer),
        **folded,
        "counts": found,
        "verdict": verdict(found),
        "not_run": [*spec.load("measurement.json")["not_run"], *document.get("not_run", ())],
    }


_SECTIONS = (
    "sources",
    "profiles",
    "arms",
    "records",
    "direct",
    "fits",
    "derived",
    "predicted",
    "routes",
    "published",
    "gates",
    "tables",
)


def opened(stated: Mapping[str, Any], arms: Mapping[str, Mapping[str, Any]]) -> Record:
    """Give a record of the predicate as folds take it."""
    arm = arms[stated["arm"]]
    against = None if stated["against"] is None else arms[stated["against"]]
    return Record(
        stated["id"],
        stated["arm"],
        arm["profile"],
        arm["launch"],
        arm["budget_tokens"],
        {one["quantity"]: one["value"] for one in stated["values"]},
        stated["refusal"],
        None if against is None else (against["profile"], against["launch"]),
    )


def _profiles(stated: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    unknown = dict.fromkeys(profiles.members())
    full = [{**unknown, **one} for one in stated]
    require_once((tuple(one[name] for name in unknown) for one in full), "/profiles")
    return full


def _arm(one: Mapping[str, Any], pointer: str) -> dict[str, Any]:
    asked, settings = one.get("settings", ()), []
    require_once((setting["name"] for setting in asked), f"{pointer}/settings", "/name")
    for setting in asked:
        full = {"requested": None, "failure": None, **setting}
        why = cause(full)
        settings.append({**full, "cause": why, "chosen": why == "requested"})
    return {"budget_tokens": None, **one, "settings": settings}


def _record(
    one: Mapping[str, Any], arms: Mapping[str, Mapping[str, Any]], pointer: str
) -> dict[str, Any]:
    values = sorted(
        ({"resolution": 1, "metric": None, **value} for value in one["values"]),
        key=lambda value: str(value["quantity"]),
    )
    quantities = [value["quantity"] for value in values]
    require_once(quantities, f"{pointer}/values", "/quantity")
    if ("distance_unat" in quantities) != (one.get("against") is not None):
        expected = "an arm, of a distance alone"
        raise LockstepError("BAD_VALUE", f"{pointer}/against", expected, one.get("against"))
    require_metrics(values, arms[one["arm"]]["engine"], f"{pointer}/values")
    attribution, sample = one.get("attribution"), one.get("sample")
    if attribution is not None:
        attribution = {"own_requests": None, "running_requests": None, **attribution}
    return {
        "id": one["id"],
        "arm": one["arm"],
        "against": one.get("against"),
        "source": one.get("source"),
        "sample": sample,
        "values": values,
        "attribution": attribution,
        # The windows of samples have said already whether they may be used [PROBE-6].
        "refusal": refusal({v["quantity"]: v["value"] for v in values}, attribution)
        if sample is None
        else one["refusal"],
    }


def _fit(
    one: Mapping[str, Any],
    records: list[Record],
    arms: Collection[str],
    readings: Readings,
    pointer: str,
) -> dict[str, Any]:
    law = laws.law(one["law"], pointer)
    left_out = [dict(entry) for entry in one.get("left_out", ())]
    chosen = _population(one, records, arms, pointer)
    solution = laws.fit(one["law"], chosen, pointer)
    readings.fitted(one["name"], chosen, law, solution)
    return {
        "name": one["name"],
        "law": one["law"],
        "profile": chosen[0].profile,
        "arms": list(one["arms"]),
        "left_out": left_out,
        "population": len(chosen),
        "rank": solution.rank,
        "determinant": written(solution.determinant),
        "condition_permille": str(solution.condition_permille),
        "coefficients": [
            {"name": name, "unit": unit, "value": written(value)}
            for (name, unit), value in zip(law["coefficients"], solution.coefficients, strict=True)
        ],
        "ranges": _ranges(one["law"], chosen),
        **_residuals(solution),
    }


def _population(
    one: Mapping[str, Any], records: list[Record], arms: Collection[str], pointer: str
) -> list[Record]:
    """Give the records of a fit; what it leaves out is a record that it could take [MEAS-8]."""
    require_known(one["arms"], arms, f"{pointer}/arms")
    require_once(one["arms"], f"{pointer}/arms")
    able = {record.id for record in laws.population(records, one["law"], one["arms"], ())}
    left_out = [entry["record"] for entry in one.get("left_out", ())]
    require_once(left_out, f"{pointer}/left_out", "/record")
    require_known(left_out, able, f"{pointer}/left_out", "/record")
    return laws.population(records, one["law"], one["arms"], left_out)


def _residuals(solution: Solution) -> dict[str, Any]:
    return {
        "largest_residual": written(solution.largest_residual),
        "mean_square_residual": written(solution.mean_square_residual),
    }


def _ranges(name: str, chosen: list[Record]) -> list[dict[str, Any]]:
    columns = zip(*(laws.point(name, record)[0] for record in chosen), strict=True)
    return [
        {"regressor": regressor, "least": written(min(cells)), "greatest": written(max(cells))}
        for regressor, cells in zip(laws.law(name)["regressors"], columns, strict=True)
    ]


def _route(one: Mapping[str, Any], readings: Readings, pointer: str) -> dict[str, Any]:
    readings.require_independent(one["first"], one["second"], pointer)
    found = comparisons.require_agreement(
        readings.named(one["first"]), readings.named(one["second"]), one["envelope_ppm"], pointer
    )
    return {**one, "distance_ppm": str(found)}


def _published(one: Mapping[str, Any], readings: Readings, pointer: str) -> dict[str, Any]:
    full = {
        "resolution": "1", "rounding": "nearest", "envelope_ppm": 0, "kind": None, "reading": None,
        "reason": None, **one,
    }  # fmt: skip
    units.parse(full["unit"], f"{pointer}/unit")
    reading = None
    if full["reading"] is not None:
        comparisons.require_resolution(full, pointer)
        reading = readings.named(full["reading"], f"{pointer}/reading")
        readings.require_made(full["reading"], f"{pointer}/reading")
    elif full["reason"] is None:
        expected = "why it cannot be derived again"
        raise LockstepError("BAD_VALUE", f"{pointer}/reason", expected, None)
    return {
        **full,
        "value": written(Fraction(full["value"])),
        "resolution": written(Fraction(full["resolution"])),
        "outcome": comparisons.outcome(full, reading, pointer),
    }


def _table(one: Mapping[str, Any], readings: Readings, pointer: str) -> dict[str, Any]:
    shown = [readings.named(name, f"{pointer}/{i}") for i, name in enumerate(one["readings"])]
    return {**one, "kinds": kinds(shown)}


def _gate(
    one: Mapping[str, Any],
    records: list[Record],
    known: Mapping[str, Mapping[str, Any]],
    pointer: str,
) -> dict[str, Any]:
    if one["first"] == one["second"]:
        raise LockstepError("BAD_VALUE", f"{pointer}/second", "another profile", one["second"])
    within, across = comparisons.within_and_across(records, one["first"], one["second"])
    everywhere = [distance for distances in within.values() for distance in distances]
    return {
        **one,
        "varies": profiles.varying(known, (one["first"], one["second"])),
        **{name: len(distances) for name, distances in within.items()},
        "across": len(across),
        "within_unat": max(everywhere, default=None),
        "across_unat": max(across, default=None),
        "verdict": comparisons.substitutable(within, across),
    }
