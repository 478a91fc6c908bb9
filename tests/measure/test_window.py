"""Windows: each refusal, which of two comes first, and what a sample gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from lockstep import spec
from lockstep.errors import registry
from lockstep.measure import document, window
from lockstep.measure.observation import Counter, Sample
from lockstep_verify.derive import probe_window
from tests.measure.runs import request, sample
from tests.refusals import refused


def counters(**changes: tuple[int | None, int | None]) -> Callable[[Sample], Sample]:
    def change(one: Sample) -> Sample:
        told = tuple(
            Counter(old.question, old.metric, *changes.get(old.question, (old.before, old.after)))
            for old in one.window.counters
        )
        return replace(one, window=replace(one.window, counters=told))

    return change


def requests(**changes: object) -> Callable[[Sample], Sample]:
    def change(one: Sample) -> Sample:
        first, *rest = one.requests
        return replace(one, requests=(replace(first, **changes), *rest))  # type: ignore[arg-type]

    return change


def clock(apart: int) -> Callable[[Sample], Sample]:
    def change(one: Sample) -> Sample:
        return replace(one, window=replace(one.window, clock_us=one.window.monotonic_us + apart))

    return change


def no_time(one: Sample) -> Sample:
    return replace(one, requests=tuple(replace(r, end_us=0) for r in one.requests))


REFUSED = [
    (requests(failure="timeout", generated=None), "request_failed"),
    (counters(steps=(100, None)), "missing_reading"),
    (counters(prompt_tokens=(None, 180)), "missing_reading"),
    (
        counters(steps=(100, 5), prompt_tokens=(900, 80), generated_tokens=(50, 8)),
        "counter_reset",
    ),
    (counters(prompt_tokens=(100, 99)), "metric_backwards"),
    (clock(100_001), "clock_step"),
    (clock(-100_001), "clock_step"),
    (counters(prompt_tokens=(100, 181)), "foreign_work"),
    (counters(prompt_tokens=(100, 179)), "foreign_work"),
    (counters(generated_tokens=(100, 109)), "foreign_work"),
    (requests(told_tokens=31, prompt_tokens=32), "foreign_work"),
    (requests(generated=3), "foreign_work"),
    (requests(generated=None), "wrong_work"),
    (requests(cached=16), "cached_prompt"),
    (counters(steps=(100, 100)), "zero_population"),
    (no_time, "zero_population"),
]


@pytest.mark.parametrize(("change", "reason"), REFUSED)
def test_refusals_are_the_same_to_both(change: Callable[[Sample], Sample], reason: str) -> None:
    one = change(sample())
    assert window.refusal(one) == reason
    assert probe_window.refusal(document.sample(one)) == reason
    assert refused(reason.upper(), lambda: window.value(one, "wall_us")).exit == 3


def test_every_refusal_has_a_code_and_a_sample_that_trips_it() -> None:
    names = spec.load("probe.json")["refusals"]
    assert {reason for _, reason in REFUSED} == set(names)
    assert {name.upper() for name in names} <= set(registry())


def test_a_sample_without_a_fault_is_not_refused() -> None:
    assert window.refusal(sample()) is None
    assert window.refusal(clock(100_000)(sample())) is None


def test_without_a_metric_nothing_is_known_and_nothing_is_refused() -> None:
    one = sample()
    told = tuple(replace(old, metric=None, before=None, after=None) for old in one.window.counters)
    blind = replace(one, window=replace(one.window, counters=told))
    assert window.refusal(blind) is None
    assert window.value(blind, "steps") is None


def test_wrong_work_where_no_counter_says_whose() -> None:
    one = sample()
    told = tuple(replace(old, metric=None, before=None, after=None) for old in one.window.counters)
    blind = replace(one, window=replace(one.window, counters=told))
    assert window.refusal(requests(told_tokens=31)(blind)) == "wrong_work"
    assert window.refusal(requests(generated=3)(blind)) == "wrong_work"


def test_a_failure_comes_before_what_follows_from_it() -> None:
    one = requests(failure="dropped", generated=None)(counters(steps=(100, None))(sample()))
    assert window.refusal(one) == "request_failed"


def stalled() -> Sample:
    decoder = request(
        16, 1000, max_new=5, generated=5, first_us=100, arrivals_us=(100, 200, 310, 700, 790)
    )
    prefill = request(
        64, 1000, start_us=250, first_us=690, end_us=695, max_new=1, generated=1,
        arrivals_us=(690,),
    )  # fmt: skip
    told = tuple(
        Counter(one.question, one.metric, 100, 100 + rise)
        for one, rise in zip(sample().window.counters, (9, 80, 6), strict=True)
    )
    return sample(requests=(decoder, prefill), window=replace(sample().window, counters=told))


def test_quantities_of_a_stall() -> None:
    one = stalled()
    found = {
        entry["name"]: window.value(one, entry["name"])
        for entry in spec.load("probe.json")["quantities"]
    }
    assert found == {
        "wall_us": 1000,
        "requests": 2,
        "tokens": 80,
        "generated_tokens": 6,
        "steps": 9,
        "first_us": 440,
        "cadence_us": 100,
        "stall_us": 390,
        "stall_tokens": 1,
    }
    assert probe_window.quantities(document.sample(one)) == found


def test_parts_that_bring_several_tokens_have_no_cadence() -> None:
    decoder, prefill = stalled().requests
    one = replace(stalled(), requests=(replace(decoder, arrivals_us=(100, 300, 700, 790)), prefill))
    assert window.value(one, "cadence_us") is None
    assert window.value(one, "stall_us") is None
    assert window.value(one, "stall_tokens") is None
    assert probe_window.quantities(document.sample(one))["stall_tokens"] is None
