"""Paged attention in splits of 512 positions, and the combination of splits [KERN-14 to 17]."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lockstep.engine.backend import SPLIT, Integers
from lockstep.engine.host.dot import dot
from lockstep.engine.host.exp import exp
from lockstep.engine.host.fold import fold

TILE = 64
"""Positions whose probabilities are folded by halves at once; divides a split."""

_TOGETHER = 1 << 22
"""Elements of keys gathered at once; a matter of memory, not of bits."""

Floats = NDArray[np.float32]


class Partials(NamedTuple):
    """What splits leave: one entry a (row, split), rows ascending, splits ascending in a row."""

    row: NDArray[np.int64]
    """[P] the row that an entry belongs to."""

    split: NDArray[np.int64]
    """[P] the split's number."""

    largest: Floats
    """[P, H] the largest score."""

    total: Floats
    """[P, H] the sum of probabilities."""

    output: Floats
    """[P, H, D] the values, weighted and not yet divided."""


def attention(
    q: Floats,
    keys: NDArray[np.floating],
    values: NDArray[np.floating],
    tables: Integers,
    lengths: Integers,
    scale: float,
) -> Floats:
    """Attend each row of `q` [M, H, D] to the first `lengths[row]` positions of its table.

    Args:
        q: queries.
        keys: cache [blocks, block_size, KV heads, D], float32 or float16; with float16
            probabilities are rounded to it before they meet the values [KERN-16].
        values: cache of the same kind.
        tables: [M, W] physical blocks.
        lengths: [M], at least 1.
        scale: 1 / sqrt(D).

    Returns:
        [M, H, D] in float32.
    """
    partials = split_partials(q, keys, values, tables, lengths, np.float32(scale))
    return combine(partials, len(q))


def split_partials(
    q: Floats,
    keys: NDArray[np.floating],
    values: NDArray[np.floating],
    tables: Integers,
    lengths: Integers,
    scale: np.float32,
) -> Partials:
    """Compute every split of every row by itself [KERN-15], [KERN-16]."""
    lengths = lengths.astype(np.int64)
    counts = -(-lengths // SPLIT)
    row = np.repeat(np.arange(len(q)), counts)
    split = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    heads, head_dim = q.shape[1:]
    result = Partials(
        row,
        split,
        np.empty((len(row), heads), dtype=np.float32),
        np.empty((len(row), heads), dtype=np.float32),
        np.empty((len(row), heads, head_dim), dtype=np.float32),
    )
    live = np.minimum(lengths[row] - split * SPLIT, SPLIT)
    kv_width = keys.shape[2] * head_dim
    for entries, tiles in _alike(-(-live // TILE), kv_width):
        rows = row[entries]
        # Tiles without a live position add zeros, and zeros change nothing: they are left out.
        offset = np.arange(tiles * TILE)
        is_live = offset < live[entries][:, None]
        position = split[entries][:, None] * SPLIT + offset
        slots = _slots(tables[rows], position, is_live, keys.shape[1])
        outcome = _one_split(
            q[rows],
            _gather(keys, slots, is_live),
            _gather(values, slots, is_live),
            is_live[:, None, None],
            scale,
            keys.dtype == np.float16,
        )
        result.largest[entries], result.total[entries], result.output[entries] = outcome
    return result


def _alike(tiles: NDArray[np.int64], kv_width: int) -> Iterator[tuple[NDArray[np.int64], int]]:
    """Group entries by their number of tiles, in pieces that fit `_TOGETHER`."""
    for count in np.unique(tiles):
        entries = np.nonzero(tiles == count)[0]
        piece = max(1, _TOGETHER // (int(count) * TILE * kv_width))
        for first in range(0, len(entries), piece):
            yield entries[first : first + piece], int(count)


def _slots(
    tables: Integers, position: NDArray[np.int64], live: NDArray[np.bool_], block_size: int
) -> NDArray[np.int64]:
    """Give the slot of each live position, and slot 0 for the others [KERN-14]."""
    logical = np.where(live, position // block_size, 0)
    block = np.take_along_axis(tables.astype(np.int64), logical, axis=1)
    return np.where(live, block * block_size + position % block_size, 0)


def _gather(
    cache: NDArray[np.floating], slots: NDArray[np.int64], live: NDArray[np.bool_]
) -> Floats:
    """Read [entries, KV heads, positions, D], selecting zero where a position is not live."""
    rows = cache.reshape(-1, *cache.shape[2:])[slots]
    chosen = np.where(live[:, :, None, None], rows, cache.dtype.type(0))
    return chosen.astype(np.float32, copy=False).transpose(0, 2, 1, 3)


def _one_split(
    q: Floats,
    keys: Floats,
    values: Floats,
    live: NDArray[np.bool_],
    scale: np.float32,
    halve: bool,
) -> tuple[Floats, Floats, Floats]:
    """Give largest score, sum and output of entries that have equally many tiles."""
    entries, kv_heads, _, head_dim = keys.shape
    grouped = q.reshape(entries, kv_heads, -1, head_dim)
    scores = dot(grouped, np.ascontiguousarray(keys.swapaxes(-1, -2))) * scale
    # A maximum is the same in any order; both zeros lead to the same exponentials.
    largest = np.where(live, scores, np.float32(-np.inf)).max(axis=-1)
    probabilities = np.where(live, exp(scores - largest[..., None]), np.float32(0))
    total = fold(probabilities, TILE)
    if halve:
        probabilities = probabilities.astype(np.float16).astype(np.float32)
    output = dot(probabilities, np.ascontiguousarray(values))
    heads = q.shape[1]
    return (
        largest.reshape(entries, heads),
        total.reshape(entries, heads),
        output.reshape(entries, heads, head_dim),
    )


def combine(partials: Partials, rows: int) -> Floats:
    """Fold the splits of each row in ascending order and divide: [M, H, D] [KERN-17]."""
    first = np.searchsorted(partials.row, np.arange(rows))
    largest = partials.largest[first]
    total = partials.total[first]
    output = partials.output[first]
    for split in range(1, int(partials.split.max(initial=0)) + 1):
        entries = np.nonzero(partials.split == split)[0]
        row = partials.row[entries]
        greater = np.maximum(largest[row], partials.largest[entries])
        a = exp(largest[row] - greater)
        b = exp(partials.largest[entries] - greater)
        output[row] = output[row] * a[..., None] + partials.output[entries] * b[..., None]
        total[row] = total[row] * a + partials.total[entries] * b
        largest[row] = greater
    return output / total[..., None]
