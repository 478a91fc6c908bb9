"""What a backend gives the model: a few functions over packed rows (spec/kernels.md).

A batch is packed: each of its M rows is one token of some request, and a prefill chunk is several
rows where a decode is one. Every function is *row independent*: the bits of an output row depend
on that row's inputs and on nothing else in the batch, be it the number of the other rows, their
values, their order, or where the row's blocks lie in the pool [KERN-2]. A backend that does not
hold to this says so in `invariant`.

An `Array` is the backend's own: what `array` gave, or another function of the same backend.
Activations have the compute dtype (`dtype`); kernels compute in float32 and round once, where
they hand over [KERN-3]. Logits, log-probabilities and what follows from them are float32.
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = Any
"""A backend's own array; only `numpy` and the backend itself look into it.

The model asks of it what NumPy's arrays and torch's tensors share: `reshape`, slices, and
selection of rows by NumPy integers.
"""

Integers = NDArray[np.integer]

SPLIT = 512
"""Positions of one attention split [KERN-14]; split s holds positions 512 s to 512 s + 511."""


class Backend(Protocol):
    """The kernels of one kind of device, or of one reference.

    All functions raise `LockstepError("KERNEL_INPUT")` for shapes, types or indices that do not
    fit each other, before anything is written.
    """

    name: str
    """As `--backend` names it."""

    dtype: str
    """Compute dtype: `float32` or `float16`; `float64` for the reference of that name."""

    invariant: bool
    """Whether row independence is claimed; false for controls and planted defects."""

    def array(self, values: NDArray[Any]) -> Array:
        """Take a NumPy array over, as it is: activations, norms' weights, tables, indices."""
        ...

    def weight(self, values: NDArray[Any]) -> Array:
        """Take a projection [N, K] over (out, in), packed as this backend's `matmul` wants it."""
        ...

    def numpy(self, values: Array) -> NDArray[Any]:
        """Give an array, or a cache, as NumPy; for a cache [blocks, block_size, kv_heads, D]."""
        ...

    def embed(self, table: Array, tokens: Integers) -> Array:
        """Select rows of `table` [V, D] (from `array`) by `tokens` [M]: [M, D]."""
        ...

    def matmul(self, x: Array, w: Array) -> Array:
        """Multiply `x` [M, K] with `w` (from `weight`, [N, K]): [M, N] in the compute dtype."""
        ...

    def logits(self, x: Array, w: Array) -> Array:
        """Multiply as `matmul` does, without the last rounding: [M, N] in float32."""
        ...

    def rms_norm(self, x: Array, weight: Array, eps: float) -> Array:
        """Normalise the last axis of `x` [..., D] by its root mean square, times `weight` [D]."""
        ...

    def rope(self, x: Array, cos: Array, sin: Array) -> Array:
        """Rotate halves: `x` [M, H, D] by float32 `cos` and `sin` [M, D / 2] (`rope_tables`)."""
        ...

    def swiglu(self, gate: Array, up: Array) -> Array:
        """Give silu(gate) * up, elementwise, both [M, N]."""
        ...

    def add(self, x: Array, y: Array) -> Array:
        """Add elementwise, both [M, D]."""
        ...

    def new_cache(self, blocks: int, block_size: int, kv_heads: int, head_dim: int) -> Array:
        """Make a cache for keys or for values of one layer; every element NaN until written."""
        ...

    def write(self, cache: Array, rows: Array, slots: Integers) -> None:
        """Write `rows` [M, kv_heads, D] in place at `slots` [M]: block * block_size + offset.

        The slots of one call are distinct.
        """
        ...

    def free_bytes(self) -> int | None:
        """Give the memory that caches may still take, in bytes; None where nothing says it."""
        ...

    def attention(
        self,
        q: Array,
        keys: Array,
        values: Array,
        tables: Integers,
        lengths: Integers,
        scale: float,
    ) -> Array:
        """Attend each row to the first `lengths[row]` positions of its own table.

        Args:
            q: [M, H, D]; query head h reads KV head h // (H / kv_heads).
            keys: cache of keys, the row's own position already written.
            values: cache of values, likewise.
            tables: [M, W] physical block of each logical block of a row; entries past the row's
                last block are not read and may hold anything.
            lengths: [M], at least 1.
            scale: 1 / sqrt(D), rounded to float32 by the backend.

        Returns:
            [M, H, D] in the compute dtype.
        """
        ...

    def log_softmax(self, logits: Array) -> Array:
        """Give log-probabilities of float32 `logits` [M, V], in float32."""
        ...

    def environment(self) -> dict[str, str]:
        """Tell what computes, read back from this process: versions, device, sources' digests."""
        ...

    def binding(self) -> dict[str, str]:
        """Tell the part of `environment` that the bits depend on [KERN-22].

        For `host` its sources and NumPy's version, on any CPU; for the others all of it. Golden
        digests and replays compare under an equal binding alone.
        """
        ...
