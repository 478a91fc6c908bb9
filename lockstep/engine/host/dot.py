"""Dot products in a stated order [KERN-4]."""

import numpy as np
from numpy.typing import NDArray

CHUNK = 32
"""Terms of one chunk's sum."""

_TOGETHER = 1 << 16
"""Elements of the chunk sums that are computed side by side; a matter of speed, not of bits."""


def dot(a: NDArray[np.float32], b: NDArray[np.float32]) -> NDArray[np.float32]:
    """Multiply stacks of matrices, [..., M, K] by [..., K, N]: [..., M, N], each entry a dot."""
    inner = a.shape[-1]
    stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    total = np.zeros((*stack, a.shape[-2], b.shape[-1]), dtype=np.float32)
    whole = inner // CHUNK * CHUNK
    step = max(1, _TOGETHER // max(1, total.size)) * CHUNK
    for first in range(0, whole, step):
        last = min(whole, first + step)
        sums = _chunk_sums(a[..., first:last], b[..., first:last, :], CHUNK, stack)
        for chunk in range(sums.shape[-3]):
            np.add(total, sums[..., chunk, :, :], out=total)
    if whole < inner:
        sums = _chunk_sums(a[..., whole:], b[..., whole:, :], inner - whole, stack)
        np.add(total, sums[..., 0, :, :], out=total)
    return total


def _chunk_sums(
    a: NDArray[np.float32], b: NDArray[np.float32], terms: int, stack: tuple[int, ...]
) -> NDArray[np.float32]:
    """Sum each chunk of `terms` from zero, in ascending order: [..., chunks, M, N]."""
    chunks = a.shape[-1] // terms
    rows = a.reshape(*a.shape[:-1], chunks, terms).swapaxes(-3, -2)
    columns = b.reshape(*b.shape[:-2], chunks, terms, b.shape[-1])
    sums = np.zeros((*stack, chunks, a.shape[-2], b.shape[-1]), dtype=np.float32)
    products = np.empty_like(sums)
    for term in range(terms):
        np.multiply(rows[..., term, None], columns[..., term, None, :], out=products)
        np.add(sums, products, out=sums)
    return sums
