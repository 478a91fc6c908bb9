"""Pairs are timed in turn, and shares follow from what is moved and measured."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from lockstep.engine import benchmark
from lockstep.engine.backends import open_backend
from lockstep.engine.benchmark import achieved, cases, execution, ratios, spread, workloads
from lockstep.engine.opening import open_model
from lockstep.engine.tiny import TinyModel


def test_pairs_are_interleaved_and_turned(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    now = 0.0

    def call(name: str, spent: float) -> None:
        nonlocal now
        order.append(name)
        now += spent

    monkeypatch.setattr(benchmark, "time", SimpleNamespace(perf_counter=lambda: now))
    found = ratios(lambda: call("a", 4), lambda: call("b", 2), 4)
    assert "".join(order) == "ab" + "ab" + "ba" + "ab" + "ba"
    # Whichever ran first, it is the first one's time that stands above.
    assert found == [2, 2, 2, 2]
    assert spread([3.0, 1.0, 2.0]) == (1.0, 2.0, 3.0)


@pytest.mark.parametrize("backend", ["host", "fast", "float64"])
def test_every_kernel_runs_at_every_size(backend: str) -> None:
    opened = open_backend(backend)
    small = cases(width=32, heads=4, head_dim=8, context=32)
    assert len({case.name for case in small}) == len(small) == 12
    for case in small:
        assert case.prepare(opened)() is not None
        assert case.operations > 0
        assert case.elements + case.wide > 0


def test_workloads_run_to_their_end() -> None:
    model = open_model(TinyModel(), "fast").model
    found = workloads(model.config.vocab_size)
    _, run = execution(model, found["one request, 64 decodes"])()  # type: ignore[misc]
    (output,) = run.outputs.values()
    assert len(output.tokens) == 64


def test_shares_are_of_the_measured_peaks(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[int] = []
    clock = iter(range(1000))
    monkeypatch.setattr(benchmark, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    small = cases(width=32, heads=4, head_dim=8, context=32)
    monkeypatch.setattr(benchmark, "cases", lambda: small)
    found = achieved(open_backend("host"), lambda: waits.append(1), 1000.0, 10.0, runs=3)
    assert len(waits) == 4 * len(small)
    # Each call takes one tick of this clock.
    by_name = dict(zip((case.name for case in small), small, strict=True))
    for one in found:
        case = by_name[one.name]
        assert one.seconds == 1
        assert one.bandwidth == 4 * (case.elements + case.wide) / 1000.0
        assert one.rate == case.operations / 10.0
