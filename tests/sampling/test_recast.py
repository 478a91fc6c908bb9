"""Weights in fewer bits: nearest, within what the bits hold, and read like any other model."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.engine.checkpoint import Checkpoint, read_checkpoint
from lockstep.engine.tiny import TinyModel, make_tiny
from lockstep.sampling.bfloat16 import Bfloat16Backend
from lockstep.sampling.recast import bfloat16, blended, halved, integers, recast

ROWS = st.lists(st.floats(-100, 100, width=32), min_size=64, max_size=64)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return blended(tmp_path_factory.mktemp("recast") / "model")


def weights(checkpoint: Checkpoint) -> dict[str, np.ndarray]:
    layer = checkpoint.weights.layers[0]
    return {
        "q": layer.q_proj,
        "down": layer.down_proj,
        "norm": layer.input_layernorm,
        "embedding": checkpoint.weights.embed_tokens,
        "head": checkpoint.weights.lm_head,
    }


def test_a_blended_model_is_held_by_no_smaller_dtype(folder: Path) -> None:
    made = weights(read_checkpoint(folder))
    for name in ("q", "down", "embedding", "head"):
        assert (made[name] != bfloat16(made[name])).mean() > 0.5, name
        assert (made[name] != made[name].astype(np.float16).astype(np.float32)).any(), name
    assert read_checkpoint(folder).sha256 == read_checkpoint(folder).sha256


def test_the_same_bytes_each_time(folder: Path, tmp_path: Path) -> None:
    again = blended(tmp_path / "again")
    for file in folder.iterdir():
        assert file.read_bytes() == (again / file.name).read_bytes()


@pytest.mark.parametrize(
    ("change", "kept", "levels"),
    [("bfloat16", {"norm"}, None), ("int8", {"norm", "embedding", "head"}, 255),
     ("int4", {"norm", "embedding", "head"}, 15)],
)  # fmt: skip
def test_what_is_rounded(
    folder: Path, tmp_path: Path, change: str, kept: set[str], levels: int | None
) -> None:
    before = weights(read_checkpoint(folder))
    made = read_checkpoint(recast(folder, tmp_path / change, change))
    assert made.stored_dtype == "float32"
    for name, values in weights(made).items():
        assert np.array_equal(values, before[name]) == (name in kept), name
    if levels is not None:
        row = weights(made)["q"][0]
        assert len(np.unique(row if levels > 15 else row[:32])) <= levels


@settings(max_examples=30)
@given(ROWS)
def test_integers_are_the_nearest_levels(row: list[float]) -> None:
    values = np.array([row], np.float32)
    for bits, group in ((8, None), (4, 32), (4, 48)):
        rounded = integers(values, bits, group)
        width = group if group and 64 % group == 0 else 64
        largest = np.abs(values.reshape(-1, width)).max(axis=1)
        step = np.repeat(largest / (2 ** (bits - 1) - 1), width)
        error = np.abs(rounded - values).reshape(-1)
        assert (error <= step * 0.5001 + 1e-37).all()


@settings(max_examples=30)
@given(ROWS)
def test_bfloat16_is_the_nearest_and_has_8_bits(row: list[float]) -> None:
    values = np.array(row, np.float32)
    rounded = bfloat16(values)
    bits = rounded.view(np.uint32)
    assert not (bits & 0xFFFF).any()
    for value, got, pattern in zip(values.tolist(), rounded.tolist(), bits.tolist(), strict=True):
        for other in (pattern - 0x10000, pattern + 0x10000):
            if 0 <= other < 1 << 32:
                beside = float(np.array([other], np.uint32).view(np.float32)[0])
                apart = math.inf if math.isnan(beside) else abs(beside - value)
                even = not pattern & 0x10000
                assert abs(got - value) < apart or (abs(got - value) == apart and even)


def test_half_of_the_layers(folder: Path, tmp_path: Path) -> None:
    made = read_checkpoint(halved(folder, tmp_path / "half"))
    assert made.config.layers == 1
    assert np.array_equal(
        made.weights.layers[0].q_proj, read_checkpoint(folder).weights.layers[0].q_proj
    )


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_other_stored_dtypes_are_widened(tmp_path: Path, dtype: str) -> None:
    source = make_tiny(tmp_path / "tiny", TinyModel(dtype=dtype))
    # A tiny model's own numbers fit into 8 bits, and so rounding them changes nothing.
    made = read_checkpoint(recast(source, tmp_path / "made", "bfloat16"))
    before = read_checkpoint(source)
    assert np.array_equal(made.weights.embed_tokens, before.weights.embed_tokens)
    assert (before.stored_dtype, made.stored_dtype) == (dtype, "float32")


def test_a_backend_hands_over_bfloat16() -> None:
    backend = Bfloat16Backend()
    x = np.linspace(-3, 3, 64, dtype=np.float32).reshape(2, 32)
    added = backend.add(x, x / 3)
    assert np.array_equal(added, bfloat16(x + x / 3))
    assert not np.array_equal(added, x + x / 3)
    assert np.array_equal(backend.swiglu(x, x), bfloat16(backend.swiglu(x, x)))
