"""`lockstep measure` and `measure throughput`: options that are refused, and runs end to end."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lockstep.certify.faults import served
from lockstep.claims.throughput import Criterion
from lockstep.claims.throughput import predicate as fold
from lockstep.cli.measure_throughput import _criteria, lengths_of, pinned, ratio, summary
from lockstep.cli.payload_throughput import throughput
from lockstep.measure import builtin
from lockstep.measure.observation import Sample
from tests.measure.runs import run
from tests.refusals import refused

ARMS = [builtin.wanted("invariant"), builtin.wanted("fast")]


def test_criteria_are_read_exactly() -> None:
    comparisons = [("invariant", "fast")]
    texts = ["invariant/fast above 1.15", "fast/invariant below 0.150001"]
    found = _criteria(texts, comparisons, ["invariant", "fast"])
    assert found == [Criterion(0, 1_150_000, "above"), Criterion(1, 150_001, "below")]
    assert comparisons == [("invariant", "fast"), ("fast", "invariant")]


@pytest.mark.parametrize(
    "text",
    ["", "invariant/fast", "invariant/peer below 1", "invariant/invariant below 1",
     "invariant/fast beneath 1", "invariant/fast below 1.0000001", "invariant/fast below -1"],
)  # fmt: skip
def test_criteria_that_say_nothing_are_refused(text: str) -> None:
    refused("USAGE", lambda: _criteria([text], [("invariant", "fast")], ["invariant", "fast"]))


def test_pins_go_to_their_own_field() -> None:
    first, second = pinned(ARMS, ["fast.commit=abc", "fast.runtime_version=1=2"])
    assert first.recorded == {}
    assert second.recorded == {"commit": "abc", "runtime_version": "1=2"}
    for text in ("other.commit=abc", "fast.version=1", "fast.commit", "fast.commit="):
        refused("USAGE", lambda text=text: pinned(ARMS, [text]))  # type: ignore[misc]


def test_lengths() -> None:
    assert lengths_of("48,640", "--prompts") == (48, 640)
    for text in ("", "0", "48,", "4 8", "x", "٣"):
        refused("USAGE", lambda text=text: lengths_of(text, "--prompts"))  # type: ignore[misc]


def test_without_an_option_nothing_is_run(
    lockstep: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*_: object) -> None:
        raise AssertionError("a run was begun")

    monkeypatch.setattr("lockstep.cli.measure_throughput._observed", run)
    assert "measure throughput [OPTIONS]" in lockstep("measure", "throughput", exit=2)


def test_a_plan_says_what_would_be_run(lockstep: Callable[..., str]) -> None:
    told = lockstep(
        "measure", "throughput", "--plan", "--blocks", "2", "--prompts", "24,40", "--seed", "7",
        "--fast", "serve fast {port}", "--peer-endpoint", "http://127.0.0.1:1",
        "--i-control-this-endpoint", "--criterion", "fast/peer below 0.5",
    )  # fmt: skip
    invariant = builtin.wanted("invariant").launch
    assert invariant is not None
    assert told.splitlines() == [
        "plan: 6 samples, 2 of each of 3 arms, in turns that seed 7 shuffles",
        "  a sample: prompts of 24, 40 tokens at once, 16 tokens of answer to each, the same work "
        "before it as a warm-up",
        f"  invariant: started anew for each sample: {invariant.text}",
        "  fast: started anew for each sample: serve fast {port}",
        "  peer: the server at http://127.0.0.1:1",
        "  compared: invariant to fast, peer to invariant, fast to peer",
    ]


def test_a_ratio_without_an_interval_has_no_figure() -> None:
    told: dict[str, object] = {
        "a": "x",
        "b": "y",
        "verdict": "UNMEASURED",
        "median": None,
        "pairs": 5,
        "flags": [],
    }
    assert ratio(told) == "x to y: UNMEASURED, no interval over 5 pairs"


def test_a_summary_says_what_cannot_be_separated() -> None:
    ends = {end: {"block": 0, "ppm": 1_100_000} for end in ("low", "median", "high")}
    compared = {"a": "x", "b": "y", "verdict": "MEASURED", "pairs": 9, "flags": ["spread"],
                "coverage_ppm": 960_937, **ends}  # fmt: skip
    lines = summary(
        {
            "verdict": "MEASURED",
            "counts": {"samples": 18, "arms": 2, "samples_refused": 0},
            "comparisons": [compared],
            "criteria": [
                {"comparison": 0, "threshold_ppm": 1_150_000, "outcome": "not_separable",
                 "killed": False}
            ],
        }
    )  # fmt: skip
    assert lines == [
        "verdict: MEASURED; 18 samples of 2 arms, 0 refused",
        "x to y: MEASURED, ratio 1.100, 1.100 to 1.100 at 96.1 %; flagged: spread",
        "criterion x/y: not separable from 1.15 at 9 pairs",
    ]


def test_show_tells_ratios_receipts_and_what_nobody_chose() -> None:
    def failing(one: Sample) -> Sample:
        if one.place != 4:
            return one
        return replace(one, requests=tuple(replace(r, failure="timeout") for r in one.requests))

    folded = fold(
        run({"invariant": [1100] * 7, "fast": [1000] * 7}, failing),
        [("invariant", "fast")],
        [Criterion(0, 1_050_000, "above")],
        issued_at="2026-01-01T00:00:00Z",
        producer={},
    )
    shown = {one.title: one.rows for one in throughput(folded, rows=False)}
    assert shown["ratios of walls"] == (
        ("invariant to fast: MEASURED, ratio 1.100, 1.100 to 1.100 at 96.9 %",),
    )
    assert shown["criteria"] == (("invariant/fast", "above 1.05", "above", "yes"),)
    assert shown["refused samples"] == (("block-2", folded["samples"][4]["arm"], "request_failed"),)
    assert ("fast", "seed", "nothing", "nothing", "unchosen") in shown[
        "settings, read back from what was sent"
    ]


def predicate(path: Path) -> dict[str, object]:
    envelope = json.loads(path.read_bytes())
    found: dict[str, object] = json.loads(b64decode(envelope["payload"]))["predicate"]
    return found


@pytest.mark.slow
def test_the_built_in_server_is_compared_with_itself(
    lockstep: Callable[..., str], tmp_path: Path
) -> None:
    output = tmp_path / "t.cert.json"
    told = lockstep(
        "measure", "throughput", "--prompts", "24,40", "--max-new", "4", "--blocks", "6",
        "--criterion", "invariant/fast above 1000", "-o", str(output),
    )  # fmt: skip
    assert "lockstep-verify, under a policy that trusts this key alone: OK" in told
    assert "criterion invariant/fast: below 1000" in told
    found = predicate(output)
    assert {one["process"] for one in found["samples"]} == set(range(12))  # type: ignore[attr-defined]


@pytest.mark.slow
def test_the_built_in_server_is_probed(lockstep: Callable[..., str], tmp_path: Path) -> None:
    output = tmp_path / "m.cert.json"
    launches = [f"--launch={served(f' --chunk-tokens {budget}')}" for budget in (32, 64)]
    told = lockstep("measure", *launches, "--blocks", "1", "--max-new", "8", "-o", str(output))
    assert "server-0 (lockstep): batch budget 32 tokens a step" in told
    assert "server-1 (lockstep): batch budget 64 tokens a step" in told
    assert "KV pool, as printed: lockstep_kv_blocks 1024.0, block_size 16" in told
    assert "lockstep-verify, under a policy that trusts this key alone: OK" in told
