"""Checkpoints [MODEL-1] [MODEL-3] [MODEL-10] to [MODEL-13]: what is read, and each refusal."""

from __future__ import annotations

import builtins
import hashlib
import json
import os
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rfc8785
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st

from lockstep.engine.checkpoint import read_checkpoint
from lockstep.engine.safetensors_file import SafetensorsFile
from lockstep.engine.tiny import TinyModel, make_tiny, tiny_files
from lockstep.engine.weights import (
    EMBEDDING,
    HEAD,
    NORM,
    layer_shapes,
    layer_tensor,
    parameters,
    tensor_shapes,
)
from lockstep.errors import LockstepError, registry

WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
Q_NORM = layer_tensor(1, "self_attn.q_norm")
Q_PROJ = layer_tensor(0, "self_attn.q_proj")
Tensors = dict[str, np.ndarray[Any, Any]]


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return make_tiny(tmp_path / "model")


def load(folder: Path) -> Tensors:
    return dict(safetensors.numpy.load_file(folder / WEIGHTS))


def change(folder: Path, edit: Callable[[Tensors], object]) -> None:
    """Write the weights anew, by the library for the format."""
    tensors = load(folder)
    edit(tensors)
    safetensors.numpy.save_file(tensors, folder / WEIGHTS)


def split(folder: Path, shards: int = 3) -> dict[str, str]:
    """Lay the weights out in shards, with an index, and give its map."""
    tensors = load(folder)
    (folder / WEIGHTS).unlink()
    weight_map = {}
    for number in range(shards):
        name = f"model-{number + 1:05}-of-{shards:05}.safetensors"
        part = {key: tensors[key] for key in sorted(tensors)[number::shards]}
        safetensors.numpy.save_file(part, folder / name)
        weight_map |= dict.fromkeys(part, name)
    write_index(folder, weight_map)
    return weight_map


def write_index(folder: Path, weight_map: object) -> None:
    (folder / INDEX).write_text(json.dumps({"metadata": {}, "weight_map": weight_map}), "utf-8")


def refused(folder: Path, dtype: str = "float32") -> tuple[str, str]:
    """The code and the pointer, relative to the folder."""
    with pytest.raises(LockstepError) as caught:
        read_checkpoint(folder, dtype)
    assert str(caught.value)
    path, _, key = caught.value.pointer.partition(":")
    return caught.value.code, f"{os.path.relpath(path, folder)}:{key}" if key else (
        os.path.relpath(path, folder)
    )


def test_weights_are_those_that_the_library_reads(tiny: Path) -> None:
    checkpoint = read_checkpoint(tiny)
    tensors = load(tiny)
    weights = checkpoint.weights
    assert np.array_equal(weights.embed_tokens, tensors.pop(EMBEDDING))
    assert np.array_equal(weights.norm, tensors.pop(NORM))
    assert weights.lm_head is not None
    assert np.array_equal(weights.lm_head, tensors.pop(HEAD))
    for number, layer in enumerate(weights.layers):
        for attribute, (name, shape) in layer_shapes(checkpoint.config).items():
            value = getattr(layer, attribute)
            assert value.shape == shape
            assert value.dtype == np.float32
            assert np.array_equal(value, tensors.pop(layer_tensor(number, name)))
    assert not tensors
    assert parameters(checkpoint.config) == sum(value.size for value in load(tiny).values())


def test_digest_is_over_the_files(tiny: Path) -> None:
    checkpoint = read_checkpoint(tiny)
    names = ["config.json", "generation_config.json", WEIGHTS]
    assert checkpoint.files == {
        name: hashlib.sha256((tiny / name).read_bytes()).hexdigest() for name in names
    }
    assert checkpoint.sha256 == hashlib.sha256(rfc8785.dumps(checkpoint.files)).hexdigest()
    assert read_checkpoint(tiny, "float16").sha256 == checkpoint.sha256


def test_digest_moves_with_each_file_and_with_no_other(tiny: Path) -> None:
    before = read_checkpoint(tiny).sha256
    (tiny / "tokenizer.json").unlink()
    (tiny / "README.md").write_text("about", "utf-8")
    assert read_checkpoint(tiny).sha256 == before
    for name in ("config.json", "generation_config.json"):
        text = (tiny / name).read_text("utf-8")
        (tiny / name).write_text(text + "\n", "utf-8")
        assert read_checkpoint(tiny).sha256 != before
        (tiny / name).write_text(text, "utf-8")
    change(tiny, lambda tensors: tensors[NORM].__setitem__(0, 2.0))
    assert read_checkpoint(tiny).sha256 != before


def test_weights_stay_when_the_file_changes(tiny: Path) -> None:
    weights = read_checkpoint(tiny).weights
    before = weights.norm.copy()
    with (tiny / WEIGHTS).open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(size - 4096)
        file.write(b"\0" * 4096)
    assert np.array_equal(weights.norm, before)


def test_a_file_that_changes_while_it_is_read(tiny: Path) -> None:
    file = SafetensorsFile(tiny / WEIGHTS)
    file.assert_unchanged()
    os.utime(tiny / WEIGHTS, ns=(0, 0))
    with pytest.raises(LockstepError, match="FILE_CHANGED"):
        file.assert_unchanged()


def test_shards_give_the_same_weights(tiny: Path, tmp_path: Path) -> None:
    shutil.copytree(tiny, tmp_path / "shards")
    weight_map = split(tmp_path / "shards")
    whole, shards = read_checkpoint(tiny), read_checkpoint(tmp_path / "shards")
    assert np.array_equal(whole.weights.embed_tokens, shards.weights.embed_tokens)
    assert np.array_equal(whole.weights.layers[1].k_norm, shards.weights.layers[1].k_norm)
    assert set(shards.files) == {
        "config.json",
        "generation_config.json",
        INDEX,
        *weight_map.values(),
    }
    assert shards.sha256 != whole.sha256


@pytest.mark.parametrize("stored", ["bfloat16", "float16"])
def test_stored_dtypes_widen_exactly(tmp_path: Path, stored: str) -> None:
    wide = read_checkpoint(make_tiny(tmp_path / "wide"))
    narrow = read_checkpoint(make_tiny(tmp_path / "narrow", TinyModel(dtype=stored)))
    assert (wide.stored_dtype, narrow.stored_dtype) == ("float32", stored)
    assert narrow.dtype == "float32"
    assert narrow.weights.layers[0].q_proj.dtype == np.float32
    assert np.array_equal(narrow.weights.layers[0].q_proj, wide.weights.layers[0].q_proj)
    assert np.array_equal(narrow.weights.embed_tokens, wide.weights.embed_tokens)


def test_bfloat16_patterns_have_their_values(tmp_path: Path) -> None:
    """All finite patterns, from sign, exponent and fraction."""
    patterns = np.arange(1 << 16, dtype=np.uint16)
    exponent, fraction = (patterns >> 7 & 255).astype(np.int64), (patterns & 127).astype(np.int64)
    magnitude = np.ldexp(
        np.where(exponent == 0, fraction, fraction + 128).astype(np.float64),
        np.maximum(exponent, 1) - 134,
    )
    finite = exponent < 255
    chosen = patterns[finite]
    values = np.where(patterns >> 15 == 1, -magnitude, magnitude)[finite]
    folder = make_tiny(tmp_path / "model", TinyModel(dtype="bfloat16"))
    data = bytearray((folder / WEIGHTS).read_bytes())
    start = 8 + int.from_bytes(data[:8], "little")
    start += json.loads(data[8:start])[EMBEDDING]["data_offsets"][0]
    for first in range(0, len(chosen), 256 * 64):
        part = np.resize(chosen[first : first + 256 * 64], 256 * 64)
        data[start : start + part.nbytes] = part.tobytes()
        (folder / WEIGHTS).write_bytes(data)
        got = read_checkpoint(folder).weights.embed_tokens.reshape(-1)
        expected = np.resize(values[first : first + 256 * 64], 256 * 64)
        assert np.array_equal(got, expected)
        assert np.array_equal(np.signbit(got), np.signbit(expected))


def test_float16_rounds_to_nearest_even(tiny: Path) -> None:
    values = np.array([1 + 2**-11, 1 + 3 * 2**-11, 65519.0, 2**-25, 2**-24 * 1.5], np.float32)
    change(tiny, lambda tensors: tensors[NORM].__setitem__(slice(0, 5), values))
    norm = read_checkpoint(tiny, "float16").weights.norm
    assert norm.dtype == np.float16
    assert norm[:5].tolist() == [1.0, 1 + 2**-9, 65504.0, 0.0, 2**-23]


def test_a_tied_head_may_stand_there_if_it_is_the_embedding(tmp_path: Path) -> None:
    folder = make_tiny(tmp_path / "model", TinyModel(tied=True))
    assert read_checkpoint(folder).weights.lm_head is None
    change(folder, lambda tensors: tensors.__setitem__(HEAD, tensors[EMBEDDING].copy()))
    assert read_checkpoint(folder).weights.lm_head is None
    change(folder, lambda tensors: tensors[HEAD].__setitem__((255, 63), 9.0))
    assert refused(folder) == ("TENSOR_VALUE", f"{WEIGHTS}:/{HEAD}")


def test_an_unknown_compute_dtype(tiny: Path) -> None:
    with pytest.raises(LockstepError, match=r"USAGE.*float32 or float16, got bfloat16"):
        read_checkpoint(tiny, "bfloat16")


def test_a_folder_without_weights(tiny: Path) -> None:
    (tiny / WEIGHTS).unlink()
    assert refused(tiny) == ("FILE_UNREADABLE", WEIGHTS)


def test_no_folder(tmp_path: Path) -> None:
    assert refused(tmp_path / "none") == ("FILE_UNREADABLE", "config.json")


EDITS: dict[str, tuple[Callable[[Tensors], object], str, str]] = {
    "missing": (lambda t: t.pop(Q_NORM), "TENSOR_MISSING", Q_NORM),
    "untied without a head": (lambda t: t.pop(HEAD), "TENSOR_MISSING", HEAD),
    "a bias": (
        lambda t: t.__setitem__("model.layers.0.self_attn.q_proj.bias", t[NORM]),
        "TENSOR_UNEXPECTED",
        "model.layers.0.self_attn.q_proj.bias",
    ),
    "a layer too many": (
        lambda t: t.__setitem__(layer_tensor(2, "mlp.up_proj"), t[NORM]),
        "TENSOR_UNEXPECTED",
        layer_tensor(2, "mlp.up_proj"),
    ),
    "transposed": (
        lambda t: t.__setitem__(
            layer_tensor(0, "mlp.up_proj"),
            np.ascontiguousarray(t[layer_tensor(0, "mlp.up_proj")].T),
        ),
        "TENSOR_SHAPE",
        layer_tensor(0, "mlp.up_proj"),
    ),
    "flat": (lambda t: t.__setitem__(Q_PROJ, t[Q_PROJ].reshape(-1)), "TENSOR_SHAPE", Q_PROJ),
    "a scalar": (lambda t: t.__setitem__(NORM, np.array(1, np.float32)), "TENSOR_SHAPE", NORM),
    "empty": (lambda t: t.__setitem__(NORM, t[NORM][:0]), "TENSOR_SHAPE", NORM),
    "float64": (lambda t: t.__setitem__(NORM, t[NORM].astype("f8")), "TENSOR_DTYPE", NORM),
    "int8": (lambda t: t.__setitem__(Q_PROJ, t[Q_PROJ].astype("i1")), "TENSOR_DTYPE", Q_PROJ),
    "mixed": (lambda t: t.__setitem__(NORM, t[NORM].astype("f2")), "TENSOR_DTYPE", NORM),
    "a NaN": (lambda t: t[NORM].__setitem__(3, np.nan), "TENSOR_VALUE", NORM),
    "an infinity": (lambda t: t[Q_PROJ].__setitem__((1, 2), -np.inf), "TENSOR_VALUE", Q_PROJ),
}


@pytest.mark.parametrize("name", EDITS)
def test_refused_tensors(tiny: Path, name: str) -> None:
    edit, code, key = EDITS[name]
    change(tiny, edit)
    assert refused(tiny) == (code, f"{WEIGHTS}:/{key}")


def test_what_float16_cannot_hold(tiny: Path) -> None:
    change(tiny, lambda tensors: tensors[Q_PROJ].__setitem__((1, 2), 65520.0))
    assert read_checkpoint(tiny).weights.layers[0].q_proj[1, 2] == 65520.0
    assert refused(tiny, "float16") == ("TENSOR_VALUE", f"{WEIGHTS}:/{Q_PROJ}")
    with pytest.raises(LockstepError, match=r"finite values of float16, got 65520\.0 at \[1, 2\]"):
        read_checkpoint(tiny, "float16")


def test_another_configuration_does_not_fit(tiny: Path) -> None:
    document = json.loads((tiny / "config.json").read_bytes())
    for key, value, code in (
        ("head_dim", 32, "TENSOR_SHAPE"),
        ("num_hidden_layers", 3, "TENSOR_MISSING"),
        ("num_hidden_layers", 1, "TENSOR_UNEXPECTED"),
        ("vocab_size", 257, "TENSOR_SHAPE"),
    ):
        (tiny / "config.json").write_text(json.dumps(document | {key: value}), "utf-8")
        assert refused(tiny)[0] == code


def test_a_single_file_beside_an_index(tiny: Path) -> None:
    write_index(tiny, dict.fromkeys(load(tiny), WEIGHTS))
    assert refused(tiny) == ("CHECKPOINT_MALFORMED", ".")


def test_an_index_may_name_one_file(tiny: Path) -> None:
    split(tiny, shards=1)
    assert read_checkpoint(tiny).stored_dtype == "float32"


def test_indexes(tiny: Path) -> None:
    weight_map = split(tiny)
    first, second = sorted(set(weight_map.values()))[:2]
    mine = sorted(weight_map)[0]
    for changed, code, pointer in (
        ({}, "CHECKPOINT_MALFORMED", f"{INDEX}:/weight_map"),
        (None, "CHECKPOINT_MALFORMED", f"{INDEX}:/weight_map"),
        ([mine], "CHECKPOINT_MALFORMED", f"{INDEX}:/weight_map"),
        (
            weight_map | {mine: f"../model/{first}"},
            "CHECKPOINT_MALFORMED",
            f"{INDEX}:/weight_map/{mine}",
        ),
        (weight_map | {mine: 5}, "CHECKPOINT_MALFORMED", f"{INDEX}:/weight_map/{mine}"),
        (
            weight_map | {mine: "model.bin"},
            "CHECKPOINT_MALFORMED",
            f"{INDEX}:/weight_map/{mine}",
        ),
        (weight_map | {mine: "none.safetensors"}, "FILE_UNREADABLE", "none.safetensors"),
        (
            weight_map | {mine: "n" * 300 + ".safetensors"},
            "FILE_UNREADABLE",
            "n" * 300 + ".safetensors",
        ),
        (weight_map | {mine: second}, "TENSOR_UNEXPECTED", f"{first}:/{mine}"),
        (
            {key: value for key, value in weight_map.items() if key != mine},
            "TENSOR_UNEXPECTED",
            f"{first}:/{mine}",
        ),
        (weight_map | {"more": second}, "TENSOR_MISSING", f"{second}:/more"),
    ):
        write_index(tiny, changed)
        assert refused(tiny) == (code, pointer)
    write_index(tiny, weight_map)
    assert read_checkpoint(tiny).files


def test_a_tensor_in_no_shard(tiny: Path) -> None:
    change(tiny, lambda tensors: tensors.pop(Q_NORM))
    split(tiny)
    assert refused(tiny) == ("TENSOR_MISSING", f"{INDEX}:/{Q_NORM}")


def header(*entries: str, metadata: str = "") -> bytes:
    text = ("{" + ",".join([*([metadata] if metadata else []), *entries]) + "}").encode()
    return struct.pack("<Q", len(text)) + text


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0" * 7,
        b"\xff" * 64,
        struct.pack("<Q", 10) + b"{}",
        struct.pack("<Q", 2) + b"[]",
        struct.pack("<Q", 1) + b"\xff",
        header('"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}'),
        header('"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}') + b"\0" * 4,
        header('"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}') + b"\0" * 8,
        header('"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}') + b"\0" * 5,
        header('"a":{"dtype":"F31","shape":[1],"data_offsets":[0,4]}') + b"\0" * 4,
        header('"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}') + b"\0" * 4,
        header(f'"a":{{"dtype":"F32","shape":[{2**62},4],"data_offsets":[0,0]}}'),
        header(
            '"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}',
            '"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}',
        )
        + b"\0" * 4,
    ],
    ids=range(14),
)
def test_malformed_files(tiny: Path, data: bytes) -> None:
    (tiny / WEIGHTS).write_bytes(data)
    assert refused(tiny) == ("CHECKPOINT_MALFORMED", WEIGHTS)


def test_views_follow_offsets_whatever_the_header_s_order(tmp_path: Path) -> None:
    path = tmp_path / "weights"
    path.write_bytes(
        header(
            '"b":{"dtype":"F16","shape":[3],"data_offsets":[4,10]}',
            '"c":{"dtype":"BF16","shape":[1],"data_offsets":[10,12]}',
            '"a":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]}',
            metadata='"__metadata__":{"format":"pt"}',
        )
        + np.float32(7).tobytes()
        + np.array([1, 2, 3], "<f2").tobytes()
        + b"\x80\x3f"
    )
    file = SafetensorsFile(path)
    assert file.stored("a").tolist() == [[7.0]]
    assert file.stored("b").tolist() == [1.0, 2.0, 3.0]
    assert file.stored("c").tolist() == [0x3F80]


def test_the_library_is_absent(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    genuine = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.partition(".")[0] == "safetensors":
            raise ModuleNotFoundError("gone", name=name)
        return genuine(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(LockstepError, match="LIBRARY_MISSING"):
        read_checkpoint(tiny)


FILES = tiny_files(TinyModel(head_dim=2))


def read_damaged(folder: Path, name: str, data: bytes) -> str:
    """Read a model with one file damaged: the code of the refusal, or "read"."""
    for other, content in FILES.items():
        (folder / other).write_bytes(data if other == name else content)
    try:
        checkpoint = read_checkpoint(folder)
    except LockstepError as fault:
        assert fault.code in registry()
        assert str(folder) in fault.pointer
        return fault.code
    shapes = tensor_shapes(checkpoint.config)
    assert checkpoint.weights.norm.shape == shapes[NORM]
    assert np.isfinite(checkpoint.weights.norm).all()
    return "read"


@given(st.sampled_from([WEIGHTS, "config.json"]), st.floats(0, 1, exclude_max=True))
def test_a_file_that_was_cut_short(
    tmp_path_factory: pytest.TempPathFactory, name: str, share: float
) -> None:
    data = FILES[name]
    # A configuration without its last line end is whole.
    length = int(share * (len(data) - 1))
    assert read_damaged(tmp_path_factory.mktemp("cut"), name, data[:length]) != "read"


@given(
    st.sampled_from([WEIGHTS, "config.json", "generation_config.json"]),
    st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 7)), min_size=1, max_size=4),
)
def test_bits_that_were_flipped(
    tmp_path_factory: pytest.TempPathFactory, name: str, flips: list[tuple[int, int]]
) -> None:
    data = bytearray(FILES[name])
    for place, bit in flips:
        data[place % len(data)] ^= 1 << bit
    read_damaged(tmp_path_factory.mktemp("flipped"), name, bytes(data))


@given(st.binary(max_size=200))
def test_bytes_of_any_kind(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    assert read_damaged(tmp_path_factory.mktemp("any"), WEIGHTS, data) == "CHECKPOINT_MALFORMED"
