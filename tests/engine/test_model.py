"""The forward: the same bits in any packing, and what a dense decoder in float64 gives."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from lockstep.engine.backends import open_backend
from lockstep.engine.batch import pack
from lockstep.engine.checkpoint import Checkpoint, read_checkpoint
from lockstep.engine.events import Work
from lockstep.engine.model import LayerCache, Model
from lockstep.engine.tiny import TinyModel, make_tiny
from lockstep.errors import LockstepError

Array = NDArray[Any]

BLOCK_SIZE = 8
TOKENS = tuple(int(token) for token in np.random.default_rng(0).integers(0, 256, 45))
TABLE = (3, 0, 5, 1, 7, 2)


def computed(model: Model, *batches: tuple[Work, ...]) -> tuple[Array, list[LayerCache]]:
    """The logits of all output rows of some batches, one after the other, and the caches."""
    caches = model.new_caches(9, BLOCK_SIZE)
    logits = [
        model.backend.numpy(model.forward(pack(batch, BLOCK_SIZE), caches)) for batch in batches
    ]
    return np.concatenate(logits), caches


def cut(tokens: tuple[int, ...], *ends: int, table: tuple[int, ...] = TABLE) -> list[Work]:
    """A sequence in pieces that end before these positions; every piece yields logits."""
    starts = (0, *ends[:-1])
    return [
        Work(0, start, tokens[start:end], table, True)
        for start, end in zip(starts, ends, strict=True)
    ]


def written(caches: list[LayerCache], table: tuple[int, ...], count: int) -> Array:
    """Keys and values of all layers, by position."""
    blocks = [
        part[list(table)].reshape(-1, *part.shape[2:])[:count]
        for cache in caches
        for part in (cache.keys, cache.values)
    ]
    return np.stack(blocks)


def dense(checkpoint: Checkpoint, tokens: tuple[int, ...]) -> Array:
    """Logits of all positions by [ENG-11] in float64, without blocks, splits or batches."""
    config, weights = checkpoint.config, checkpoint.weights
    wide = np.float64

    def norm(x: Array, weight: Array) -> Array:
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + config.rms_norm_eps) * weight

    count, size = len(tokens), config.head_dim
    angles = np.arange(count)[:, None] / config.rope_theta ** (np.arange(0, size, 2) / size)
    cos, sin = np.cos(angles)[:, None], np.sin(angles)[:, None]

    def rotate(x: Array) -> Array:
        low, high = np.split(x, 2, axis=-1)
        return np.concatenate([low * cos - high * sin, high * cos + low * sin], axis=-1)

    def heads(x: Array, projection: Array, number: int) -> Array:
        return (x @ projection.T.astype(wide)).reshape(count, number, size)

    x = weights.embed_tokens[list(tokens)].astype(wide)
    future = np.triu(np.full((count, count), -np.inf), 1)
    for layer in weights.layers:
        y = norm(x, layer.input_layernorm)
        q = rotate(norm(heads(y, layer.q_proj, config.heads), layer.q_norm))
        k = rotate(norm(heads(y, layer.k_proj, config.kv_heads), layer.k_norm))
        v = heads(y, layer.v_proj, config.kv_heads)
        shared = config.heads // config.kv_heads
        k, v = k.repeat(shared, axis=1), v.repeat(shared, axis=1)
        scores = np.einsum("qhd,khd->hqk", q, k) / np.sqrt(size) + future
        p = np.exp(scores - scores.max(-1, keepdims=True))
        p /= p.sum(-1, keepdims=True)
        attended = np.einsum("hqk,khd->qhd", p, v).reshape(count, -1)
        x = x + attended @ layer.o_proj.T.astype(wide)
        y = norm(x, layer.post_attention_layernorm)
        gate, up = y @ layer.gate_proj.T.astype(wide), y @ layer.up_proj.T.astype(wide)
        x = x + (gate / (1 + np.exp(-gate)) * up) @ layer.down_proj.T.astype(wide)
    head = weights.embed_tokens if weights.lm_head is None else weights.lm_head
    return norm(x, weights.norm) @ head.T.astype(wide)


@pytest.mark.parametrize("tied", [False, True])
def test_logits_are_those_of_a_dense_decoder(
    tmp_path_factory: pytest.TempPathFactory, tied: bool
) -> None:
    folder = make_tiny(tmp_path_factory.mktemp("models") / "m", TinyModel(seed=3, tied=tied))
    checkpoint = read_checkpoint(folder)
    logits, _ = computed(
        Model(checkpoint, open_backend("host")), *[(w,) for w in cut(TOKENS, *range(1, 46))]
    )
    expected = dense(checkpoint, TOKENS)
    spread = np.abs(expected).max()
    assert 1 < spread < 1000
    assert np.abs(logits - expected).max() < 2e-5 * spread


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("ends", [(45,), (1, 45), (8, 16, 45), (7, 24, 25, 44, 45)])
def test_at_once_in_pieces_and_one_by_one_give_the_same_bits(
    tmp_path_factory: pytest.TempPathFactory, dtype: str, ends: tuple[int, ...]
) -> None:
    checkpoint = read_checkpoint(make_tiny(tmp_path_factory.mktemp("models") / "m"), dtype)
    model = Model(checkpoint, open_backend("host", dtype))
    singly, slow = computed(model, *[(work,) for work in cut(TOKENS, *range(1, 46))])
    pieces, fast = computed(model, *[(work,) for work in cut(TOKENS, *ends)])
    assert pieces.dtype == np.float32
    assert pieces.tobytes() == singly[[end - 1 for end in ends]].tobytes()
    count = len(TOKENS)
    assert written(fast, TABLE, count).tobytes() == written(slow, TABLE, count).tobytes()


def test_company_order_and_blocks_leave_the_bits(model: Model) -> None:
    other = Work(1, 0, TOKENS[10:21], (4, 6), True)
    (whole,) = cut(TOKENS, 45)
    alone, caches = computed(model, (whole,))
    moved = whole._replace(table=(8, 7, 5, 3, 2, 1))
    for batch, row in (
        ((whole, other), 0),
        ((other, whole), 1),
        ((other._replace(table=(6, 4)), moved), 1),
    ):
        logits, shared = computed(model, batch)
        assert logits[row].tobytes() == alone[0].tobytes()
        table = batch[row].table
        assert written(shared, table, 45).tobytes() == written(caches, TABLE, 45).tobytes()


def test_logits_of_rows_that_are_not_wanted_are_not_computed(model: Model) -> None:
    (whole,) = cut(TOKENS, 45)
    logits, caches = computed(model, (whole._replace(emits=False),))
    assert logits.shape == (0, 256)
    _, again = computed(model, (whole,))
    assert written(caches, TABLE, 45).tobytes() == written(again, TABLE, 45).tobytes()


def test_slots_of_others_stay_as_they_are(model: Model) -> None:
    (whole,) = cut(TOKENS[:13], 13, table=(3, 0))
    _, caches = computed(model, (whole,))
    for cache in caches:
        for part in (cache.keys, cache.values):
            unwritten = np.isnan(part).all(axis=(2, 3))
            assert not unwritten[3].any() and not unwritten[0, :5].any()
            assert unwritten[0, 5:].all() and unwritten[[1, 2, 4, 5, 6, 7, 8]].all()


def test_the_digest_tells_models_and_dtypes_apart(checkpoint: Checkpoint) -> None:
    host, half = open_backend("host"), open_backend("host", "float16")
    other = replace(checkpoint, sha256="11" * 32)
    narrow = replace(checkpoint, dtype="float16")
    models = [Model(checkpoint, host), Model(other, host), Model(narrow, half)]
    assert len({model.digest for model in models}) == 3
    assert Model(checkpoint, host).digest == models[0].digest


def test_weights_of_another_dtype_are_refused(checkpoint: Checkpoint) -> None:
    with pytest.raises(LockstepError) as caught:
        Model(checkpoint, open_backend("host", "float16"))
    assert (caught.value.code, caught.value.pointer) == ("KERNEL_INPUT", "/dtype")
