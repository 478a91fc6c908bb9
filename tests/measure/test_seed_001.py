"""What seed 001 published: recomputed here by other means than the claim's, and listed whole."""

from __future__ import annotations

import math
import tomllib
from fractions import Fraction
from typing import Any

import pytest

from lockstep import spec
from lockstep.claims.measurement import predicate
from lockstep.evidence.make_measurement import DATA, withdrawn_claims

DOCUMENT = tomllib.loads(spec.read(DATA).decode("utf-8"))


@pytest.fixture(scope="module")
def folded() -> dict[str, Any]:
    return predicate(DOCUMENT, issued_at="2026-05-01T00:00:00Z", producer={})


@pytest.fixture(scope="module")
def readings(folded: dict[str, Any]) -> dict[str, Fraction]:
    made = [*folded["direct"], *folded["derived"], *folded["predicted"]]
    return {one["name"]: Fraction(int(one["value"]["num"]), int(one["value"]["den"]))
            for one in made}  # fmt: skip


@pytest.fixture(scope="module")
def outcomes(folded: dict[str, Any]) -> dict[str, str]:
    return {one["name"]: one["outcome"] for one in folded["published"]}


def test_the_probes_give_the_coefficients_of_the_text(folded: dict[str, Any]) -> None:
    fit = folded["fits"][0]
    values = [int(c["value"]["num"]) / int(c["value"]["den"]) for c in fit["coefficients"]]
    assert fit["population"] == 20
    # The text: 105.8 + 189.9 steps + 0.9661 tokens; 189 and 966 by its integer division.
    assert [math.floor(v) for v in values] == [105_864, 189_918, 966]
    assert fit["determinant"] == {"num": "32424810042480", "den": "1"}
    square = fit["mean_square_residual"]
    assert round(math.sqrt(int(square["num"]) / int(square["den"])) / 1000, 1) == 82.2


def test_a_step_is_what_a_decoder_waits(readings: dict[str, Fraction]) -> None:
    # 189.9 ms and 2048 times 0.9661 ms, beside 2168.2 ms as measured: 0.013 percent.
    assert int(readings["printed_stall_us"]) == 2_168_472
    assert readings["stall_2048_us"] == 2_168_200
    assert abs(2_168_472 / 2_168_200 - 1) < 0.00013
    assert float(readings["wrong_stall_us"]) == pytest.approx(189_900 + 2048 * 0.966)


def test_steps_are_tokens_over_the_budget_rounded_up(folded: dict[str, Any]) -> None:
    budgets = {arm["id"]: arm["budget_tokens"] for arm in folded["arms"]}
    seen = 0
    for record in folded["records"]:
        values = {one["quantity"]: one["value"] for one in record["values"]}
        if "steps" in values:
            assert values["steps"] == math.ceil(values["tokens"] / budgets[record["arm"]])
            seen += 1
    assert seen == 53
    assert math.ceil(1_048_575 / 2048) == 512


def test_the_printed_unit_of_the_depth_term_is_refused(
    readings: dict[str, Fraction], outcomes: dict[str, str]
) -> None:
    assert float(readings["base_us_per_token"]) == pytest.approx(923.6, abs=0.05)
    # In attoseconds a token and token of depth: 1.4159 ms a million, not microseconds.
    assert float(readings["slope_as_per_token2"]) == pytest.approx(1.4159e9, rel=1e-4)
    assert (outcomes["depth-slope-printed"], outcomes["depth-slope"]) == ("contradicted", "agrees")
    # Its own stall near a million tokens: 2048 tokens at 2.41 ms, where microseconds leave 1.9 s.
    assert float(readings["depth_stall_us"]) == pytest.approx(4.93e6, rel=0.01)
    assert 2048 * (923.6 + 1.4159) < 1.9e6 < 5.1e6
    assert outcomes["deep-stall"] == "agrees"
    assert outcomes["depth-slope-printed-by-mean"] == "contradicted"
    assert outcomes["depth-slope-by-mean"] == "agrees"


def test_two_ranks_against_four(readings: dict[str, Fraction], outcomes: dict[str, str]) -> None:
    assert float(readings["first_cost_ratio"]) == pytest.approx(786.15 / 1053.21 - 1, abs=1e-4)
    assert float(readings["alone_ratio"]) == pytest.approx(40.5 / 30.2 - 1)
    assert float(readings["stall_ratio"]) == pytest.approx(1628.6 / 2146.3 - 1)
    assert float(readings["pool_ratio"]) == pytest.approx(2_310_685 / 6_175_555 - 1)
    assert int(readings["crossover_token"]) == 38
    assert float(readings["repeated_cost_ratio"]) == pytest.approx(-0.0773, abs=1e-4)
    # What rests on the launch that nobody could repeat goes with it.
    assert int(readings["repeated_crossover_token"]) == 125
    assert outcomes["first-cost-repeated"] == outcomes["crossover-repeated"] == "contradicted"


def test_what_a_model_says_is_no_measurement(outcomes: dict[str, str]) -> None:
    # Beside measured walls stood percentages of the law at one number of tokens.
    for budget in (8192, 16384):
        assert outcomes[f"gain-{budget}"] == "agrees"
        assert outcomes[f"gain-{budget}-beside-walls"] == "contradicted"


def test_the_stall_law_is_not_within_a_percent_everywhere(outcomes: dict[str, str]) -> None:
    told = [outcomes[f"stall-within-{budget}"] for budget in (2048, 8192, 16384)]
    assert told == ["agrees", "contradicted", "agrees"]


def test_receipts_are_kept_and_used_nowhere(folded: dict[str, Any]) -> None:
    refused = {one["id"]: one["refusal"] for one in folded["records"] if one["refusal"]}
    assert refused == {
        "b8192-foreign": "foreign_work",
        "b8192-guarded-decode": "foreign_work",
        "long-depth-16": "metric_backwards",
    }
    kept = next(one for one in folded["records"] if one["id"] == "b2048-guarded-decode")
    assert kept["attribution"]["booked_tokens"] - kept["attribution"]["own_tokens"] == 2


def test_nobody_chose_the_budget(folded: dict[str, Any]) -> None:
    settings = {one["name"]: one for one in folded["arms"][0]["settings"]}
    budget = settings["max_num_batched_tokens"]
    assert (budget["effective"], budget["cause"]) == ("2048", "absorbed_failure")
    assert not budget["chosen"]
    assert folded["arms"][1]["settings"][0]["chosen"]


def test_two_ranks_do_not_stand_in_for_four(folded: dict[str, Any]) -> None:
    gate = folded["gates"][0]
    assert (gate["within_unat"], gate["across_unat"]) == (0, 2_238_700)
    assert gate["verdict"] == "different"


def test_what_cannot_be_derived_again_says_why(folded: dict[str, Any]) -> None:
    lost = [one for one in folded["published"] if one["outcome"] == "not_rederivable"]
    assert len(lost) == folded["counts"]["published_not_rederivable"] == 11
    assert all(len(one["reason"]) > 30 for one in lost)
    # One of them needs a function that the claim's arithmetic does not have.
    assert math.exp(1.517) == pytest.approx(4.56, abs=0.005)


def test_every_withdrawn_claim_is_a_published_figure(folded: dict[str, Any]) -> None:
    claims = withdrawn_claims(DOCUMENT)
    assert len(claims) == 7
    for one in claims:
        assert folded["published"][int(one["pointer"].rpartition("/")[2])]["name"]
        assert one["replacement"]["pointer"] != one["pointer"]
