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

_TOGETHER = 1 << 21
"""Scores that are computed at once; a matter of memory, not of bits."""

_WIDE = 16
"""Queries of one KV head from which on they, and not positions, are laid out side by side."""

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
    limit = max(1, _TOGETHER // (heads * SPLIT))
    for entries in _groups(_sharing(tables, limit)[row], split, -(-live // TILE), limit):
        if not _compute(result, entries, live[entries], q, keys, values, tables, scale):
            singly = entries.reshape(-1, 1)
            _compute(result, singly, live[singly], q, keys, values, tables, scale)
    return result


def _sharing(tables: Integers, limit: int) -> NDArray[np.int64]:
    """Number the runs of neighbouring rows that have one table, each of at most `limit` rows."""
    changes = np.ones(len(tables), dtype=bool)
    changes[1:] = (tables[1:] != tables[:-1]).any(axis=1)
    start = np.maximum.accumulate(np.where(changes, np.arange(len(tables)), 0))
    changes |= (np.arange(len(tables)) - start) % limit == 0
    return np.cumsum(changes)


def _groups(
    run: NDArray[np.int64], split: NDArray[np.int64], tiles: NDArray[np.int64], limit: int
) -> Iterator[NDArray[np.int64]]:
    """Give entries [groups, rows]: a group's rows share keys, and its groups are equally large.

    Which entries are computed together has no influence on their bits.
    """
    order = np.lexsort((split, run))
    starts = np.ones(len(order), dtype=bool)
    starts[1:] = (np.diff(run[order]) != 0) | (np.diff(split[order]) != 0)
    first = np.nonzero(starts)[0]
    size = np.diff(np.append(first, len(order)))
    most = np.maximum.reduceat(tiles[order], first)
    kind = size * (1 + most.max(initial=0)) + most
    for one in np.unique(kind):
        alike = first[kind == one]
        rows = int(size[kind == one][0])
        piece = max(1, limit // rows)
        for begin in range(0, len(alike), piece):
            yield order[alike[begin : begin + piece, None] + np.arange(rows)]


def _compute(
    partials: Partials,
    entries: NDArray[np.int64],
    live: NDArray[np.int64],
    q: Floats,
    keys: NDArray[np.floating],
    values: NDArray[np.floating],
    tables: Integers,
    scale: np.float32,
) -> bool:
    """Fill entries [groups, rows] of `partials`, with `live` positions each.

    Returns:
        False, nothing being filled, where rows share a value that is not finite. A probability
        of zero would not silence it for a row that does not see it: such rows go singly.
    """
    groups, rows = entries.shape
    block_size, kv_heads, head_dim = keys.shape[1:]
    row, split = partials.row[entries], partials.split[entries[:, 0]]
    most = live.max(axis=1)
    # Tiles without a live position add zeros, and zeros change nothing: they are left out.
    offset = np.arange(-(-int(most.max()) // TILE) * TILE)
    used = offset < most[:, None]
    slots = _slots(tables[row[:, 0]], split[:, None] * SPLIT + offset, used, block_size)
    k, v = _gather(keys, slots, used), _gather(values, slots, used)
    if rows > 1 and not np.isfinite(v).all():
        return False
    grouped = q[row].reshape(groups, rows, kv_heads, -1, head_dim)
    per_kv_head = grouped.shape[3]
    grouped = grouped.transpose(0, 2, 1, 3, 4).reshape(groups, kv_heads, -1, head_dim)
    seen = offset < np.repeat(live, per_kv_head, axis=1)[:, None, :, None]
    parts = _one_split(grouped, k, v, seen, scale, halve=keys.dtype == np.float16)
    for target, part in zip(partials[2:], parts, strict=True):
        # [groups, KV heads, rows * queries, ...] to [groups, rows, H, ...].
        parted = part.reshape(groups, kv_heads, rows, per_kv_head, *part.shape[3:]).swapaxes(1, 2)
        target[entries] = parted.reshape(groups, rows, -1, *part.shape[3:])
    return True


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
    """Read [groups, KV heads, positions, D], putting zero where a position is not live."""
    rows: Floats = cache.reshape(-1, *cache.shape[2:])[slots].astype(np.float32, copy=False)
    rows[~live] = 0
    return rows.transpose(0, 2, 1, 3)


def _one_split(
    q: Floats,
    keys: Floats,
    values: Floats,
    live: NDArray[np.bool_],
    scale: np.float32,
    halve: bool,
) -> tuple[Floats, Floats, Floats]:
    """Compute a split [KERN-15], [KERN-16] in one of two layouts, whose bits are the same.

    Args:
        q: [groups, KV heads, Q, D].
        keys: [groups, KV heads, L, D].
        values: likewise.
        live: [groups, 1, Q, L].
        scale: of the scores.
        halve: whether probabilities are rounded to float16 before they meet the values.

    Returns:
        [groups, KV heads, Q], the same, and [groups, KV heads, Q, D].
    """
    wide = q.shape[2] >= _WIDE
    if wide:
        axis, live = -2, np.ascontiguousarray(live.swapaxes(-1, -2))
        scores = dot(keys, np.ascontiguousarray(q.swapaxes(-1, -2))) * scale
    else:
        axis = -1
        scores = dot(q, np.ascontiguousarray(keys.swapaxes(-1, -2))) * scale
    # A maximum is the same in any order; both zeros lead to the same exponentials.
    largest = np.where(live, scores, np.float32(-np.inf)).max(axis=axis, keepdims=True)
    probabilities = np.where(live, exp(scores - largest), np.float32(0))
    total = fold(probabilities.swapaxes(axis, -1), TILE)
    if halve:
        probabilities = probabilities.astype(np.float16).astype(np.float32)
    if wide:
        output = dot(values.swapaxes(-1, -2), probabilities).swapaxes(-1, -2)
    else:
        output = dot(probabilities, np.ascontiguousarray(values))
    return largest.squeeze(axis), total, output


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
