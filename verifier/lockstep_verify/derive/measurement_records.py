"""Records of measurements, and why one may enter no figure (MEAS-1 to MEAS-5)."""

import tomllib
from functools import cache
from typing import Any, NamedTuple

from lockstep_verify import spec
from lockstep_verify.derive import measurement_samples
from lockstep_verify.errors import Refusal

_AT = "/predicate"


class Record(NamedTuple):
    """One record as figures take it: values by quantity, arm and profile, and its refusal.

    Attributes:
        against: profile and launch of the arm that a distance is measured against.
        group: of a sample its arm and entry, which its name has before the block; else None.
    """

    name: str
    arm: str
    profile: str
    launch: int
    budget: int | None
    values: dict[str, int | None]
    refusal: str | None
    against: tuple[str, int] | None
    group: str | None


def check_head(predicate: dict[str, Any]) -> None:
    """See that sources, profiles, arms and records are told apart, and name each other rightly.

    Raises:
        Refusal: BAD_VALUE, OUTCOME_NOT_DERIVED.
    """
    for section in ("sources", "profiles", "arms", "records"):
        unique(predicate[section], "id", f"{_AT}/{section}")
    members = spec.load("measurement.json")["profile"]
    seen: list[list[str | None]] = []
    for i, profile in enumerate(predicate["profiles"]):
        told = [profile[member] for member in members]
        if told in seen:
            raise Refusal("BAD_VALUE", f"{_AT}/profiles/{i}", "another profile", profile["id"])
        seen.append(told)
    profiles = {one["id"] for one in predicate["profiles"]}
    probed = measurement_samples.arms(predicate)
    for i, arm in enumerate(predicate["arms"]):
        at = f"{_AT}/arms/{i}"
        known(arm["profile"], profiles, f"{at}/profile")
        if arm["id"] in probed:
            measurement_samples.check_arm(arm, probed[arm["id"]], at)
        unique(arm["settings"], "name", f"{at}/settings")
        for j, setting in enumerate(arm["settings"]):
            _check_setting(setting, f"{at}/settings/{j}")


def unique(entries: list[dict[str, Any]], member: str, at: str) -> None:
    """See that no two entries have one name.

    Raises:
        Refusal: BAD_VALUE at the later.
    """
    seen: set[str] = set()
    for i, entry in enumerate(entries):
        if entry[member] in seen:
            raise Refusal("BAD_VALUE", f"{at}/{i}/{member}", "a new name", entry[member])
        seen.add(entry[member])


def known(name: str, names: Any, at: str) -> None:
    """See that a name is one of some.

    Raises:
        Refusal: BAD_VALUE.
    """
    if name not in names:
        raise Refusal("BAD_VALUE", at, sorted(names), name)


def _check_setting(setting: dict[str, Any], at: str) -> None:
    if setting["requested"] is None:
        cause = "absorbed_failure" if setting["failure"] is not None else "resolved_default"
    else:
        cause = "requested" if setting["effective"] == setting["requested"] else "altered"
    for member, expected in (("cause", cause), ("chosen", cause == "requested")):
        if setting[member] != expected:
            raise Refusal("OUTCOME_NOT_DERIVED", f"{at}/{member}", expected, setting[member])


def read_records(predicate: dict[str, Any]) -> list[Record]:
    """Read the records, and judge each by the rules of MEAS-4 and MEAS-5.

    Raises:
        Refusal: BAD_VALUE, METRIC_NOT_AN_ANSWER, OUTCOME_NOT_DERIVED.
    """
    arms = {arm["id"]: arm for arm in predicate["arms"]}
    sources = {source["id"] for source in predicate["sources"]}
    sampled = measurement_samples.records(predicate)
    probed = measurement_samples.arms(predicate)
    found = []
    for i, one in enumerate(predicate["records"]):
        at = f"{_AT}/records/{i}"
        _check_names(one, arms, sources, at)
        if one["sample"] is not None:
            measurement_samples.check_record_head(one, sampled, at)
        elif one["arm"] in probed:
            measurement_samples.check_unsampled(one, at)
        found.append(_record(one, arms, sampled, at))
    given = len([one for one in predicate["records"] if one["sample"] is not None])
    if given < len(sampled):
        code = "COVERAGE_DENOMINATOR_NOT_DERIVED"
        raise Refusal(code, f"{_AT}/records", f"records of {len(sampled)} samples", given)
    return found


def _check_names(
    one: dict[str, Any], arms: dict[str, dict[str, Any]], sources: set[str], at: str
) -> None:
    known(one["arm"], arms, f"{at}/arm")
    if one["against"] is not None:
        known(one["against"], arms, f"{at}/against")
    if one["source"] is not None:
        known(one["source"], sources, f"{at}/source")


def _record(
    one: dict[str, Any],
    arms: dict[str, dict[str, Any]],
    sampled: dict[str, measurement_samples.Sampled],
    at: str,
) -> Record:
    arm, values = arms[one["arm"]], one["values"]
    for j in range(1, len(values)):
        if values[j]["quantity"] <= values[j - 1]["quantity"]:
            expected = "quantities that ascend"
            raise Refusal("BAD_VALUE", f"{at}/values/{j}/quantity", expected, values[j]["quantity"])
    for j, value in enumerate(values):
        if value["metric"] is not None:
            _check_metric(arm["engine"], value, f"{at}/values/{j}/metric")
    told: dict[str, int | None] = {value["quantity"]: value["value"] for value in values}
    if ("distance_unat" in told) != (one["against"] is not None):
        raise Refusal("BAD_VALUE", f"{at}/against", "an arm, of a distance alone", one["against"])
    if one["sample"] is None:
        refusal = judge(told, one["attribution"])
    else:
        measurement_samples.check_record_values(one, sampled[one["sample"]], at)
        refusal = sampled[one["sample"]].refusal
    if refusal != one["refusal"]:
        raise Refusal("OUTCOME_NOT_DERIVED", f"{at}/refusal", refusal, one["refusal"])
    against, group = None, None
    if one["against"] is not None:
        other = arms[one["against"]]
        against = (other["profile"], other["launch"])
    if one["sample"] is not None:
        group = one["sample"].rpartition("-")[0]
    return Record(
        one["id"], one["arm"], arm["profile"], arm["launch"], arm["budget_tokens"], told, refusal,
        against, group,
    )  # fmt: skip


def judge(values: dict[str, int | None], attribution: dict[str, int | None] | None) -> str | None:
    """Give why a record may enter no figure, or None (MEAS-4)."""
    if any(value is None for value in values.values()):
        return "missing_reading"
    told = {name: value or 0 for name, value in values.items()}
    grown = None
    if "tokens_before" in told and "tokens_after" in told:
        grown = told["tokens_after"] - told["tokens_before"]
    if grown is not None and grown < 0:
        return "metric_backwards"
    if attribution is not None:
        own, booked = attribution["own_tokens"] or 0, attribution["booked_tokens"] or 0
        allowance = spec.load("measurement.json")["attribution"]["allowance_permille"]
        mine, running = attribution["own_requests"], attribution["running_requests"]
        company = mine is not None and running is not None and running > mine
        if company or abs(booked - own) * 1000 > own * allowance:
            return "foreign_work"
    if grown == 0 or any(told.get(name) == 0 for name in ("steps", "tokens", "wall_us")):
        return "zero_population"
    return None


@cache
def pairings() -> dict[tuple[str, str, str], dict[str, str]]:
    """Give the registry of metrics and questions by engine, metric and question (MEAS-5)."""
    data = tomllib.loads(spec.read("metrics.toml").decode("utf-8"))
    return {(one["engine"], one["metric"], one["question"]): one for one in data["pairing"]}


def _check_metric(engine: str, value: dict[str, Any], at: str) -> None:
    """See that a metric answers what it was read for."""
    quantities = spec.load("measurement.json")["quantities"]
    question = next(q["question"] for q in quantities if q["name"] == value["quantity"])
    entry = pairings().get((engine, value["metric"], question or ""))
    if entry is None or entry["answers"] != "yes":
        instead = "a metric of the registry"
        if entry is not None:
            instead = entry["instead"] or entry["reason"]
        raise Refusal("METRIC_NOT_AN_ANSWER", at, instead, value["metric"])


def varying(profiles: list[dict[str, Any]], names: list[str]) -> list[str]:
    """Give the members in which profiles differ, what is not known equalling nothing (MEAS-7)."""
    chosen = [profile for profile in profiles if profile["id"] in names]
    if len(chosen) < 2:
        return []
    found = []
    for member in spec.load("measurement.json")["profile"]:
        told = {profile[member] for profile in chosen}
        if len(told) > 1 or None in told:
            found.append(member)
    return found
