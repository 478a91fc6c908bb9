"""Re-derivation of measurements: each rule's mutation, and forgeries that must not pass."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from tests import measurement_records as made
from tests import refusals
from tests.measurement_records import signed_statement, subjected
from tests.statements import get, judge, put, refusal

P = "/predicate"
BAD = "BAD_VALUE"
OUTCOME = "OUTCOME_NOT_DERIVED"
STATISTICS = "STATISTICS_DO_NOT_RECOMPUTE"
COUNTS = "H10_COUNTS_DO_NOT_RECOMPUTE"


@pytest.fixture(scope="module")
def whole() -> dict[str, Any]:
    return signed_statement()


def test_what_the_producer_folds_is_derived(whole: dict[str, Any]) -> None:
    found = judge(whole)
    assert found.verdict == "CONTRADICTED"
    assert found.counts == whole["predicate"]["counts"]
    assert found.counts["records_refused"] == 1
    assert found.counts["settings_unchosen"] == 1
    assert "contradicted: 0.966 us a token" in found.lines
    assert "one for two: different" in found.lines


def places(statement: dict[str, Any], section: str) -> dict[str, int]:
    name = "id" if section in ("records", "arms") else "name"
    return {one[name]: i for i, one in enumerate(statement["predicate"][section])}


MUTATIONS = [
    (f"{P}/profiles/1/id", "one", BAD, f"{P}/profiles/1/id"),
    (f"{P}/profiles/1/topology", "one rank", BAD, f"{P}/profiles/1"),
    (f"{P}/arms/0/profile", "three", BAD, f"{P}/arms/0/profile"),
    (f"{P}/arms/0/settings/0/cause", "altered", OUTCOME, f"{P}/arms/0/settings/0/cause"),
    (f"{P}/arms/1/settings/0/chosen", True, OUTCOME, f"{P}/arms/1/settings/0/chosen"),
    (f"{P}/arms/1/settings/0/failure", None, OUTCOME, f"{P}/arms/1/settings/0/cause"),
    (f"{P}/records/0/arm", "none", BAD, f"{P}/records/0/arm"),
    (f"{P}/records/0/source", "none", BAD, f"{P}/records/0/source"),
    (f"{P}/records/0/sample", "none", BAD, f"{P}/records/0/sample"),
    (f"{P}/records/0/refusal", "foreign_work", OUTCOME, f"{P}/records/0/refusal"),
    (
        f"{P}/records/0/values/0/metric",
        "vllm:iteration_tokens_total_count",
        "METRIC_NOT_AN_ANSWER",
        f"{P}/records/0/values/0/metric",
    ),
    (
        f"{P}/records/0/values/2/metric",
        made.FLOPS,
        "METRIC_NOT_AN_ANSWER",
        f"{P}/records/0/values/2/metric",
    ),
    (f"{P}/records/0/values/0/quantity", "wall_us", BAD, f"{P}/records/0/values/1/quantity"),
    (f"{P}/records/0/values/2/value", 0, OUTCOME, f"{P}/records/0/refusal"),
    (f"{P}/records/0/values/2/value", None, OUTCOME, f"{P}/records/0/refusal"),
    (f"{P}/records/0/against", "other", BAD, f"{P}/records/0/against"),
    (f"{P}/arms/1/budget_tokens", None, "FIT_NOT_IDENTIFIED", f"{P}/fits/0"),
    (f"{P}/fits/0/population", 9, "COVERAGE_DENOMINATOR_NOT_DERIVED", f"{P}/fits/0/population"),
    (f"{P}/fits/0/arms/1", "other", BAD, f"{P}/fits/0/left_out/0/record"),
    (f"{P}/fits/0/arms/1", "small", BAD, f"{P}/fits/0/arms/1"),
    (f"{P}/fits/0/left_out/0/record", "other-4096", BAD, f"{P}/fits/0/left_out/0/record"),
    (f"{P}/fits/0/profile", "two", OUTCOME, f"{P}/fits/0/profile"),
    (f"{P}/fits/0/rank", 2, STATISTICS, f"{P}/fits/0/rank"),
    (f"{P}/fits/0/determinant/num", "7", STATISTICS, f"{P}/fits/0/determinant"),
    (f"{P}/fits/0/condition_permille", "1000", STATISTICS, f"{P}/fits/0/condition_permille"),
    (f"{P}/fits/0/coefficients/1/value/num", "189000", STATISTICS, f"{P}/fits/0/coefficients/1"),
    (f"{P}/fits/0/coefficients/1/unit", "ms/step", STATISTICS, f"{P}/fits/0/coefficients/1"),
    (f"{P}/fits/0/ranges/0/least/num", "0", STATISTICS, f"{P}/fits/0/ranges"),
    (f"{P}/fits/0/largest_residual/num", "0", STATISTICS, f"{P}/fits/0/largest_residual"),
    (f"{P}/direct/0/records/0", "small-6000", "RECORD_REFUSED", f"{P}/direct/0/records/0"),
    (f"{P}/direct/0/records/0", "stalled", "MISSING_READING", f"{P}/direct/0/records/0"),
    (f"{P}/direct/2/records/1", "other-4096", "PROFILE_MISMATCH", f"{P}/direct/2/records"),
    (f"{P}/direct/2/records/1", "small-512", BAD, f"{P}/direct/2/records/1"),
    (f"{P}/direct/2/statistic", "only", BAD, f"{P}/direct/2/statistic"),
    (f"{P}/direct/2/statistic", "mean", None, None),
    (f"{P}/direct/2/statistic", "least", STATISTICS, f"{P}/direct/2/value"),
    (f"{P}/direct/0/unit", "ms", "UNIT_MISMATCH", f"{P}/direct/0/unit"),
    (f"{P}/direct/0/name", "wall_ms", "UNIT_MISMATCH", f"{P}/direct/0/name"),
    (f"{P}/direct/0/name", "step_per_us", "UNIT_MISMATCH", f"{P}/direct/0/name"),
    (f"{P}/direct/0/name", "token_per_step_us", "UNIT_MISMATCH", f"{P}/direct/0/name"),
    (f"{P}/direct/0/profiles", ["two"], OUTCOME, f"{P}/direct/0/profiles"),
    (f"{P}/derived/3/operands/0", "none", BAD, f"{P}/derived/3/operands/0"),
    (f"{P}/derived/3/coefficient", "per_depth", BAD, f"{P}/derived/3/coefficient"),
    (f"{P}/derived/3/given", {"num": "1", "den": "1"}, BAD, f"{P}/derived/3/given"),
    (f"{P}/derived/5/operands/0", "law_us", BAD, f"{P}/derived/5/operands/0"),
    (f"{P}/derived/6/name", "step_us_per_step", BAD, f"{P}/derived/6/name"),
    (f"{P}/derived/6/operands", ["step_us_per_step"], BAD, f"{P}/derived/6/operands"),
    (f"{P}/derived/7/operation", "steps", "UNIT_MISMATCH", f"{P}/derived/7/operands"),
    (f"{P}/derived/6/operands/0", "stall_us", "UNIT_MISMATCH", f"{P}/derived/6/operands"),
    (f"{P}/derived/8/unit", "us/token", "UNIT_MISMATCH", f"{P}/derived/8/name"),
    (f"{P}/derived/9/operation", "sum", "PROFILE_MISMATCH", f"{P}/derived/9/operands"),
    (f"{P}/derived/9/varies", [], OUTCOME, f"{P}/derived/9/varies"),
    (f"{P}/derived/9/value/num", "1", STATISTICS, f"{P}/derived/9/value"),
    (f"{P}/routes/0/second", "law_us", BAD, f"{P}/routes/0"),
    (f"{P}/routes/0/second", "wall_us", BAD, f"{P}/routes/0"),
    (f"{P}/routes/0/second", "step_step", BAD, f"{P}/routes/0"),
    (f"{P}/routes/0/first", "whole_us_per_step", "UNIT_MISMATCH", f"{P}/routes/0"),
    (f"{P}/routes/0/first", "other_us", "PROFILE_MISMATCH", f"{P}/routes/0"),
    (f"{P}/routes/0/distance_ppm", "0", STATISTICS, f"{P}/routes/0/distance_ppm"),
    (f"{P}/routes/0/envelope_ppm", 1, "TWO_ROUTES_DISAGREE", f"{P}/routes/0"),
    (f"{P}/routes/0/envelope_ppm", 500_001, BAD, f"{P}/routes/0/envelope_ppm"),
    (f"{P}/published/0/source", "none", BAD, f"{P}/published/0/source"),
    (f"{P}/published/0/unit", "ms/token", "UNIT_MISMATCH", f"{P}/published/0/unit"),
    (f"{P}/published/0/outcome", "contradicted", OUTCOME, f"{P}/published/0/outcome"),
    (f"{P}/published/1/outcome", "agrees", OUTCOME, f"{P}/published/1/outcome"),
    (f"{P}/published/1/reading", None, BAD, f"{P}/published/1/reason"),
    (f"{P}/published/0/kind", "DirectMeasurement", OUTCOME, f"{P}/published/0/outcome"),
    (f"{P}/published/0/value/num", "2898", OUTCOME, f"{P}/published/0/outcome"),
    (f"{P}/published/0/value", {"num": "1932", "den": "2"}, BAD, f"{P}/published/0/value"),
    (f"{P}/published/0/resolution/num", "967", BAD, f"{P}/published/0/resolution"),
    (f"{P}/published/0/resolution/num", "0", BAD, f"{P}/published/0/resolution"),
    (f"{P}/published/0/reading", "budget_token_per_step", BAD, f"{P}/published/0/reading"),
    (f"{P}/published/2/resolution/num", "82001", None, None),
    (f"{P}/arms/1/launch", 1, COUNTS, f"{P}/gates/0/first_repeats"),
    (f"{P}/arms/2/launch", 1, None, None),
    (f"{P}/gates/0/second", "one", BAD, f"{P}/gates/0/second"),
    (f"{P}/gates/0/varies", ["runtime"], OUTCOME, f"{P}/gates/0/varies"),
    (f"{P}/gates/0/across", 2, COUNTS, f"{P}/gates/0/across"),
    (f"{P}/gates/0/within_unat", 8, STATISTICS, f"{P}/gates/0/within_unat"),
    (f"{P}/gates/0/verdict", "interchangeable", OUTCOME, f"{P}/gates/0/verdict"),
    (f"{P}/tables/0/kinds", ["DirectMeasurement"], "READING_KIND", f"{P}/tables/0/kinds"),
    (f"{P}/counts/records_refused", 0, COUNTS, f"{P}/counts/records_refused"),
    (f"{P}/verdict", "MEASURED", OUTCOME, f"{P}/verdict"),
    (f"{P}/not_run", ["none", "at all"], BAD, f"{P}/not_run"),
]


@pytest.mark.parametrize(
    ("place", "value", "code", "at"), MUTATIONS, ids=lambda value: str(value)[:40]
)
def test_each_rule_refuses_its_mutation(
    whole: dict[str, Any], place: str, value: object, code: str | None, at: str | None
) -> None:
    wrong = copy.deepcopy(whole)
    put(wrong, place, value)
    wrong = subjected(wrong)
    if code is None:
        # Of two values the mean is the median; nobody judges a figure without a reading; and a
        # launch is one of its profile.
        judge(wrong)
    else:
        assert refusal(wrong) == (code, at)


@pytest.mark.parametrize(
    ("reading", "budget", "at"), [(2, "2048", f"{P}/predicted/0"), (1, "4096", f"{P}/derived/5")]
)
def test_readings_are_of_the_kind_that_they_are_called(
    whole: dict[str, Any], reading: int, budget: str, at: str
) -> None:
    wrong = copy.deepcopy(whole)
    for member in ("given", "value"):
        put(wrong, f"{P}/derived/{reading}/{member}/num", budget)
    assert refusal(subjected(wrong)) == ("READING_KIND", at)


def with_a_made_budget(tokens: str) -> dict[str, Any]:
    """Give a statement with a budget that is made of numbers that are given."""
    told = [made.given("told_token", tokens, "token"),
            made.made("made_token_per_step", "quotient", "told_token", "step_step")]  # fmt: skip
    cost = made.made("made_us_per_step", "product", "token_us_per_token", "made_token_per_step")
    asked = made.document()
    if tokens == "2048":
        return made.signed_statement(derived=[*asked["derived"], *told, cost])
    predicted = [{**one, "outside": "so many tokens"} for one in (told[1], cost)]
    return made.signed_statement(
        derived=[*asked["derived"], told[0]], predicted=[*asked["predicted"], *predicted]
    )


def test_a_budget_that_is_made_of_given_numbers_is_one_that_is_given() -> None:
    within, outside = with_a_made_budget("2048"), with_a_made_budget("1024")
    assert judge(within).counts["predicted"] == 1
    assert judge(outside).counts["predicted"] == 3
    for statement, tokens, at in ((within, "1024", f"{P}/derived/11"),
                                  (outside, "2048", f"{P}/predicted/1")):  # fmt: skip
        for member in ("given", "value"):
            put(statement, f"{P}/derived/10/{member}/num", tokens)
        assert refusal(subjected(statement)) == ("READING_KIND", at)


def test_a_budget_of_another_profile_is_none_of_this_one(whole: dict[str, Any]) -> None:
    """The reading predicts at 1024, which no arm of its profile has, whatever another's has."""
    wrong = copy.deepcopy(whole)
    put(wrong, f"{P}/arms/3/budget_tokens", 1024)
    judge(subjected(wrong))
    put(wrong, f"{P}/arms/0/budget_tokens", 1024)
    assert refusal(subjected(wrong))[0] == "READING_KIND"


def test_steps_are_counted_or_computed(whole: dict[str, Any]) -> None:
    wrong = copy.deepcopy(whole)
    for member in ("given", "value"):
        put(wrong, f"{P}/derived/0/{member}/num", "33")
    assert refusal(subjected(wrong)) == ("READING_KIND", f"{P}/derived/7")


WIDE = made.given("wide_token_per_step", "8192", "token/step")
TOLD = made.given("told_token", "8192", "token")
MANY = made.given("many_step", "33", "step")
COST = made.made("wide_us_per_step", "product", "token_us_per_token", "wide_token_per_step")
COMPUTED = [TOLD, made.made("four_step", "steps", "told_token", "budget_token_per_step")]
NOTHING = made.made("no_step", "difference", "step_step", "step_step")
SAME = made.made("same_step", "convert", "step_step", unit="step")
ONE = made.given("one_ratio", "1", "1")
MADE = made.made("made_step", "product", "step_step", "one_ratio")
GROUNDS = {
    # One profile had this budget: then it is no budget that the other must have had as well.
    "asked once": ("derived", [WIDE, COST, made.made("wide_us", "product", "wide_us_per_step",
        "step_step")], made.made("wide_ratio", "change", "other_us", "wide_us")),
    # What is of no profile carries its budget on to a profile that never had it.
    "carried on": ("predicted", [WIDE, TOLD, made.made("wide_step", "steps", "told_token",
        "wide_token_per_step")], made.made("x_step_us", "product", "other_us", "wide_step")),
    "given steps": ("predicted", [MANY], made.made("x_us", "product", "step_us_per_step",
        "many_step")),
    "made steps": ("predicted", [made.given("many_ratio", "33", "1")], made.made("made_step",
        "product", "step_step", "many_ratio")),
    "divided steps": ("predicted", [TOLD], made.made("made_step", "quotient", "told_token",
        "budget_token_per_step")),
    "summed steps": ("predicted", [], made.made("x_step", "sum", *["step_step"] * 16)),
    "computed steps": ("derived", COMPUTED, made.made("x_step", "sum", "four_step", "four_step")),
    "steps added": ("predicted", COMPUTED, made.made("x_step", "sum", "four_step", "step_step")),
    "steps taken": ("predicted", COMPUTED, made.made("x_step", "difference", "four_step",
        "step_step")),
    "no steps": ("derived", [], NOTHING),
    "less than no steps": ("predicted", [NOTHING], made.made("x_step", "difference", "no_step",
        "step_step")),
    "none added": ("predicted", [*COMPUTED, NOTHING], made.made("x_step", "sum", "four_step",
        "no_step")),
    "the same step": ("derived", [], SAME),
    "converted steps": ("predicted", [SAME], made.made("x_step", "sum", "same_step", "same_step")),
    "a budget upside down": ("predicted", [made.given("few_step_per_token", "1/1024",
        "step/token")], made.made("x_us_per_step", "quotient", "token_us_per_token",
        "few_step_per_token")),
    "a step for a token": ("predicted", [made.given("few_step_per_token", "1", "step/token")],
        made.made("x_us_per_token", "product", "step_us_per_step", "few_step_per_token")),
    "steps upside down": ("predicted", [made.given("few_per_step", "1/33", "1/step")],
        made.made("x_us", "quotient", "step_us_per_step", "few_per_step")),
    "steps of tokens": ("predicted", [TOLD], made.made("x_step_token", "product", "step_step",
        "told_token")),
    "one made step": ("derived", [ONE], MADE),
    "made steps added": ("predicted", [ONE, MADE], made.made("x_step", "sum", "made_step",
        "made_step")),
    "steps of walls": ("derived", [], made.made("x_step", "quotient", "wall_us",
        "step_us_per_step")),
    "steps compared": ("derived", COMPUTED, made.made("x_ratio", "change", "step_step",
        "four_step")),
    "a time for a step": ("derived", [], made.made("x_us", "product", "step_us_per_step",
        "step_step")),
}  # fmt: skip
"""The section of a reading, those that it is made of, and itself."""


@pytest.mark.parametrize("case", GROUNDS)
def test_both_sides_tell_alike_what_lies_outside(case: str) -> None:
    section, below, one = GROUNDS[case]
    asked = made.document()
    derived, predicted = [*asked["derived"], *below], asked["predicted"]
    as_predicted = {**one, "outside": "what nobody ran"}
    sections = {
        "derived": {"derived": [*derived, one]},
        "predicted": {"derived": derived, "predicted": [*predicted, as_predicted]},
    }
    judge(made.signed_statement(**sections.pop(section)))
    (other,) = sections.values()
    refusals.refused("READING_KIND", lambda: made.signed_statement(**other))


def test_a_budget_that_was_measured_lies_within() -> None:
    """Tokens by counted steps are no budget that was told, whichever arms there are."""
    asked = made.document()
    whole = [
        {"name": f"whole_{unit}", "records": ["small-16400"], "quantity": quantity,
         "statistic": "only"}
        for unit, quantity in (("token", "tokens"), ("step", "steps"))
    ]  # fmt: skip
    derived = [made.made("whole_token_per_step", "quotient", "whole_token", "whole_step"),
               made.made("whole_cost_us_per_step", "product", "token_us_per_token",
                         "whole_token_per_step")]  # fmt: skip
    found = made.signed_statement(
        direct=[*asked["direct"], *whole], derived=[*asked["derived"], *derived]
    )
    assert judge(found).counts["predicted"] == 1


def test_a_gate_takes_the_distances_of_its_two_profiles_alone() -> None:
    asked = made.document()
    third = {**asked["arms"][3], "id": "third", "profile": "three", "launch": 5}
    ways = (("small", "third"), ("third", "other"), ("third", "third"))
    far = [made.distance(f"far-{i}", *way, 99) for i, way in enumerate(ways)]
    found = made.signed_statement(
        profiles=[*asked["profiles"], made.profile("three", topology="three ranks")],
        arms=[*asked["arms"], third],
        records=[*asked["records"], *far],
    )
    judge(found)
    gate = found["predicate"]["gates"][0]
    assert (gate["across"], gate["across_unat"], gate["within_unat"]) == (1, 7, 0)


def test_a_gate_needs_all_distances_and_none_across_that_is_larger() -> None:
    def verdict(records: list[dict[str, Any]]) -> object:
        found = made.signed_statement(records=records)
        judge(found)
        return found["predicate"]["gates"][0]["verdict"]

    records = made.document()["records"]
    far = next(one for one in records if one["id"] == "across")
    far["values"][0]["value"] = 0
    assert verdict(records) == "interchangeable"
    distances = [one for one in records if "against" in one]
    assert len(distances) == 5
    for lacking in distances:
        assert verdict([one for one in records if one is not lacking]) == "unmeasured"


def test_a_figure_is_rounded_as_it_says() -> None:
    """The reading is 2170000 us; a half away agrees, a whole digit below does not."""
    one = {"source": "text", "says": "a stall", "unit": "us", "reading": "stall_us"}
    told = [("2169999", "2", "nearest", "agrees"), ("2169999", "1", "nearest", "contradicted"),
            ("2170000", "1", "down", "agrees"), ("2169999", "1", "down", "contradicted"),
            ("2170001", "2", "down", "contradicted")]  # fmt: skip
    figures = [
        {**one, "name": f"f{i}", "value": value, "resolution": resolution, "rounding": rounding}
        for i, (value, resolution, rounding, _) in enumerate(told)
    ]
    found = made.signed_statement(published=figures)
    judge(found)
    outcomes = [figure["outcome"] for figure in found["predicate"]["published"]]
    assert outcomes == [outcome for *_, outcome in told]


def test_what_rests_on_a_prediction_is_one() -> None:
    asked = made.document()
    more = made.made("more_us", "product", "small_us_per_step", "step_step")
    predicted = [*asked["predicted"], {**more, "outside": "a budget of 1024"}]
    assert judge(made.signed_statement(predicted=predicted)).counts["predicted"] == 2


def test_a_resolution_is_held_to_the_size_of_its_figure() -> None:
    one = {"source": "text", "says": "a figure", "unit": "us/token", "value": "966",
           "reading": "token_us_per_token"}  # fmt: skip
    figures = [
        {**one, "name": "below", "value": "-966", "resolution": "966"},
        {**one, "name": "nothing", "value": "0", "resolution": "1"},
        {**one, "name": "around", "rounding": "envelope", "envelope_ppm": 1000, "resolution": "0"},
    ]
    found = judge(made.signed_statement(published=figures)).counts
    assert (found["published_agreeing"], found["published_contradicted"]) == (1, 2)


def test_what_agrees_by_arithmetic_alone_is_counted() -> None:
    asked = made.document()
    claim = {"name": "double", "source": "text", "says": "4096", "unit": "token",
             "value": "4096", "reading": "twice_token"}  # fmt: skip
    told = [made.given("one_token", "2048", "token"),
            made.made("twice_token", "sum", "one_token", "one_token")]  # fmt: skip
    found = made.signed_statement(
        derived=[*asked["derived"], *told], published=[*asked["published"], claim]
    )
    assert judge(found).counts["published_unrecorded"] == 1
    put(found, f"{P}/counts/published_unrecorded", 0)
    assert refusal(found) == (COUNTS, f"{P}/counts/published_unrecorded")


def test_two_lengths_tell_no_curve(whole: dict[str, Any]) -> None:
    """That is seen before the fit's profile is, and dependent regressors behind it."""
    wrong = copy.deepcopy(whole)
    put(wrong, f"{P}/fits/0/law", "quadratic")
    for i in range(9):
        told = get(wrong, f"{P}/records/{i}/values")
        next(one for one in told if one["quantity"] == "tokens")["value"] = 512 + i % 2
    put(wrong, f"{P}/fits/0/profile", "two")
    assert refusal(subjected(wrong)) == ("FIT_NOT_IDENTIFIED", f"{P}/fits/0")
    put(wrong, f"{P}/records/0/values/1/value", 600)
    assert refusal(subjected(wrong)) == (OUTCOME, f"{P}/fits/0/profile")


ZERO = {"num": "0", "den": "1"}
TOGETHER = [
    ({"routes/0/first": "wall_us", "routes/0/second": "law_us"}, BAD, "routes/0"),
    ({"fits/0/arms": ["large"], "fits/0/population": 3}, "FIT_NOT_IDENTIFIED", "fits/0"),
    ({"fits/0/arms": ["small", "large", "other"], "fits/0/population": 9}, "PROFILE_MISMATCH",
     "fits/0/arms"),
    ({"derived/0/given": ZERO, "derived/0/value": ZERO, "derived/7/operation": "quotient"},
     "ZERO_POPULATION", "derived/7/operands"),
    ({"derived/0/given": ZERO, "derived/0/value": ZERO, "derived/7/value": ZERO,
      "routes/0/first": "stall_us", "routes/0/second": "law_us"},
     "ZERO_POPULATION", "routes/0/second"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "code", "at"), TOGETHER)
def test_each_rule_refuses_mutations_that_hide_each_other(
    whole: dict[str, Any], changes: dict[str, object], code: str, at: str
) -> None:
    wrong = copy.deepcopy(whole)
    for place, value in changes.items():
        put(wrong, f"{P}/{place}", value)
    assert refusal(subjected(wrong)) == (code, f"{P}/{at}")


def leaves(value: Any, pointer: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, member in value.items():
            yield from leaves(member, f"{pointer}/{name}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, f"{pointer}/{index}")
    else:
        yield pointer, value


def test_no_derived_leaf_can_be_another(whole: dict[str, Any]) -> None:
    derived = ("population", "determinant", "condition_permille", "coefficients", "ranges",
               "largest_residual", "mean_square_residual", "distance_ppm", "outcome", "verdict",
               "counts", "refusal", "chosen", "cause", "within_unat", "across_unat")  # fmt: skip
    kept = []
    for place, value in leaves(whole["predicate"], P):
        section, steps = place.split("/")[2], set(place.split("/"))
        made = section not in ("records", "published") and (steps & {*derived, "value"})
        if made or steps & {"outcome", "verdict"}:
            kept.append((place, value))
    assert len(kept) > 90
    for place, value in kept:
        if value is None or "settings" in place:
            continue
        wrong = copy.deepcopy(whole)
        other: object = value + 1 if type(value) is int else f"{value}1"
        put(wrong, place, other)
        code, _ = refusal(wrong)
        assert code, place


def test_a_record_that_moves_moves_the_law(whole: dict[str, Any]) -> None:
    wrong = copy.deepcopy(whole)
    at = places(whole, "records")["large-16400"]
    put(wrong, f"{P}/records/{at}/values/2/value", 17_000_000)
    code, pointer = refusal(subjected(wrong))
    assert (code, pointer) == (STATISTICS, f"{P}/fits/0/coefficients/0")


def test_records_are_bound_by_the_subject(whole: dict[str, Any]) -> None:
    wrong = copy.deepcopy(whole)
    put(wrong, f"{P}/records/0/values/0/resolution", 5)
    assert refusal(wrong) == ("SUBJECT_MISMATCH", "/subject/1/digest/sha256")
    put(wrong, "/subject/1/name", "else")
    assert refusal(wrong) == ("SUBJECT_MISMATCH", "/subject")


def test_a_single_budget_cannot_be_signed_by_whoever_forges_it(whole: dict[str, Any]) -> None:
    wrong = copy.deepcopy(whole)
    put(wrong, f"{P}/arms/1/budget_tokens", 2048)
    assert refusal(subjected(wrong)) == ("FIT_NOT_IDENTIFIED", f"{P}/fits/0")


def test_numbers_too_long_to_be_told_are_refused_and_not_written(whole: dict[str, Any]) -> None:
    wrong = copy.deepcopy(whole)
    primes = [n for n in range(100_000, 100_900) if all(n % d for d in range(2, 318))]
    record = wrong["predicate"]["records"][0]
    depth = 0
    for i, prime in enumerate(primes[:64]):
        cells = {"tokens_after": depth + prime, "tokens_before": depth, "wall_us": 10**12 + i}
        values = [{"quantity": name, "value": value, "resolution": 1, "metric": None}
                  for name, value in cells.items()]  # fmt: skip
        record = {**record, "id": f"w{i}", "arm": "other-again", "values": values}
        wrong["predicate"]["records"].append(record)
        depth += prime
    fit = copy.deepcopy(wrong["predicate"]["fits"][0])
    fit |= {"name": "deep", "law": "depth", "arms": ["other-again"], "left_out": [], "rank": 2,
            "profile": "two", "population": 64, "condition_permille": "1000"}  # fmt: skip
    wrong["predicate"]["fits"] = [fit]
    code, pointer = refusal(subjected(wrong))
    assert (code, pointer) == (STATISTICS, f"{P}/fits/0/determinant")
    # The determinant and the ranges are short, what the values enter is not.
    ends = ((depth - primes[63], primes[63]), (0, primes[0]))
    for member, (start, width) in zip(("greatest", "least"), ends, strict=True):
        half = 2 * start + width
        fit["ranges"] = [
            {
                **fit["ranges"][0],
                "regressor": "(tokens_before+tokens_after)/2",
                **fit.get("kept", {}),
                member: {"num": str(half), "den": "2"},
            }
        ]
        fit["kept"] = {member: {"num": str(half), "den": "2"}}
    fit.pop("kept")
    starts = [sum(primes[:i]) for i in range(64)]
    middles = [2 * start + prime for start, prime in zip(starts, primes[:64], strict=True)]
    determinant = 64 * sum(m * m for m in middles) - sum(middles) ** 2
    fit["determinant"] = {"num": str(determinant // 4), "den": "1"}
    assert determinant % 4 == 0
    code, pointer = refusal(subjected(wrong))
    assert (code, pointer) == (STATISTICS, f"{P}/fits/0/coefficients/0")
    # One more than the law takes.
    wrong["predicate"]["records"].append({**record, "id": "w64"})
    fit["population"] = 65
    assert refusal(subjected(wrong)) == ("LIMIT_SIZE", f"{P}/fits/0/population")


def test_foreign_work_is_seen_by_tokens_and_by_company(whole: dict[str, Any]) -> None:
    at = places(whole, "records")["small-6000"]
    for attribution, refused in (
        ({"own_tokens": 6000, "booked_tokens": 6006}, None),
        ({"own_tokens": 6000, "booked_tokens": 6007}, "foreign_work"),
        ({"own_tokens": 6000, "booked_tokens": 5993}, "foreign_work"),
        ({"own_tokens": 6000, "booked_tokens": 6000, "own_requests": 1, "running_requests": 2},
         "foreign_work"),
        ({"own_tokens": 6000, "booked_tokens": 6000, "own_requests": 2, "running_requests": 2},
         None),
    ):  # fmt: skip
        records = made.document()["records"]
        records[at]["attribution"] = attribution
        folded = made.signed_statement(
            records=records, fits=[], direct=[made.document()["direct"][1]], derived=[],
            predicted=[], routes=[], published=[], tables=[],
        )  # fmt: skip
        judge(folded)
        assert get(folded, f"{P}/records/{at}/refusal") == refused
