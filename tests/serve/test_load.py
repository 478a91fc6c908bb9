"""Many requests at once: none lost, each answered as it is alone, memory flat."""

from __future__ import annotations

import gc
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from lockstep.serve import served
from lockstep.serve.policy import Driving

CONCURRENCY = 64
GROWTH_BYTES = 24 << 20
"""What a process may grow by over the second half of a long run: arenas, not requests."""


def call_of(number: int) -> dict[str, Any]:
    draws = random.Random(number)
    return {
        "prompt": [draws.randrange(1, 256) for _ in range(draws.randrange(1, 60))],
        "max_tokens": draws.randrange(1, 9),
        "temperature": draws.choice([0, 0.8]),
        "seed": number % 10,
        "ignore_eos": True,
        "logprobs": draws.choice([None, 0, 3]),
        "return_token_ids": True,
        "stream": False,
    }


def run_load(server: Any, count: int, seen: Callable[[int], None] = lambda done: None) -> None:
    """Make so many calls, 64 at a time, and look at each answer."""
    done = 0
    with ThreadPoolExecutor(CONCURRENCY) as threads:
        for call, answer in threads.map(
            lambda call: (call, server.complete(**call)), map(call_of, range(count))
        ):
            [choice] = answer["choices"]
            assert len(choice["token_ids"]) == call["max_tokens"]
            assert answer["usage"]["prompt_tokens"] == len(call["prompt"])
            if call["logprobs"] is not None:
                assert len(choice["logprobs"]["token_logprobs"]) == call["max_tokens"]
            done += 1
            seen(done)
    assert done == count
    assert server.metric("lockstep_requests_total") == count
    assert server.metric('lockstep_requests_total{outcome="length"}') == count


def test_a_hundred_calls_at_once_are_all_answered(start: Any) -> None:
    with start(driving=Driving(max_batch=CONCURRENCY, chunk_tokens=256)) as server:
        run_load(server, 100)
        assert server.metric("lockstep_requests_waiting") == 0


@pytest.mark.slow
def test_thousands_of_calls_leave_memory_flat(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # With smaller bounds executions turn over several times, as in days of service.
    monkeypatch.setattr(served, "EXECUTION_REQUESTS", 300)
    monkeypatch.setattr(served, "EXECUTION_REQUESTS_MOST", 300)
    sizes: dict[int, int] = {}

    def seen(done: int) -> None:
        if done % 500 == 0:
            gc.collect()
            sizes[done] = resident_bytes()

    with start(driving=Driving(max_batch=CONCURRENCY, chunk_tokens=256)) as server:
        run_load(server, 3000, seen)
        assert server.metric("lockstep_executions_total") >= 10
    assert sizes[3000] - sizes[1500] < GROWTH_BYTES, sizes


@pytest.mark.slow
def test_a_thousand_calls_at_once_are_all_answered(start: Any) -> None:
    with start(driving=Driving(max_batch=CONCURRENCY, chunk_tokens=256)) as server:
        run_load(server, 1000)


def resident_bytes() -> int:
    """Give what this process, server and client in one, has in memory."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no VmRSS")
