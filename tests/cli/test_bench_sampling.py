"""`lockstep bench-sampling`, tiny: what it finds of agreement, never how fast anything is."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from lockstep import cli
from lockstep.sampling import benchmark
from lockstep.sampling.batch import exp


def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], output: Path
) -> tuple[int, str]:
    monkeypatch.setattr(benchmark, "SIZES", (5,))
    monkeypatch.setattr(benchmark, "FLOORS", {5: 0.0})
    monkeypatch.setattr(benchmark, "SEQUENCE", 30)
    command = ["lockstep", "bench-sampling", "--runs", "2", "--scale", "20", "--arguments", "500"]
    monkeypatch.setattr(sys, "argv", [*command, "-o", str(output)])
    return cli.main(), capsys.readouterr().out


def test_ratios_and_agreement(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    status, out = run(monkeypatch, capsys, tmp_path / "bench.json")
    assert status == 0
    assert "5 tokens: decimal / batch: median " in out and "5 tokens: plain / batch: median " in out
    assert "500 exponentials: 0 differ from the exact ones" in out
    written = json.loads((tmp_path / "bench.json").read_text())
    assert [one["name"] for one in written["ratios"]] == ["decimal", "plain"]
    assert written["exponentials"]["arguments"] == 500


def test_a_disagreement_is_no_success(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    near = exp.near

    def wrong(x: exp.Numbers) -> tuple[exp.Numbers, exp.Mask]:
        values, decided = near(x)
        return exp.Numbers(values.c + (values.c % 7 == 0), values.q), decided

    monkeypatch.setattr(exp, "near", wrong)
    monkeypatch.setattr(benchmark, "race", lambda *given: ())
    status, out = run(monkeypatch, capsys, tmp_path / "bench.json")
    assert status == 3
    assert " 0 differ" not in out


def test_a_median_below_its_floor_is_no_success(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    slow = benchmark.Ratios("plain", 5, (0.9, 1.1, -1.0))
    fast = slow._replace(name="decimal", ratios=(0.0,))
    below = fast._replace(ratios=(-2.0,))
    told = {"slow": (slow._replace(ratios=(-1.0,)), fast), "fast": (slow, below)}
    monkeypatch.setattr(benchmark, "race", lambda *given: told["slow"])
    assert run(monkeypatch, capsys, tmp_path / "bench.json")[0] == 3
    monkeypatch.setattr(benchmark, "race", lambda *given: told["fast"])
    assert run(monkeypatch, capsys, tmp_path / "bench.json")[0] == 0


def test_contestants_that_disagree_are_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmark, "SEQUENCE", 4)
    monkeypatch.setattr(benchmark, "one_by_one", lambda *given: ["another reason"] * 4)
    with pytest.raises(AssertionError, match="plain and the batch disagree at 5 tokens"):
        benchmark.race(5, 1, 20)
