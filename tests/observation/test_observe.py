"""transformers' own caches, and engines that are not there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lockstep.claims.layout_observation import predicate
from lockstep.errors import LockstepError
from lockstep.observation import observe
from lockstep.observation.engines import transformers


def test_what_transformers_writes_is_as_declared_but_for_a_window() -> None:
    seen = observe.observe("transformers")
    folded = predicate(seen, issued_at="", producer={})
    verdicts = [one["verdict"] for one in folded["observations"]]
    assert verdicts == ["MATCHES", "MATCHES", "NOT_REPRESENTABLE"]
    assert [len(one["runs"]) for one in folded["observations"]] == [3, 1, 1]
    assert "huggingface/hf-dynamic" not in folded["cited"]
    assert "vllm/vllm-0.22-nhd" in folded["cited"]
    assert list(seen.files) == ["transformers/cache_utils.py"]


def test_a_cache_that_writes_elsewhere_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    write = transformers.write
    monkeypatch.setattr(transformers, "CACHES", transformers.CACHES[:1])
    # Keys and values handed over in the order of tokens and heads.
    monkeypatch.setattr(
        transformers, "write",
        lambda cache, geometry, dtype, values: write(
            cache, replace(geometry, tokens=3, kv_heads=21), dtype, values.swapaxes(2, 3)
        ),
    )  # fmt: skip
    folded = predicate(observe.observe("transformers"), issued_at="", producer={})
    assert folded["observations"][0]["verdict"] == "DIFFERS"
    assert folded["observations"][0]["explanation"] == [["1", "T", "H", "D"]] * 2


def test_engines_that_cannot_be_asked_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LockstepError) as fault:
        observe.observe("nothing")
    assert fault.value.code == "USAGE"
    with pytest.raises(LockstepError) as fault:
        observe.observe("transformers", replace(transformers.GEOMETRY, tokens=8))
    assert fault.value.code == "BAD_VALUE"
    monkeypatch.setattr(transformers, "DISTRIBUTIONS", ("no-such-distribution",))
    with pytest.raises(LockstepError) as fault:
        observe.observe("transformers")
    assert fault.value.code == "LIBRARY_MISSING"
