"""What a measurement makes of probes: records, budgets, fits; receipts are part of none."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from lockstep import spec
from lockstep.claims.measurement import predicate
from lockstep.measure.counters import declared
from lockstep.measure.observation import Sample
from lockstep.measure.registry import require_answer
from tests.measure.probed import BUDGETS, document
from tests.refusals import refused


def folded(told: dict[str, Any]) -> dict[str, Any]:
    return predicate(told, issued_at="2026-01-01T00:00:00Z", producer={"name": "x"})


def numbers(entries: list[dict[str, Any]]) -> dict[str, Fraction]:
    return {
        one["name"]: Fraction(int(one["value"]["num"]), int(one["value"]["den"])) for one in entries
    }


def foreign(one: Sample) -> Sample:
    if one.name != "small-prefill-65-0":
        return one
    counters = tuple(
        replace(old, after=(old.after or 0) + 4096) if old.question == "prompt_tokens" else old
        for old in one.window.counters
    )
    return replace(one, window=replace(one.window, counters=counters))


def test_budgets_are_found_from_steps() -> None:
    found = folded(document())
    assert {one["id"]: one["budget_tokens"] for one in found["arms"]} == BUDGETS
    assert found["probes"]["budgets"][0] == {
        "arm": "small", "overhead": 1, "least": 64, "greatest": 64,
    }  # fmt: skip


def test_the_law_of_the_servers_is_found_exactly() -> None:
    found = folded(document())
    fit = next(one for one in found["fits"] if one["law"] == "wall")
    told = numbers(fit["coefficients"])
    assert told["per_step"] == 50
    assert told["per_token"] == 3
    assert fit["population"] == 6
    assert fit["largest_residual"] == {"num": "0", "den": "1"}
    assert not any(one["law"] == "stall" for one in found["fits"])
    assert any(word.startswith("the fit stall over small, large: FIT_NOT_IDENTIFIED")
               for word in found["not_run"])  # fmt: skip


def test_a_receipt_is_kept_and_part_of_no_figure() -> None:
    found = folded(document(foreign))
    (receipt,) = [one for one in found["records"] if one["refusal"] is not None]
    assert (receipt["id"], receipt["refusal"]) == ("small-prefill-65-0", "foreign_work")
    assert [value["quantity"] for value in receipt["values"]] == ["wall_us"]
    assert not any(receipt["id"] in one["records"] for one in found["direct"])
    assert next(one for one in found["fits"] if one["law"] == "wall")["population"] == 5
    assert found["counts"]["records_refused"] == 1


def test_a_stall_is_compared_with_decoding_alone() -> None:
    told = numbers(folded(document())["derived"])
    assert told["small.stall-200.stall_ratio"] == Fraction(50 + 3 * 64, 60)


def test_nothing_left_is_refused() -> None:
    def down(one: Sample) -> Sample:
        return replace(one, requests=tuple(replace(r, failure="http") for r in one.requests))

    refused("REQUEST_FAILED", lambda: document(down))


def test_probes_read_what_the_registry_says_answers() -> None:
    for adapter in spec.load("probe.json")["adapters"]:
        for question, metric in declared(adapter["name"]).items():
            if metric is not None:
                require_answer(adapter["name"], metric, question, "")
    refused(
        "METRIC_NOT_AN_ANSWER",
        lambda: require_answer("vllm", "vllm:iteration_tokens_total_count", "steps", ""),
    )
