"""Dot products in a stated order [KERN-4]."""

import numpy as np
from numpy.typing import NDArray

CHUNK = 32
"""Terms of one chunk's sum."""

_TOGETHER = 1 << 16
"""Elements of the chunk sums that are computed side by side; a matter of speed, not of bits."""

_BLOCK = 1 << 17
"""Entries of the result that are computed at once, so that they stay in a cache; likewise."""

_COLUMNS = 64
"""Columns of the result below which a block is not narrowed."""


def dot(a: NDArray[np.float32], b: NDArray[np.float32]) -> NDArray[np.float32]:
    """Multiply stacks of matrices, [..., M, K] by [..., K, N]: [..., M, N], each entry a dot."""
    stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    total = np.zeros((*stack, a.shape[-2], b.shape[-1]), dtype=np.float32)
    columns = b.shape[-1]
    width = max(_COLUMNS, _BLOCK * columns // max(1, total.size))
    for first in range(0, columns, width):
        block = slice(first, first + width)
        _accumulate(total[..., block], a, b[..., block], stack)
    return total


def _accumulate(
    total: NDArray[np.float32],
    a: NDArray[np.float32],
    b: NDArray[np.float32],
    stack: tuple[int, ...],
) -> None:
    """Add the chunks' sums to `total`, which holds zeros, in ascending order."""
    inner = a.shape[-1]
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
