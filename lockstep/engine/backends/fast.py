"""The backend `fast`: BLAS, with tiles and splits that follow the batch.

It is the control that a harness must catch, and the yardstick of what invariance costs. As fast
libraries do, it cuts K where there are few rows, cuts the positions of attention by how many rows
share the work, and pads rows to the longest one of the batch. So a row's bits depend on its
company, on any CPU.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lockstep.engine.backend import Array, Integers
from lockstep.engine.backends import inputs, machine
from lockstep.engine.backends.host import SOURCES, HostBackend
from lockstep.errors import LockstepError

FEW_ROWS = 16
"""Below so many rows a matrix product is cut along K."""

K_SPLITS = 4
"""Into so many pieces."""

WORKERS = 16
"""Pieces that attention would like to have: rows times splits."""


class FastBackend(HostBackend):
    """BLAS through NumPy.

    Args:
        dtype: compute dtype, `float32` or `float16` (computed in float32, rounded at the end).
    """

    name = "fast"
    invariant = False

    def logits(self, x: Array, w: Array) -> Array:
        """Multiply by BLAS, cut along K where there are few rows."""
        inputs.check_matmul(x.shape, w.shape[::-1])
        wide = x.astype(np.float32, copy=False)
        pieces = K_SPLITS if len(x) < FEW_ROWS else 1
        bounds = np.linspace(0, x.shape[1], pieces + 1).astype(int)
        with np.errstate(all="ignore"):
            total = np.matmul(wide[:, : bounds[1]], w[: bounds[1]])
            for first, last in pairwise(bounds[1:]):
                total += np.matmul(wide[:, first:last], w[first:last])
        return total

    def rms_norm(self, x: Array, weight: Array, eps: float) -> Array:
        """Normalise rows with NumPy's own sum."""
        inputs.check_rms_norm(x.shape, weight.shape)
        wide = x.astype(np.float32, copy=False)
        with np.errstate(all="ignore"):
            mean = np.mean(wide * wide, axis=-1, keepdims=True)
            return self._round(wide / np.sqrt(mean + np.float32(eps)) * weight)

    def swiglu(self, gate: Array, up: Array) -> Array:
        """Gate the feed-forward layer with NumPy's own exponential."""
        inputs.check_same(gate.shape, up.shape, "/swiglu")
        wide = gate.astype(np.float32, copy=False)
        with np.errstate(all="ignore"):
            return self._round(wide / (np.float32(1) + np.exp(-wide)) * up)

    def attention(
        self,
        q: Array,
        keys: Array,
        values: Array,
        tables: Integers,
        lengths: Integers,
        scale: float,
    ) -> Array:
        """Attend over as many splits as leave every worker a piece."""
        inputs.check_attention(q.shape, keys.shape, values.shape, tables, lengths)
        result = np.empty(q.shape, dtype=np.float32)
        splits = max(1, WORKERS // max(1, len(q)))
        for rows, table, own in _batches(tables, lengths):
            groups, each = own.shape
            grouped = q[rows].astype(np.float32, copy=False)
            grouped = grouped.reshape(groups, each, keys.shape[2], -1, q.shape[2])
            positions = np.arange(int(own.max()))
            used = positions < own.max(axis=1, keepdims=True)
            block = np.where(used, table[:, positions // keys.shape[1]], 0)
            slots = block * keys.shape[1] + positions % keys.shape[1]
            k, v = (_gather(cache, slots, used) for cache in (keys, values))
            live = positions < np.repeat(own, grouped.shape[3], axis=1)[:, None, :, None]
            queries = grouped.swapaxes(1, 2).reshape(groups, keys.shape[2], -1, q.shape[2])
            with np.errstate(all="ignore"):
                output = _attend(queries, k, v, live, np.float32(scale), splits)
            output = output.reshape(groups, keys.shape[2], each, -1, q.shape[2]).swapaxes(1, 2)
            result[rows] = output.reshape(-1, *q.shape[1:])
        return self._round(result)

    def log_softmax(self, logits: Array) -> Array:
        """Give log-probabilities with NumPy's own functions."""
        inputs.check_logits(logits.shape)
        with np.errstate(all="ignore"):
            shifted = logits - logits.max(axis=-1, keepdims=True)
            return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))

    def binding(self) -> dict[str, str]:
        """Tell everything: BLAS, its kernel and its threads change the bits."""
        sources = machine.sources_digest(__name__, *SOURCES)
        own = {"backend": self.name, "dtype": self.dtype, "kernels_sha256": sources}
        return {**own, **machine.describe()}


class FastTorchBackend(FastBackend):
    """The same with torch's matrix product.

    Args:
        dtype: compute dtype, `float32` or `float16`.

    Raises:
        LockstepError: LIBRARY_MISSING without torch.
    """

    name = "fast_torch"

    def __init__(self, dtype: str = "float32") -> None:
        super().__init__(dtype)
        try:
            import torch
        except ModuleNotFoundError:
            raise LockstepError(
                "LIBRARY_MISSING", "--backend fast_torch", "torch", "no such library"
            ) from None
        self._torch: Any = torch

    def logits(self, x: Array, w: Array) -> Array:
        """Multiply by torch, which chooses its kernel by the shape."""
        inputs.check_matmul(x.shape, w.shape[::-1])
        wide = np.ascontiguousarray(x, dtype=np.float32)
        product = self._torch.from_numpy(wide) @ self._torch.from_numpy(w)
        result: NDArray[np.float32] = product.numpy()
        return result

    def binding(self) -> dict[str, str]:
        """Tell torch's version and threads besides."""
        threads = str(self._torch.get_num_threads())
        own = {"torch": str(self._torch.__version__), "torch_threads": threads}
        return {
            **super().binding(),
            **own,
            "torch_cpu": self._torch.backends.cpu.get_cpu_capability(),
        }


def _batches(tables: Integers, lengths: Integers) -> Iterator[tuple[Integers, Integers, Integers]]:
    """Give rows, tables [G, W] and lengths [G, rows of each] of what is multiplied at once.

    The rows of a request's chunk are one batch of queries over the same keys; all rows that
    stand alone are one batch, padded to its longest.
    """
    changes = np.nonzero((tables[1:] != tables[:-1]).any(axis=1))[0] + 1
    runs = [run for run in np.split(np.arange(len(tables)), changes) if len(run)]
    for run in runs:
        if len(run) > 1:
            yield run, tables[run[:1]], lengths[run][None]
    alone = np.array([run[0] for run in runs if len(run) == 1], dtype=np.int64)
    if len(alone):
        yield alone, tables[alone], lengths[alone][:, None]


def _attend(
    q: NDArray[np.float32],
    k: NDArray[np.float32],
    v: NDArray[np.float32],
    live: NDArray[np.bool_],
    scale: np.float32,
    splits: int,
) -> NDArray[np.float32]:
    """Attend q [G, KV heads, Q, D] to k and v [G, KV heads, L, D] where `live` [G, 1, Q, L]."""
    largest = np.full((*q.shape[:3], 1), -np.inf, dtype=np.float32)
    total, output = np.zeros_like(largest), np.zeros_like(q)
    positions = np.arange(k.shape[2])
    for part in np.array_split(positions, min(len(positions), splits)):
        seen = live[..., part]
        scores = np.matmul(q, k[:, :, part].swapaxes(-1, -2)) * scale
        scores = np.where(seen, scores, np.float32(-np.inf))
        greater = np.maximum(largest, scores.max(axis=-1, keepdims=True))
        old, new = np.exp(largest - greater), np.exp(scores - greater)
        total = total * old + new.sum(axis=-1, keepdims=True)
        output = output * old + np.matmul(new, v[:, :, part])
        largest = greater
    result: NDArray[np.float32] = np.divide(output, total, dtype=np.float32)
    return result


def _gather(
    cache: NDArray[np.floating], slots: NDArray[np.integer], live: NDArray[np.bool_]
) -> NDArray[np.float32]:
    """Read [G, KV heads, positions, D], zero where a position is not live."""
    rows: NDArray[np.float32] = cache.reshape(-1, *cache.shape[2:])[slots].astype(np.float32)
    rows[~live] = 0
    return rows.transpose(0, 2, 1, 3)
