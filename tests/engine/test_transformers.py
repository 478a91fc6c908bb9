"""The engine's logits against those of transformers' own Qwen3ForCausalLM, in float32.

Both read one folder, which transformers wrote. Tolerance: no logit differs by more than 2^-18 of
the largest. Each side rounds every operation to 24 bits in an order of its own; over a few layers
of sums of some hundred terms the differences were below 2^-20 in each case here.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy.typing import NDArray

from lockstep.engine.backends import open_backend
from lockstep.engine.batch import Batch
from lockstep.engine.checkpoint import read_checkpoint
from lockstep.engine.model import Model

if TYPE_CHECKING:
    import torch

# Importing transformers takes seconds: one process does it, in its first test, not on collection.
pytestmark = [pytest.mark.xdist_group("transformers"), pytest.mark.usefixtures("libraries")]

TOLERANCE = 2.0**-18
BLOCK = 16


@pytest.fixture(scope="module")
def libraries() -> None:
    pytest.importorskip("torch", reason="the extra 'engine' brings torch")
    pytest.importorskip("transformers", reason="the extra 'dev' brings transformers")


@dataclass(frozen=True)
class Shape:
    """A configuration; names as transformers has them."""

    vocab_size: int = 256
    hidden_size: int = 64
    intermediate_size: int = 128
    num_hidden_layers: int = 2
    num_attention_heads: int = 4
    num_key_value_heads: int = 2
    head_dim: int = 16
    rms_norm_eps: float = 1e-6
    tie_word_embeddings: bool = False
    max_position_embeddings: int = 2048


CASES = {
    "as the tiny model": (Shape(), 1e4),
    "tied, a KV head each, wide heads": (
        Shape(num_key_value_heads=4, head_dim=32, tie_word_embeddings=True),
        1e6,
    ),
    "one KV head, narrow heads, three layers": (
        Shape(
            num_attention_heads=8,
            num_key_value_heads=1,
            head_dim=8,
            hidden_size=96,
            num_hidden_layers=3,
        ),
        5e5,
    ),
    "sizes that no tile divides": (
        Shape(
            vocab_size=101,
            hidden_size=42,
            intermediate_size=50,
            num_attention_heads=6,
            head_dim=20,
            rms_norm_eps=1e-3,
        ),
        100.0,
    ),
}


def random_model(folder: Path, shape: Shape, theta: float, seed: int) -> torch.nn.Module:
    """Have transformers write a model of random weights, and read it back from there."""
    import torch
    import transformers

    config = transformers.Qwen3Config(
        **asdict(shape),
        rope_parameters={"rope_type": "default", "rope_theta": theta},
        eos_token_id=[3, 1],
    )
    torch.manual_seed(seed)
    model = transformers.Qwen3ForCausalLM(config)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            # Fresh norms are all ones, which would hide a norm that is left out.
            if weight.dim() == 1:
                weight.uniform_(0.5, 1.5)
            elif "embed_tokens" in name:
                weight.normal_(0.0, 1.0)
            else:
                weight.normal_(0.0, weight.shape[1] ** -0.5)
    model.save_pretrained(folder)
    read = transformers.Qwen3ForCausalLM.from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager"
    )
    return read.eval()


def theirs(model: torch.nn.Module, tokens: list[int]) -> NDArray[np.float32]:
    import torch

    with torch.no_grad():
        logits: NDArray[np.float32] = model(torch.tensor([tokens])).logits[0].numpy()
    return logits


def ours(folder: Path, tokens: list[int]) -> NDArray[np.float32]:
    """The engine's logits at every position, the blocks lying in the pool in reverse."""
    model = Model(read_checkpoint(folder), open_backend("host"))
    count = len(tokens)
    blocks = -(-count // BLOCK)
    table = np.arange(blocks, dtype=np.int32)[::-1]
    positions = np.arange(count)
    batch = Batch(
        tokens=np.array(tokens),
        positions=positions,
        tables=np.tile(table, (count, 1)),
        slots=table[positions // BLOCK].astype(np.int64) * BLOCK + positions % BLOCK,
        lengths=(positions + 1).astype(np.int32),
        output_rows=positions,
    )
    logits: NDArray[np.float32] = model.backend.numpy(
        model.forward(batch, model.new_caches(blocks, BLOCK))
    )
    return logits


def worst(one: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    assert one.shape == other.shape
    difference = np.abs(one.astype(np.float64) - other.astype(np.float64))
    return float(difference.max() / np.abs(other).max())


def random_tokens(shape: Shape, count: int) -> list[int]:
    return np.random.default_rng(count).integers(0, shape.vocab_size, count).tolist()


@pytest.mark.parametrize("name", CASES)
def test_logits_agree(tmp_path: Path, name: str) -> None:
    shape, theta = CASES[name]
    model = random_model(tmp_path, shape, theta, seed=1)
    config = read_checkpoint(tmp_path).config
    assert (config.rope_theta, config.eos_token_ids) == (theta, (1, 3))
    tokens = random_tokens(shape, 70)
    reference = theirs(model, tokens)
    # A model that says the same everywhere would agree with anything.
    assert len(set(reference.argmax(axis=1).tolist())) > 20
    assert worst(ours(tmp_path, tokens), reference) <= TOLERANCE


def test_logits_agree_beyond_a_split(tmp_path: Path) -> None:
    shape, theta = CASES["as the tiny model"]
    model = random_model(tmp_path, shape, theta, seed=2)
    tokens = random_tokens(shape, 540)
    assert worst(ours(tmp_path, tokens), theirs(model, tokens)) <= TOLERANCE


@pytest.mark.parametrize(("key", "value"), [("rope_theta", 10100.0), ("rms_norm_eps", 1e-4)])
def test_tolerance_tells_another_configuration_apart(
    tmp_path: Path, key: str, value: float
) -> None:
    shape, theta = CASES["as the tiny model"]
    model = random_model(tmp_path, shape, theta, seed=3)
    tokens = random_tokens(shape, 40)
    path = tmp_path / "config.json"
    document = json.loads(path.read_bytes())
    place = document["rope_parameters"] if key == "rope_theta" else document
    assert place[key] != value
    place[key] = value
    path.write_text(json.dumps(document), "utf-8")
    assert worst(ours(tmp_path, tokens), theirs(model, tokens)) > 4 * TOLERANCE


@pytest.mark.parametrize("tied", [False, True])
def test_folders_that_transformers_writes_in_shards(tmp_path: Path, tied: bool) -> None:
    shape, theta = Shape(tie_word_embeddings=tied), 1e4
    model = random_model(tmp_path / "whole", shape, theta, seed=4)
    model.save_pretrained(tmp_path / "shards", max_shard_size="100KB")
    assert len(list((tmp_path / "shards").glob("model-*.safetensors"))) > 2
    whole = read_checkpoint(tmp_path / "whole").weights
    shards = read_checkpoint(tmp_path / "shards").weights
    assert (whole.lm_head is None) is tied
    assert np.array_equal(whole.embed_tokens, shards.embed_tokens)
    for one, other in zip(whole.layers, shards.layers, strict=True):
        for name in one.__dataclass_fields__:
            assert np.array_equal(getattr(one, name), getattr(other, name))
