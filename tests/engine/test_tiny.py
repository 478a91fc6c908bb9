"""The tiny model [MODEL-14] [MODEL-15]: its bytes on every machine, and how it is written."""

from __future__ import annotations

import hashlib
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

from lockstep.engine import tiny as module
from lockstep.engine.checkpoint import read_checkpoint
from lockstep.engine.tiny import TinyModel, make_tiny, tiny_files, tiny_tensor
from lockstep.engine.weights import EMBEDDING, HEAD, NORM, layer_tensor, tensor_shapes
from lockstep.errors import LockstepError

# Made once; a change of these is another model under the same name.
DIGESTS = {
    TinyModel(): "5a3b8e7465014c02089f16f44cb9df8328db1ba9b5e1b1d739cbb7520721d626",
    TinyModel(dtype="bfloat16"): "e8f0233a037346c8fbae566b29bd2c3ec586e04ac173a2b4c1ccff6a23f93876",
    TinyModel(
        dtype="float16", tied=True, head_dim=64
    ): "f4c3cefda89cbba23277998ca5bf52728dffb0d9c147bb1a023db524f4b5f085",
}
NAMES = {
    "config.json",
    "generation_config.json",
    "model.safetensors",
    "tokenizer.json",
    "tokenizer_config.json",
}


@pytest.mark.parametrize("model", DIGESTS, ids=str)
def test_digests_are_fixed(tmp_path: Path, model: TinyModel) -> None:
    checkpoint = read_checkpoint(make_tiny(tmp_path / "model", model))
    assert checkpoint.sha256 == DIGESTS[model]
    assert checkpoint.config == model.config
    assert checkpoint.stored_dtype == model.dtype


@pytest.mark.parametrize("hash_seed", ["0", "1", "4294967295"])
def test_another_process_writes_the_same_bytes(tmp_path: Path, hash_seed: str) -> None:
    command = [
        sys.executable,
        "-c",
        "import sys; from lockstep.engine.tiny import make_tiny; make_tiny(sys.argv[1])",
        str(tmp_path / "model"),
    ]
    environment = os.environ | {"PYTHONHASHSEED": hash_seed, "LC_ALL": "C"}
    subprocess.run(command, check=True, env=environment, timeout=60)
    files = {path.name: path.read_bytes() for path in (tmp_path / "model").iterdir()}
    assert files == tiny_files(TinyModel())


def test_elements_follow_the_rule() -> None:
    """A few elements, from the rule's text alone."""

    def stream(name: str, count: int) -> bytes:
        return b"".join(
            hashlib.sha256(f"lockstep/tiny/1/5/{name}/{counter}".encode()).digest()
            for counter in range(-(-count // 32))
        )[:count]

    name = layer_tensor(1, "mlp.down_proj")
    drawn = stream(name, 4 * 64 * 128)
    made = tiny_tensor(5, name, (64, 128))
    for row, column in ((0, 0), (0, 1), (3, 127), (63, 127)):
        start = 4 * (row * 128 + column)
        integer = sum(byte % 64 for byte in drawn[start : start + 4]) - 126
        # 127 has 7 bits, half of which is 4 upwards.
        assert made[row, column] == integer / 2 ** (5 + 4)
    head = tiny_tensor(5, HEAD, (256, 64))
    assert head[0, 0] == (sum(b % 64 for b in stream(HEAD, 4)) - 126) / 2 ** (5 + 3 - 1)
    embedding = tiny_tensor(5, EMBEDDING, (256, 64))
    assert embedding[0, 0] == (sum(b % 64 for b in stream(EMBEDDING, 4)) - 126) / 2**5
    norm = tiny_tensor(5, NORM, (64,))
    assert norm[33] == (96 + stream(NORM, 64)[33] % 64) / 2**7


def test_weights_have_eight_bits_and_the_scale_of_one() -> None:
    for name, shape in tensor_shapes(TinyModel().config).items():
        values = tiny_tensor(0, name, shape)
        mantissa, _ = np.frexp(values)
        assert np.array_equal(mantissa * 256, np.round(mantissa * 256))
        if len(shape) == 1:
            assert values.min() >= 0.75
            assert values.max() < 1.25
            continue
        inputs = 1 if name == EMBEDDING else shape[1]
        spread = float(values.std()) * math.sqrt(inputs) / (2 if name == HEAD else 1)
        assert 0.75 < spread < 1.25
        assert abs(float(values.mean())) < 0.05 * float(values.std())


def test_options_change_what_they_say(tmp_path: Path) -> None:
    base = tiny_files(TinyModel())
    for other in (TinyModel(seed=1), TinyModel(head_dim=64), TinyModel(tied=True)):
        files = tiny_files(other)
        assert files["model.safetensors"] != base["model.safetensors"]
        assert files["tokenizer.json"] == base["tokenizer.json"]
    assert tiny_files(TinyModel(seed=1))["config.json"] == base["config.json"]
    wide = read_checkpoint(make_tiny(tmp_path / "wide", TinyModel(head_dim=64)))
    assert wide.weights.layers[0].q_norm.shape == (64,)
    assert wide.weights.layers[0].o_proj.shape == (64, 256)
    assert (
        read_checkpoint(make_tiny(tmp_path / "tied", TinyModel(tied=True))).weights.lm_head is None
    )


def test_the_library_for_the_format_reads_the_weights(tmp_path: Path) -> None:
    for dtype in ("float32", "float16"):
        folder = make_tiny(tmp_path / dtype, TinyModel(dtype=dtype))
        tensors = safetensors.numpy.load_file(folder / "model.safetensors")
        assert {name: value.shape for name, value in tensors.items()} == tensor_shapes(
            TinyModel().config
        )
        assert {str(value.dtype) for value in tensors.values()} == {dtype}


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"seed": -1}, "/seed"),
        ({"seed": 2**53}, "/seed"),
        ({"head_dim": 0}, "/head_dim"),
        ({"head_dim": 15}, "/head_dim"),
        ({"head_dim": 1026}, "/head_dim"),
        ({"dtype": "float64"}, "/dtype"),
    ],
)
def test_options_out_of_range(changes: dict[str, object], pointer: str) -> None:
    with pytest.raises(LockstepError) as caught:
        TinyModel(**changes)  # type: ignore[arg-type]
    assert (caught.value.code, caught.value.pointer) == ("USAGE", pointer)


def test_an_empty_folder_is_filled_and_another_left(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    make_tiny(tmp_path / "model")
    assert {path.name for path in (tmp_path / "model").iterdir()} == NAMES
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "model").iterdir()}
    with pytest.raises(LockstepError, match="USAGE"):
        make_tiny(tmp_path / "model", TinyModel(seed=3))
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "model").iterdir()} == before
    (tmp_path / "file").write_text("mine", "utf-8")
    with pytest.raises(LockstepError, match="USAGE"):
        make_tiny(tmp_path / "file")
    assert (tmp_path / "file").read_text("utf-8") == "mine"
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(LockstepError, match="USAGE"):
        make_tiny(tmp_path / "link")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "link", "model"]


def test_parents_are_made(tmp_path: Path) -> None:
    assert make_tiny(tmp_path / "a" / "b").is_dir()


def test_nothing_is_left_of_one_that_was_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    genuine, written = module.write_file, []

    def interrupted(path: Path, data: bytes) -> None:
        if len(written) == 3:
            raise KeyboardInterrupt
        written.append(path.name)
        genuine(path, data)

    monkeypatch.setattr(module, "write_file", interrupted)
    with pytest.raises(KeyboardInterrupt):
        make_tiny(tmp_path / "model")
    assert len(written) == 3
    assert list(tmp_path.iterdir()) == []


def test_configuration_is_as_published_ones_are() -> None:
    document = json.loads(tiny_files(TinyModel())["config.json"])
    assert document["architectures"] == ["Qwen3ForCausalLM"]
    assert document["torch_dtype"] == "float32"
    assert document["head_dim"] * document["num_attention_heads"] == document["hidden_size"]
