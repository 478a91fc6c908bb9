"""The backend `float64`: the reference that fidelity is measured against.

It computes what the kernels mean, in binary64 with NumPy's own functions and no stated order, and
shares no arithmetic with the kernels. Its results are binary64 throughout, logits too.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lockstep.engine.backend import Array, Integers
from lockstep.engine.backends import inputs, machine, numpy_arrays
from lockstep.engine.backends.numpy_arrays import NumpyArrays

_TOGETHER = 1 << 22
"""Elements of keys gathered at once."""


class Float64Backend(NumpyArrays):
    """Everything in binary64; weights and tables that are given narrower are widened.

    Args:
        dtype: `float64`.

    Raises:
        LockstepError: USAGE for another dtype.
    """

    name = "float64"
    invariant = False

    def __init__(self, dtype: str = "float64") -> None:
        super().__init__(dtype, ("float64",))

    def array(self, values: NDArray[Any]) -> Array:
        """Widen floats; leave indices."""
        floating = np.issubdtype(values.dtype, np.floating)
        return values.astype(np.float64) if floating else values

    def weight(self, values: NDArray[Any]) -> Array:
        """Widen a projection [N, K], kept as [K, N]."""
        return np.ascontiguousarray(values.T, dtype=np.float64)

    def embed(self, table: Array, tokens: Integers) -> Array:
        """Select rows of the embedding."""
        inputs.check_tokens(table.shape, tokens)
        return table[tokens]

    def matmul(self, x: Array, w: Array) -> Array:
        """Multiply."""
        inputs.check_matmul(x.shape, w.shape[::-1])
        return np.matmul(x, w)

    def logits(self, x: Array, w: Array) -> Array:
        """Multiply."""
        return self.matmul(x, w)

    def rms_norm(self, x: Array, weight: Array, eps: float) -> Array:
        """Normalise rows."""
        inputs.check_rms_norm(x.shape, weight.shape)
        return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps) * weight

    def rope(self, x: Array, cos: Array, sin: Array) -> Array:
        """Rotate halves of heads, as pairs of complex numbers."""
        inputs.check_rope(x.shape, cos.shape, sin.shape)
        half = x.shape[-1] // 2
        pair = x[..., :half] + 1j * x[..., half:]
        turned = pair * (cos + 1j * sin)[:, None]
        return np.concatenate([turned.real, turned.imag], axis=-1)

    def swiglu(self, gate: Array, up: Array) -> Array:
        """Gate the feed-forward layer."""
        inputs.check_same(gate.shape, up.shape, "/swiglu")
        with np.errstate(over="ignore"):
            return gate / (1 + np.exp(-gate)) * up

    def add(self, x: Array, y: Array) -> Array:
        """Add residuals."""
        inputs.check_same(x.shape, y.shape, "/add")
        return x + y

    def attention(
        self,
        q: Array,
        keys: Array,
        values: Array,
        tables: Integers,
        lengths: Integers,
        scale: float,
    ) -> Array:
        """Attend by one softmax over all positions of a row."""
        inputs.check_attention(q.shape, keys.shape, values.shape, tables, lengths)
        result = np.empty_like(q)
        width = int(lengths.max(initial=1)) * keys.shape[2] * keys.shape[3]
        step = max(1, _TOGETHER // width)
        for first in range(0, len(q), step):
            part = slice(first, first + step)
            result[part] = _softmax_attention(
                q[part], keys, values, tables[part], lengths[part], scale
            )
        return result

    def log_softmax(self, logits: Array) -> Array:
        """Give log-probabilities."""
        inputs.check_logits(logits.shape)
        shifted = logits - logits.max(axis=-1, keepdims=True)
        return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))

    def environment(self) -> dict[str, str]:
        """Tell what computes."""
        return self.binding()

    def binding(self) -> dict[str, str]:
        """Tell everything: BLAS and NumPy's instructions change the last bits."""
        sources = machine.sources_digest(__name__, numpy_arrays.__name__)
        own = {"backend": self.name, "dtype": self.dtype, "kernels_sha256": sources}
        return {**own, **machine.describe()}


def _softmax_attention(
    q: NDArray[np.float64],
    keys: NDArray[np.float64],
    values: NDArray[np.float64],
    tables: Integers,
    lengths: Integers,
    scale: float,
) -> NDArray[np.float64]:
    """Attend all rows at once, padded to the longest: [M, H, D]."""
    rows, heads, head_dim = q.shape
    block_size, kv_heads = keys.shape[1:3]
    positions = np.arange(int(lengths.max()))
    live = positions < lengths[:, None]
    slots = np.where(live, tables[:, positions // block_size], 0) * block_size
    slots = slots + positions % block_size
    k, v = (cache.reshape(-1, kv_heads, head_dim)[slots] for cache in (keys, values))
    k[~live], v[~live] = 0, 0
    grouped = q.reshape(rows, kv_heads, heads // kv_heads, head_dim)
    scores = np.einsum("mkgd,mjkd->mkgj", grouped, k) * scale
    scores = np.where(live[:, None, None], scores, -np.inf)
    probabilities = np.exp(scores - scores.max(axis=-1, keepdims=True))
    probabilities /= probabilities.sum(axis=-1, keepdims=True)
    output = np.einsum("mkgj,mjkd->mkgd", probabilities, v)
    result: NDArray[np.float64] = output.reshape(rows, heads, head_dim)
    return result
