"""Readings, routes and gates: nothing passes for what it is not."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from lockstep.measure.comparisons import (
    require_agreement,
    require_substitutable,
    substitutable,
)
from lockstep.measure.readings import DerivedAtCommonWorkload, DirectMeasurement, kinds, statistic
from tests.measurement_records import document, folded, given, made
from tests.refusals import refused


def section(which: str, place: int, **changes: Any) -> dict[str, Any]:
    """Give a section of the document in which one entry was changed."""
    asked = document()
    asked[which][place] |= changes
    return {which: asked[which]}


def test_a_prediction_is_no_derivation_and_no_measurement() -> None:
    asked = document()
    moved = asked["predicted"].pop()
    asked["derived"].append({**moved, "workload": moved.pop("outside")})
    told = refused("READING_KIND", lambda: folded(**asked))
    assert told.pointer == "/derived/10"
    inside = section("predicted", 0, operands=["token_us_per_token", "budget_token_per_step"])
    assert refused("READING_KIND", lambda: folded(**inside)).pointer == "/predicted/0"


def test_a_table_names_the_kinds_that_it_mixes() -> None:
    found = folded()["tables"][0]
    assert found["kinds"] == ["DirectMeasurement", "DerivedAtCommonWorkload"]
    reading = DirectMeasurement("a_us", "us", ("p",), Fraction(1))
    assert kinds([reading]) == ["DirectMeasurement"]


def test_a_rate_in_the_wrong_unit_is_refused_by_the_second_route() -> None:
    asked = document()
    # 966 microseconds for each thousand tokens: a plausible small number, a thousand times off.
    asked["derived"][4] = given("token_us_per_token", "0.966", "us/token")
    told = refused("TWO_ROUTES_DISAGREE", lambda: folded(**asked))
    assert told.pointer == "/routes/0"
    # Called milliseconds, it cannot even be added to what is in microseconds.
    asked["derived"][4] = given("token_ms_per_token", "0.966", "ms/token")
    asked["derived"][5]["operands"][0] = "token_ms_per_token"
    asked["derived"][5]["name"] = "tokens_ms_per_step"
    asked["derived"][6]["operands"][1] = "tokens_ms_per_step"
    refused("UNIT_MISMATCH", lambda: folded(**asked))


@pytest.mark.parametrize(
    ("which", "place", "member", "value"),
    [("sources", 0, "id", "text"), ("profiles", 1, "id", "one"), ("arms", 1, "id", "small"),
     ("records", 1, "id", "small-512"), ("fits", 0, "name", "law"), ("routes", 0, "name", "stall"),
     ("published", 1, "name", "rate"), ("gates", 0, "name", "two-for-one"),
     ("tables", 0, "name", "walls"), ("arms", 1, "profile", "none"), ("records", 0, "arm", "none"),
     ("records", 11, "against", "none"), ("records", 0, "source", "none"),
     ("published", 0, "source", "none"), ("gates", 0, "first", "none"),
     ("gates", 0, "second", "none")],
)  # fmt: skip
def test_names_are_told_apart_and_refer_to_something(
    which: str, place: int, member: str, value: str
) -> None:
    """A section of one entry gets a second one of its name."""
    entries = document()[which]
    if len(entries) == 1 and entries[0].get(member) == value:
        entries, place = [*entries, entries[0]], 1
    entries[place] = {**entries[place], member: value}
    told = refused("BAD_VALUE", lambda: folded(**{which: entries}))
    assert told.pointer == f"/{which}/{place}/{member}"


COLD = {"record": "large-512", "reason": "cold"}
WALL = {"quantity": "wall_us", "value": 1}


@pytest.mark.parametrize(
    ("which", "place", "changes", "at"),
    [("profiles", 1, {"topology": "one rank"}, ""),
     ("arms", 0, {"settings": [{"name": "budget", "effective": "1"}] * 2}, "/settings/1/name"),
     ("records", 0, {"values": [WALL, WALL]}, "/values/1/quantity"),
     ("records", 0, {"against": "other"}, "/against"),
     ("records", 11, {"against": None}, "/against"),
     ("direct", 2, {"records": ["small-512", "small-512"]}, "/records/1"),
     ("fits", 0, {"arms": ["small", "small"]}, "/arms/1"),
     ("fits", 0, {"arms": ["small", "none"]}, "/arms/1"),
     ("fits", 0, {"left_out": [COLD, COLD]}, "/left_out/1/record"),
     ("fits", 0, {"left_out": [{"record": "stalled", "reason": "cold"}]}, "/left_out/0/record"),
     ("derived", 3, {"given": "1"}, "/given"), ("derived", 0, {"given": None}, "/given"),
     ("derived", 5, {"coefficient": "per_step"}, "/coefficient"),
     ("published", 2, {"reason": None}, "/reason"),
     ("gates", 0, {"second": "one"}, "/second"),
     ("tables", 0, {"readings": ["wall_us", "none"]}, "/readings/1")],
)  # fmt: skip
def test_a_document_is_refused_where_it_breaks_a_rule(
    which: str, place: int, changes: dict[str, Any], at: str
) -> None:
    told = refused("BAD_VALUE", lambda: folded(**section(which, place, **changes)))
    assert told.pointer == f"/{which}/{place}{at}"


@pytest.mark.parametrize(
    ("place", "operands"),
    [(0, ["wall_us"]), (3, []), (3, ["law", "law"]), (5, ["token_us_per_token"]),
     (6, ["step_us_per_step"]), (6, ["step_us_per_step"] * 17), (8, ["law_us", "law_us"])],
)  # fmt: skip
def test_an_operation_has_its_operands(place: int, operands: list[str]) -> None:
    told = refused("BAD_VALUE", lambda: folded(**section("derived", place, operands=operands)))
    assert told.pointer == f"/derived/{place}/operands"


def test_a_law_is_one_of_the_data() -> None:
    told = refused("BAD_VALUE", lambda: folded(**section("fits", 0, law="cubic")))
    assert told.pointer == "/fits/0/law"


def test_a_route_must_not_rest_on_the_other() -> None:
    refused("BAD_VALUE", lambda: folded(**section("routes", 0, second="law_us")))
    refused("BAD_VALUE", lambda: folded(**section("routes", 0, first="wall_us", second="law_us")))
    asked = document()
    asked["derived"].append(made("again_us", "sum", "law_us", "law_us"))
    asked["routes"][0] |= {"first": "again_us", "second": "law_us"}
    refused("BAD_VALUE", lambda: folded(**asked))


def test_a_route_over_values_of_the_other_is_none_of_its_own() -> None:
    refused("BAD_VALUE", lambda: folded(**section("routes", 0, second="wall_us")))
    asked = document()
    asked["direct"].append({**asked["direct"][0], "name": "twin_us"})
    asked["routes"][0] |= {"first": "wall_us", "second": "twin_us"}
    assert refused("BAD_VALUE", lambda: folded(**asked)).pointer == "/routes/0"


def test_a_printed_figure_is_held_to_its_digits_and_to_a_reading() -> None:
    told = refused("BAD_VALUE", lambda: folded(**section("published", 0, resolution="967")))
    assert told.pointer == "/published/0/resolution"
    refused("BAD_VALUE", lambda: folded(**section("published", 0, resolution="0")))
    one = section("published", 0, reading="nobody_token_per_step", unit="token/step")
    assert refused("BAD_VALUE", lambda: folded(**one)).pointer == "/published/0/reading"


def test_arms_of_one_launch_are_no_relaunch() -> None:
    assert folded()["gates"][0]["verdict"] == "different"
    gate = folded(**section("arms", 1, launch=1))["gates"][0]
    assert (gate["first_repeats"], gate["first_relaunches"]) == (2, 0)
    assert gate["verdict"] == "unmeasured"


def test_a_budget_of_an_arm_without_records_was_had() -> None:
    asked = document()
    asked["derived"] += [given("idle_token_per_step", "512", "token/step"),
                         made("idle_us_per_step", "product", "token_us_per_token",
                              "idle_token_per_step")]  # fmt: skip
    refused("READING_KIND", lambda: folded(**asked))
    asked["arms"].append({**asked["arms"][0], "id": "idle", "launch": 9, "budget_tokens": 512})
    assert folded(**asked)["counts"]["derived"] == 12


def test_profiles_are_compared_and_not_joined() -> None:
    asked = document()
    asked["derived"].append(made("both_us", "sum", "same_us", "other_us"))
    refused("PROFILE_MISMATCH", lambda: folded(**asked))
    asked = document()
    asked["direct"][2]["records"] = ["small-4096", "other-4096"]
    refused("PROFILE_MISMATCH", lambda: folded(**asked))
    assert folded()["derived"][9]["varies"] == ["topology"]


def test_what_is_not_known_of_two_profiles_varies() -> None:
    asked = document()
    for one in asked["profiles"]:
        one["tokenizer"] = None
    assert folded(**asked)["derived"][9]["varies"] == ["tokenizer", "topology"]


def test_refused_records_and_missing_readings_enter_no_figure() -> None:
    asked = document()
    asked["direct"][0]["records"] = ["small-6000"]
    assert "foreign_work" in str(refused("RECORD_REFUSED", lambda: folded(**asked)))
    refused("MISSING_READING", lambda: folded(**section("direct", 0, records=["stalled"])))
    asked = document()
    asked["records"][0]["values"][0]["value"] = None
    found = folded(**{**asked, "direct": asked["direct"][:2] + asked["direct"][3:]})
    assert found["records"][0]["refusal"] == "missing_reading"
    assert found["fits"][0]["population"] == 7


def test_nothing_is_divided_by_nothing() -> None:
    asked = document()
    asked["derived"] += [given("none_us", "0", "us"), made("x_ratio", "quotient", "law_us",
                                                           "none_us")]  # fmt: skip
    refused("ZERO_POPULATION", lambda: folded(**asked))
    asked["derived"][-1] = made("x_ratio", "change", "none_us", "law_us")
    refused("ZERO_POPULATION", lambda: folded(**asked))
    refused("ZERO_POPULATION", lambda: statistic("mean", []))


def test_names_and_operands_are_held_to_the_rules() -> None:
    refused("UNIT_MISMATCH", lambda: folded(**section("direct", 0, name="wall_ms")))
    refused("BAD_VALUE", lambda: folded(**section("direct", 0, name="stall_us")))
    refused("BAD_VALUE", lambda: folded(**section("derived", 5, operands=["step_us_per_step"])))
    refused("BAD_VALUE", lambda: folded(**section("derived", 3, coefficient="per_depth")))
    wrong = section("derived", 8, unit="as/step", name="token_as_per_step")
    refused("UNIT_MISMATCH", lambda: folded(**wrong))


def test_an_envelope_bounds_the_distance_of_routes_exactly() -> None:
    def reading(value: int) -> DerivedAtCommonWorkload:
        return DerivedAtCommonWorkload("x_us", "us", ("p",), Fraction(value))

    assert require_agreement(reading(1_000_100), reading(1_000_000), 100) == 100
    refused(
        "TWO_ROUTES_DISAGREE", lambda: require_agreement(reading(1_000_101), reading(10**6), 100)
    )
    refused("ZERO_POPULATION", lambda: require_agreement(reading(1), reading(0), 100))


WITHIN = {"first_repeats": [0], "first_relaunches": [3], "second_repeats": [1],
          "second_relaunches": [2]}  # fmt: skip


@pytest.mark.parametrize("missing", [*WITHIN, "across"])
def test_an_envelope_that_nobody_measured_refuses(missing: str) -> None:
    within = {name: [] if name == missing else values for name, values in WITHIN.items()}
    verdict = substitutable(within, [] if missing == "across" else [0])
    assert verdict == "unmeasured"
    refused("SUBSTITUTION_REFUSED", lambda: require_substitutable(verdict))


def test_a_difference_beyond_the_envelope_refuses() -> None:
    assert substitutable(WITHIN, [0, 3]) == "interchangeable"
    require_substitutable("interchangeable")
    assert substitutable(WITHIN, [0, 4]) == "different"
    refused("SUBSTITUTION_REFUSED", lambda: require_substitutable("different"))
