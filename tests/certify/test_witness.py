"""Metrics as servers write them: labels, several series, and what is not there."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest

from lockstep.certify import witness
from lockstep.certify.exchange import _followed
from lockstep.certify.witness import Gauge, Peak, Sample, samples, total

TEXT = r"""
# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="a\"b\\c, d={e}"} 3.0
vllm:num_requests_running{engine="1",model_name="m"} 4.0 1795994677000
vllm:num_requests_running_total 99
tgi_batch_current_size 7
bad line
tgi_queue_size NaN
huge 1e30
negative -1
"""


def test_series_are_summed_over_labels() -> None:
    assert total(TEXT, ["vllm:num_requests_running"]) == 7
    assert total(TEXT, ["absent", "tgi_batch_current_size"]) == 7


@pytest.mark.parametrize("name", ["absent", "tgi_queue_size", "huge", "negative", "bad"])
def test_what_is_not_there_or_no_count_is_none(name: str) -> None:
    try:
        assert total(TEXT, [name]) is None
    except ValueError:
        pytest.fail("a reading that is no number must not raise")


def test_labels_are_unescaped() -> None:
    first = next(iter(samples(TEXT)))
    labels = (("engine", "0"), ("model_name", 'a"b\\c, d={e}'))
    assert first == Sample("vllm:num_requests_running", labels, 3.0)


def test_a_peak_is_read_when_it_is_called_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(witness, "INTERVAL_SECONDS", 60)
    readings = iter((1, 2))

    class Counted:
        async def read(self) -> int:
            return next(readings)

    async def followed() -> Peak:
        peak = Peak(2)
        task = asyncio.create_task(peak.follow(cast(Gauge, Counted())))
        async with asyncio.timeout(5):
            while peak.polls < 1:
                await asyncio.sleep(0)
            peak.call()
            while peak.polls < 2:
                await asyncio.sleep(0)
        task.cancel()
        return peak

    assert asyncio.run(followed()).value == 2


def test_a_reading_that_a_round_ends_amid_counts() -> None:
    asked, told = asyncio.Event(), asyncio.Event()

    class Late:
        async def read(self) -> int:
            asked.set()
            await told.wait()
            return 3

    async def round_() -> Peak:
        async with _followed(cast(Gauge, Late()), 3) as peak:
            await asked.wait()
            asyncio.get_running_loop().call_later(0.01, told.set)
        return peak

    peak = asyncio.run(round_())
    assert (peak.value, peak.polls) == (3, 1)
