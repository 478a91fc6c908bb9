"""A checkpoint with the configuration of Qwen3-0.6B, its weights random, in bfloat16.

Real weights are not here, so that nothing is said about those. Takes 1.2 GB of disk and 5 GB of
memory, 9 GB beside transformers' copy.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from lockstep.engine.backends import open_backend
from lockstep.engine.batch import Batch
from lockstep.engine.checkpoint import Checkpoint, read_checkpoint, read_config
from lockstep.engine.model import LayerCache, Model
from lockstep.engine.weights import EMBEDDING, HEAD, parameters, tensor_shapes

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("transformers")]

PUBLISHED = Path(__file__).with_name("qwen3-0.6b.json")
PROMPT = [9707, 11, 1879, 0, 151643, 42, 31337, 8]
# Twice as wide as for tiny models: 28 layers round more often.
TOLERANCE = 2.0**-17
ROWS = 4096


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    made = tmp_path_factory.mktemp("published")
    shutil.copy(PUBLISHED, made / "config.json")
    config, _ = read_config(made)
    shapes = {name: shape for name, shape in tensor_shapes(config).items() if name != HEAD}
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    offset = 0
    for name, shape in shapes.items():
        end = offset + 2 * int(np.prod(shape))
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header).encode("ascii")
    with (made / "model.safetensors").open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name, shape in shapes.items():
            for part in random_rows(name, shape):
                file.write((part.view("<u4") >> 16).astype("<u2").tobytes())
    yield made
    shutil.rmtree(made)


def random_rows(name: str, shape: tuple[int, ...]) -> Iterator[NDArray[np.float32]]:
    """A tensor's rows, some at a time; only their upper halves are kept."""
    rng = np.random.default_rng(list(name.encode("ascii")))
    if len(shape) == 1:
        yield rng.uniform(0.5, 1.5, shape).astype(np.float32)
        return
    for first in range(0, shape[0], ROWS):
        rows = min(ROWS, shape[0] - first)
        drawn = rng.standard_normal((rows, shape[1]), dtype=np.float32)
        yield drawn * np.float32(shape[1] ** -0.5)


@pytest.fixture(scope="module")
def checkpoint(folder: Path) -> Checkpoint:
    return read_checkpoint(folder)


@pytest.fixture(scope="module")
def model(checkpoint: Checkpoint) -> Model:
    return Model(checkpoint, open_backend("host"))


def forward(
    model: Model, caches: list[LayerCache], tokens: list[int], first: int
) -> NDArray[np.float32]:
    """Logits of each token, in the one block of the pool."""
    positions = np.arange(first, first + len(tokens))
    batch = Batch(
        tokens=np.array(tokens),
        positions=positions,
        tables=np.zeros((len(tokens), 1), np.int32),
        slots=positions,
        lengths=(positions + 1).astype(np.int32),
        output_rows=np.arange(len(tokens)),
    )
    logits: NDArray[np.float32] = model.backend.numpy(model.forward(batch, caches))
    return logits


def test_it_loads(folder: Path, checkpoint: Checkpoint) -> None:
    assert checkpoint.stored_dtype == "bfloat16"
    assert parameters(checkpoint.config) == 596_049_920
    assert len(checkpoint.weights.layers) == 28
    assert checkpoint.weights.lm_head is None
    assert checkpoint.config.eos_token_ids == (151645,)
    drawn = next(random_rows(EMBEDDING, (151936, 1024)))[:3]
    kept = (drawn.view(np.uint32) >> 16 << 16).view(np.float32)
    assert np.array_equal(checkpoint.weights.embed_tokens[:3], kept)


def test_it_decodes_as_it_prefills(model: Model) -> None:
    caches = model.new_caches(1, 128)
    tokens = list(PROMPT)
    rows = [forward(model, caches, tokens, 0)[-1:]]
    for _ in range(3):
        tokens.append(int(rows[-1].argmax()))
        rows.append(forward(model, caches, tokens[-1:], len(tokens) - 1))
    assert len(set(tokens[len(PROMPT) :])) > 1
    at_once = forward(model, model.new_caches(1, 128), tokens, 0)[len(PROMPT) - 1 :]
    assert np.array_equal(np.concatenate(rows), at_once)


def test_logits_agree_with_transformers(folder: Path, model: Model) -> None:
    torch = pytest.importorskip("torch", reason="the extra 'engine' brings torch")
    transformers = pytest.importorskip("transformers", reason="the extra 'dev' brings it")
    reference = transformers.Qwen3ForCausalLM.from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager"
    )
    with torch.no_grad():
        theirs = reference.eval()(torch.tensor([PROMPT])).logits[0].numpy()
    ours = forward(model, model.new_caches(1, 128), PROMPT, 0)
    assert len(set(theirs.argmax(axis=1).tolist())) == len(PROMPT)
    assert np.abs(ours - theirs).max() <= TOLERANCE * np.abs(theirs).max()
