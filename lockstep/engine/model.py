"""The Qwen3 decoder over a packed batch: one forward path, for prefill and decode alike [ENG-11].

Source: Qwen3 as in transformers' `modeling_qwen3.py`: pre-norm blocks, RMSNorm of each head's
query and key before the rotary embedding (rotate-half), grouped-query attention, SwiGLU, and an
output head that may share the embedding's table.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lockstep.engine.backend import Array, Backend
from lockstep.engine.batch import Batch
from lockstep.engine.checkpoint import Checkpoint
from lockstep.engine.digest import framed
from lockstep.engine.memory import require_free
from lockstep.engine.rope_tables import rope_tables
from lockstep.engine.weights import LayerWeights
from lockstep.errors import LockstepError

WIDEST = "float64"
"""The dtype of the reference, which holds the weights of every other dtype exactly."""


@dataclass(frozen=True)
class LayerCache:
    """Keys and values of one layer, each [blocks, block_size, kv_heads, head_dim]."""

    keys: Array
    values: Array


@dataclass(frozen=True)
class _Layer:
    """A layer's weights, in the backend's keeping.

    They are named as in the checkpoint. Projections of one input stand one after the other in
    one weight, since a product of many columns costs less than several of few; each column is a
    dot of its own, whose bits do not depend on its neighbours.
    """

    input_layernorm: Array
    qkv_proj: Array
    o_proj: Array
    q_norm: Array
    k_norm: Array
    post_attention_layernorm: Array
    gate_up_proj: Array
    down_proj: Array


class Model:
    """A checkpoint on a backend.

    Args:
        checkpoint: configuration and weights, in the backend's compute dtype.
        backend: what computes.

    Attributes:
        config: the checkpoint's configuration.
        backend: as given.
        digest: SHA-256 of weights and compute dtype, which prefix hashes begin with [ENG-8].

    Raises:
        LockstepError: KERNEL_INPUT, the checkpoint was read in another dtype than the backend's.
    """

    def __init__(self, checkpoint: Checkpoint, backend: Backend) -> None:
        weights = checkpoint.weights
        if backend.dtype not in (checkpoint.dtype, WIDEST):
            raise LockstepError("KERNEL_INPUT", "/dtype", backend.dtype, checkpoint.dtype)
        self.config = checkpoint.config
        self.backend = backend
        self.digest = framed(
            "lockstep/model/1", bytes.fromhex(checkpoint.sha256), backend.dtype.encode("ascii")
        )
        self._embedding = backend.array(weights.embed_tokens)
        self._layers = [_place(backend, layer) for layer in weights.layers]
        self._norm = backend.array(weights.norm)
        head = weights.embed_tokens if weights.lm_head is None else weights.lm_head
        self._head = backend.weight(head)
        self._rope = _rope(self.config.rope_theta, self.config.head_dim, 0)

    def new_caches(self, blocks: int, block_size: int) -> list[LayerCache]:
        """Make the caches of a pool, a pair for each layer.

        Raises:
            LockstepError: MEMORY_SHORT, they do not fit into memory; nothing was made.
        """
        config = self.config
        shape = (blocks, block_size, config.kv_heads, config.head_dim)
        width = np.dtype(self.backend.dtype).itemsize
        needed = 2 * len(self._layers) * math.prod(shape) * width
        what = f"keys and values of {blocks} blocks of {block_size} slots"
        require_free(needed, self.backend.free_bytes(), "/pool", what)
        new = self.backend.new_cache
        return [LayerCache(new(*shape), new(*shape)) for _ in self._layers]

    def forward(self, batch: Batch, caches: list[LayerCache]) -> Array:
        """Write the keys and values of all rows, and give logits of the output rows.

        Returns:
            [R, vocabulary], float32, of the backend.
        """
        return self.head(self.hidden(batch, caches), batch.output_rows)

    def hidden(self, batch: Batch, caches: list[LayerCache]) -> Array:
        """Write the keys and values of all rows, and give what the last layer leaves: [M, hidden].

        Logits of any of the rows follow from it by `head`.
        """
        backend, eps = self.backend, self.config.rms_norm_eps
        inner = self.config.intermediate_size
        cos, sin = self._rotations(batch.positions)
        x = backend.embed(self._embedding, batch.tokens)
        for layer, cache in zip(self._layers, caches, strict=True):
            attended = self._attention(layer, cache, batch, x, cos, sin)
            x = backend.add(x, attended)
            normed = backend.rms_norm(x, layer.post_attention_layernorm, eps)
            gate_up = backend.matmul(normed, layer.gate_up_proj)
            gate, up = gate_up[:, :inner], gate_up[:, inner:]
            x = backend.add(x, backend.matmul(backend.swiglu(gate, up), layer.down_proj))
        return x

    def head(self, x: Array, rows: NDArray[np.int64]) -> Array:
        """Give the logits of these rows of `hidden`: [R, vocabulary], float32."""
        backend = self.backend
        # Rows that yield no logits are needed for their keys and values alone.
        if not len(rows):
            return backend.array(np.zeros((0, self.config.vocab_size), dtype=np.float32))
        normed = backend.rms_norm(x[rows], self._norm, self.config.rms_norm_eps)
        return backend.logits(normed, self._head)

    def _attention(
        self, layer: _Layer, cache: LayerCache, batch: Batch, x: Array, cos: Array, sin: Array
    ) -> Array:
        """Give what attention adds to x [M, hidden]; keys and values are written first."""
        backend, config = self.backend, self.config
        rows, size, eps = len(batch), config.head_dim, config.rms_norm_eps
        normed = backend.rms_norm(x, layer.input_layernorm, eps)
        heads = config.heads + 2 * config.kv_heads
        qkv = backend.matmul(normed, layer.qkv_proj).reshape(rows, heads, size)
        values = config.heads + config.kv_heads
        q, k, v = qkv[:, : config.heads], qkv[:, config.heads : values], qkv[:, values:]
        q = backend.rope(backend.rms_norm(q, layer.q_norm, eps), cos, sin)
        k = backend.rope(backend.rms_norm(k, layer.k_norm, eps), cos, sin)
        backend.write(cache.keys, k, batch.slots)
        backend.write(cache.values, v, batch.slots)
        attended = backend.attention(
            q, cache.keys, cache.values, batch.tables, batch.lengths, 1.0 / math.sqrt(size)
        )
        return backend.matmul(attended.reshape(rows, config.heads * size), layer.o_proj)

    def _rotations(self, positions: NDArray[np.int64]) -> tuple[Array, Array]:
        """Give cosine and sine of the rows, from tables that grow as positions do."""
        needed = int(positions.max()) + 1
        if needed > len(self._rope[0]):
            rows = 1 << (needed - 1).bit_length()
            self._rope = _rope(self.config.rope_theta, self.config.head_dim, rows)
        cos, sin = self._rope
        return self.backend.array(cos[positions]), self.backend.array(sin[positions])


def _place(backend: Backend, layer: LayerWeights) -> _Layer:
    """Hand a layer's weights to the backend: projections packed, norms as they are."""
    qkv = np.concatenate([layer.q_proj, layer.k_proj, layer.v_proj])
    return _Layer(
        input_layernorm=backend.array(layer.input_layernorm),
        qkv_proj=backend.weight(qkv),
        o_proj=backend.weight(layer.o_proj),
        q_norm=backend.array(layer.q_norm),
        k_norm=backend.array(layer.k_norm),
        post_attention_layernorm=backend.array(layer.post_attention_layernorm),
        gate_up_proj=backend.weight(np.concatenate([layer.gate_proj, layer.up_proj])),
        down_proj=backend.weight(layer.down_proj),
    )


def _rope(
    theta: float, head_dim: int, rows: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    return rope_tables(theta, head_dim, np.arange(rows))
