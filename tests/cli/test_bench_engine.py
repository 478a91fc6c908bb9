"""`lockstep bench-engine`: ratios of pairs, and a word on the GPU that is or is not there."""

from __future__ import annotations

import sys

import pytest

from lockstep import cli
from lockstep.engine import benchmark, device
from lockstep.engine.device import Device
from lockstep.errors import LockstepError


def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    small = benchmark.cases(width=32, heads=4, head_dim=8, context=32)
    monkeypatch.setattr(benchmark, "cases", lambda: small)
    chosen = dict(list(benchmark.workloads(256).items())[:1])
    monkeypatch.setattr(benchmark, "workloads", lambda vocab_size: chosen)
    monkeypatch.setattr(sys, "argv", ["lockstep", "bench-engine", "--pairs", "2"])
    status = cli.main()
    return status, capsys.readouterr().out


def test_without_a_device(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def none() -> Device:
        raise LockstepError("DEVICE_MISSING", "GPU", "a GPU", "torch 9")

    monkeypatch.setattr(device, "open_device", none)
    status, out = run(monkeypatch, capsys)
    assert status == 0
    assert "host / fast, float32, 2 pairs: least, median, greatest" in out
    assert len([line for line in out.splitlines() if line.startswith("  kernel")]) == 12
    assert "kernels on a GPU: not run here (a GPU wanted, torch 9)" in out


def test_with_a_device(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    # The device's part, over the host's kernels.
    from lockstep.engine import backends

    opened = backends.open_backend
    monkeypatch.setattr(device, "open_device", lambda: Device("a GPU", lambda: None, 1e9, 1e12))
    monkeypatch.setattr(
        backends,
        "open_backend",
        lambda name, dtype=None: opened("host" if name == "triton" else name, dtype),
    )
    status, out = run(monkeypatch, capsys)
    assert status == 0
    assert "kernels on a GPU, float32; peaks measured here: 1 GB/s by a copy, 1.0 TFLOP/s" in out
    assert out.count("of bandwidth") == 12


def test_another_fault_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def faulty() -> Device:
        raise LockstepError("KERNEL_INPUT", "GPU", "a", "b")

    monkeypatch.setattr(device, "open_device", faulty)
    assert run(monkeypatch, capsys)[0] == 3
