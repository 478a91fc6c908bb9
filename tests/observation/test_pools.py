"""SGLang's pools and FlashInfer's pages: what their probes tell, and the engines where they are."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lockstep.claims.layout_observation import predicate
from lockstep.observation import observe
from lockstep.observation.environment import Environment
from lockstep.observation.probes import sglang_pools
from lockstep.observation.seen import Memory, SeenEngine, both_of

PEERS = Path(__file__).resolve().parents[2] / "results" / "peers"
"""Where `tools/certify_peers.py` installs engines."""


def installed(engine: str) -> Environment:
    """Give the environment of an engine; its test is skipped where there is none."""
    folder = PEERS / engine
    if not (folder / ".installed").is_file():
        pytest.skip(f"not run: {engine} is not installed in results/peers")
    return Environment(folder)


def verdicts(engine: str, environment: Environment) -> dict[str, str]:
    """Observe an engine, and give the verdict on each declared layout."""
    found = predicate(observe.observe(engine, environment=environment), issued_at="", producer={})
    told = zip(found["layouts"], found["observations"], strict=True)
    return {declared["name"]: one["verdict"] for declared, one in told}


def told(run: dict[str, Any], extents: dict[str, list[int]]) -> dict[str, Any]:
    """Give what a probe tells of a run whose memory has nothing but zeros."""
    sizes = extents[run["cache"]]
    count, names = 1, ("k", "v") if "pool" in run["cache"] else ("kv",)
    for size in sizes:
        count *= size
    apart = len(sizes) == 3 or run["cache"].isupper()
    buffers = [
        {"tensor": name, "layer": layer, "extents": sizes}
        for name in names
        for layer in ((0, 1) if apart else (None,))
    ]
    text = "00" * count * (4 if run["dtype"] == "float32" else 2)
    return {"buffers": buffers, "held": [[text] * len(buffers)] * 2}


EXTENTS = {
    "sglang": {
        "pool": [70, 3, 4],
        "paged_pool": [192, 3, 4],
        "layer_first": [2, 2, 69, 3, 4],
        "page_first": [2, 69, 2, 3, 4],
        "page_first_direct": [2, 2, 2, 64, 3, 4],
    },
    "flashinfer": {"NHD": [3, 2, 32, 3, 4], "HND": [2, 2, 3, 64, 4]},
}


def observed(engine: str, monkeypatch: pytest.MonkeyPatch) -> SeenEngine:
    """Observe an engine whose memory has the declared sizes and nothing in it."""

    def ask(self: Environment, probe: str, request: Any, variables: Any = None) -> Any:
        return {"runs": [told(run, EXTENTS[engine]) for run in request["runs"]]}

    def identity(self: Environment, names: Any, files: Any) -> tuple[str, dict[str, str]]:
        return "1", dict.fromkeys(files, "0" * 64)

    monkeypatch.setattr(Environment, "ask", ask)
    monkeypatch.setattr(Environment, "identity", identity)
    return observe.observe(engine)


@pytest.mark.parametrize("engine", sorted(EXTENTS))
def test_memory_of_the_declared_size_is_held_against_it(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = observed(engine, monkeypatch)
    found = predicate(seen, issued_at="", producer={})
    # Representable, and nothing stands in it: each element is elsewhere.
    assert {one["verdict"] for one in found["observations"]} == {"DIFFERS"}
    assert found["counts"]["wrong"] == found["counts"]["elements"]
    assert [len(one.runs) for one in seen.observations] == [3] + [1] * (len(EXTENTS[engine]) - 1)
    assert not {f"{engine}/{one.layout.name}" for one in seen.observations} & set(seen.cited)
    assert len(seen.written_by) <= 200


def test_what_cannot_be_observed_stays_cited(monkeypatch: pytest.MonkeyPatch) -> None:
    cited = set(observed("sglang", monkeypatch).cited)
    assert {"sglang/hicache-page-head", "sglang/sglang-mla", "flashinfer/flashinfer-nhd"} <= cited


def test_buffers_are_what_the_probe_tells_of_them() -> None:
    buffers = [
        {"tensor": "k", "layer": 1, "extents": [1]},
        {"tensor": "v", "layer": 0, "extents": [2]},
    ]
    low, high = both_of({"buffers": buffers, "held": [["0102", "03040506"], ["0708", "090a0b0c"]]})
    assert low == (Memory("k", 1, (1,), b"\1\2"), Memory("v", 0, (2,), b"\3\4\5\6"))
    assert [one.data for one in high] == [b"\7\x08", b"\x09\x0a\x0b\x0c"]
    with pytest.raises(ValueError, match="shorter"):
        both_of({"buffers": buffers, "held": [["0102"], ["0708"]]})


def test_a_buffer_that_is_not_one_piece_is_refused() -> None:
    strided = SimpleNamespace(shape=(3, 2), stride=lambda: (1, 3), is_contiguous=lambda: False)
    with pytest.raises(SystemExit, match=r"a buffer of \(3, 2\) has strides \(1, 3\)"):
        sglang_pools.memory(strided)


@pytest.mark.slow
def test_flashinfers_reference_writes_as_declared() -> None:
    assert set(verdicts("flashinfer", installed("flashinfer")).values()) == {"MATCHES"}


@pytest.mark.slow
def test_sglangs_pools_are_as_declared_unless_told_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    environment = installed("sglang")
    assert set(verdicts("sglang", environment).values()) == {"MATCHES"}
    # SGLang's own switch has heads before the tokens of a page.
    monkeypatch.setenv("SGLANG_USE_HND_KVCACHE", "1")
    found = verdicts("sglang", environment)
    assert found["sglang-page64"] == "DIFFERS"
    assert found["hicache-page-first"] == "MATCHES"
