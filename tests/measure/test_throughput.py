"""The claim about throughput: what a run over arms comes to, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from lockstep.claims.throughput import Criterion, predicate
from lockstep.measure.observation import Body, Counter, Pin, Sample, Seen
from tests.measure.runs import BODY, arm, run
from tests.refusals import refused

SLOW = [1100, 1110, 1120, 1130, 1140, 1150, 1160, 1170, 1180]
FAST = [1000] * 9


def folded(seen: Seen, *criteria: Criterion, pair: tuple[str, str] = ("invariant", "fast")) -> Any:
    return predicate(
        seen, [pair], criteria, issued_at="2026-01-01T00:00:00Z", producer={"name": "x"}
    )


def both(**walls: list[int]) -> dict[str, list[int]]:
    return {"invariant": SLOW, "fast": FAST, **walls}


def only(block: int, name: str, change: Callable[[Sample], Sample]) -> Callable[[Sample], Sample]:
    return lambda one: change(one) if (one.block, one.arm) == (block, name) else one


def foreign(one: Sample) -> Sample:
    counters = tuple(
        replace(old, after=(old.after or 0) + 1) if old.question == "prompt_tokens" else old
        for old in one.window.counters
    )
    return replace(one, window=replace(one.window, counters=counters))


def test_a_ratio_with_its_interval() -> None:
    found = folded(run(both()), Criterion(0, 1_150_000, "above"), Criterion(0, 1_100_000, "above"))
    (one,) = found["comparisons"]
    assert [one[end]["ppm"] for end in ("low", "median", "high")] == [
        1_110_000,
        1_140_000,
        1_170_000,
    ]
    assert (one["verdict"], one["flags"], one["pairs"]) == ("MEASURED", [], 9)
    assert found["verdict"] == "MEASURED"
    assert [(c["outcome"], c["killed"]) for c in found["criteria"]] == [
        ("not_separable", False),
        ("above", True),
    ]
    assert found["counts"]["samples"] == 18


def test_a_refused_sample_is_a_receipt_and_no_figure() -> None:
    found = folded(run(both(), only(4, "fast", foreign)))
    (one,) = found["comparisons"]
    assert one["excluded"] == [{"block": 4, "arm": "fast", "refusal": "foreign_work"}]
    assert (one["pairs"], found["counts"]["samples_refused"]) == (8, 1)
    assert len(found["samples"]) == 18


def test_too_few_pairs_give_no_figure() -> None:
    walls = {name: walls[:5] for name, walls in both().items()}
    found = folded(run(walls), Criterion(0, 1, "above"))
    (one,) = found["comparisons"]
    assert [one[end] for end in ("low", "median", "high", "coverage_ppm")] == [None] * 4
    assert (one["verdict"], found["verdict"]) == ("UNMEASURED", "UNMEASURED")
    assert found["criteria"][0]["outcome"] == "not_separable"


def test_a_run_without_a_sample_left_is_refused_by_its_first_reason() -> None:
    refused("FOREIGN_WORK", lambda: folded(run(both(), foreign)))
    refused("ZERO_POPULATION", lambda: folded(replace(run(both()), samples=())))


def test_a_constrained_arm_that_is_faster_is_implausible() -> None:
    found = folded(run({"invariant": FAST, "fast": SLOW}))
    assert found["comparisons"][0]["verdict"] == "IMPLAUSIBLE"
    assert found["verdict"] == "IMPLAUSIBLE"
    turned = folded(run({"invariant": FAST, "fast": SLOW}), pair=("fast", "invariant"))
    assert turned["comparisons"][0]["verdict"] == "IMPLAUSIBLE"
    slower = folded(run({"invariant": SLOW, "fast": FAST}), pair=("fast", "invariant"))
    assert slower["verdict"] == "MEASURED"
    other = folded(run({"fast": FAST, "peer": SLOW}), pair=("fast", "peer"))
    assert other["verdict"] == "MEASURED"


def test_spread_shared_and_unguarded_are_flagged() -> None:
    assert folded(run(both(fast=[1000] * 8 + [1300])))["comparisons"][0]["flags"] == ["spread"]
    arms = [arm("invariant"), arm("fast", launch=None)]

    def there(one: Sample) -> Sample:
        if one.arm == "invariant":
            return one
        blind = tuple(Counter(old.question, None, None, None) for old in one.window.counters)
        return replace(one, process=None, window=replace(one.window, counters=blind))

    found = folded(run(both(), there, arms))
    assert found["comparisons"][0]["flags"] == ["shared", "unguarded"]
    assert found["counts"]["samples_guarded"] == 9


def test_arms_that_did_other_work_are_unlike() -> None:
    """An end of sequence that one arm ignores and the other does not: two measurements."""
    eos = Body(BODY.route, tuple((n, "off" if n == "ignore_eos" else v) for n, v in BODY.fields))
    arms = [arm("invariant"), arm("fast", requested={"ignore_eos": "off"})]

    def other(one: Sample) -> Sample:
        if one.arm == "invariant":
            return one
        return replace(one, requests=tuple(replace(r, body=1) for r in one.requests))

    seen = run(both(), other, arms, (BODY, eos))
    (one,) = folded(seen)["comparisons"]
    assert (one["unlike"], one["verdict"]) == (["ignore_eos"], "UNLIKE")


def test_a_setting_that_was_dropped_is_heard_of() -> None:
    bare = Body(BODY.route, tuple(entry for entry in BODY.fields if entry[0] != "ignore_eos"))
    found = folded(run(both(), bodies=(bare,)))
    assert found["verdict"] == "SETTING_ALTERED"
    entry = found["settings"][0]["entries"][0]
    assert (entry["name"], entry["resolved"], entry["cause"]) == ("ignore_eos", None, "dropped")


@pytest.mark.parametrize(
    ("observed", "verdict"),
    [("0.1", "MEASURED"), ("0.2", "IDENTITY_DIFFERS"), (None, "IDENTITY_DIFFERS")],
)
def test_a_pin_that_does_not_agree_comes_first(observed: str | None, verdict: str) -> None:
    first = arm("invariant")
    pins = (Pin("commit", "0.1", observed, "/version"), *first.pins[1:])
    found = folded(run(both(), arms=[replace(first, pins=pins), arm("fast")]))
    assert found["verdict"] == verdict
    assert found["counts"]["pins_differing"] == (verdict != "MEASURED")


def test_an_order_of_one_side_is_flagged() -> None:
    seen = run(both())
    by_block = sorted(seen.samples, key=lambda one: (one.block, one.arm))
    sorted_samples = tuple(replace(one, place=place) for place, one in enumerate(by_block))
    found = folded(replace(seen, samples=sorted_samples))
    assert found["comparisons"][0]["flags"] == ["one_sided"]
