"""Paged attention over splits of 512 positions [KERN-14 to 16]; `combine` folds the splits."""

from typing import NamedTuple

import torch
import triton.language as tl

from lockstep.engine.backend import SPLIT
from lockstep.engine.kernels.exp import INFINITY, exp
from lockstep.engine.kernels.fold import fold
from lockstep.engine.kernels.launch import ceiling, device, kernel, launch, levels, power

TILE = 64
"""Positions that are loaded, and whose probabilities are folded, at once; divides a split."""

CHUNK = 32
"""Terms of one step of a dot [KERN-4]."""

LEAST = 16
"""Rows of a dot's tile at least; queries of one KV head fill it up to so many."""


class Partials(NamedTuple):
    """What splits leave, for each row, split and head; of splits past a row's last, nothing."""

    largest: torch.Tensor
    """[M, splits, H] float32: the largest score."""

    total: torch.Tensor
    """[M, splits, H] float32: the sum of probabilities."""

    output: torch.Tensor
    """[M, splits, H, D] float32: the values, weighted and not yet divided."""


@device
def scores_of(
    query: tl.tensor,
    keys: tl.tensor,
    offset: tl.tensor,
    live: tl.tensor,
    QUERIES: tl.constexpr,
    PADDED: tl.constexpr,
    HEAD_DIM: tl.constexpr,
    CHUNK: tl.constexpr,
    TILE: tl.constexpr,
) -> tl.tensor:
    """Give dots of queries with the keys at `offset` [TILE]: [PADDED, TILE], zero if not live."""
    g = tl.arange(0, PADDED)[:, None]
    total = tl.full((PADDED, TILE), 0.0, tl.float32)
    for first in tl.static_range(0, HEAD_DIM, CHUNK):
        d = first + tl.arange(0, CHUNK)
        inside = (g < QUERIES) & (d[None, :] < HEAD_DIM)
        a = tl.load(query + g * HEAD_DIM + d[None, :], mask=inside, other=0.0)
        inside = live[None, :] & (d[:, None] < HEAD_DIM)
        b = tl.load(keys + offset[None, :] + d[:, None], mask=inside, other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee")
    return total


@kernel(fixed=("keys", "values"))
def split_kernel(
    q: tl.tensor,
    keys: tl.tensor,
    values: tl.tensor,
    tables: tl.tensor,
    lengths: tl.tensor,
    largest_of: tl.tensor,
    total_of: tl.tensor,
    output_of: tl.tensor,
    table_width: tl.tensor,
    block_size: tl.tensor,
    splits: tl.tensor,
    scale: tl.tensor,
    HEADS: tl.constexpr,
    KV_HEADS: tl.constexpr,
    HEAD_DIM: tl.constexpr,
    PADDED: tl.constexpr,
    WIDTH: tl.constexpr,
    SPLIT: tl.constexpr,
    TILE: tl.constexpr,
    CHUNK: tl.constexpr,
    LEVELS: tl.constexpr,
) -> None:
    """Compute one split of one row and KV head, in two passes: the largest score, then the rest.

    Tiles without a live position would add zeros, which change nothing: the loops end before.
    """
    row = tl.program_id(0).to(tl.int64)
    kv_head = tl.program_id(1)
    split = tl.program_id(2)
    start = split * SPLIT
    stop = tl.minimum(tl.load(lengths + row), start + SPLIT)
    QUERIES: tl.constexpr = HEADS // KV_HEADS
    query = q + (row * HEADS + kv_head * QUERIES) * HEAD_DIM
    largest = tl.full((PADDED,), -INFINITY, tl.float32)
    for first in range(start, stop, TILE):
        position = first + tl.arange(0, TILE)
        live = position < stop
        block = tl.load(tables + row * table_width + position // block_size, mask=live, other=0)
        slot = block.to(tl.int64) * block_size + position % block_size
        offset = (slot * KV_HEADS + kv_head) * HEAD_DIM
        score = scores_of(query, keys, offset, live, QUERIES, PADDED, HEAD_DIM, CHUNK, TILE) * scale
        score = tl.where(live[None, :], score, -INFINITY)
        largest = tl.maximum(largest, tl.reduce(score, 1, tl.standard._elementwise_max))
    total = tl.full((PADDED, 1), 0.0, tl.float32)
    output = tl.full((PADDED, WIDTH), 0.0, tl.float32)
    d = tl.arange(0, WIDTH)[None, :]
    for first in range(start, stop, TILE):
        position = first + tl.arange(0, TILE)
        live = position < stop
        block = tl.load(tables + row * table_width + position // block_size, mask=live, other=0)
        slot = block.to(tl.int64) * block_size + position % block_size
        offset = (slot * KV_HEADS + kv_head) * HEAD_DIM
        score = scores_of(query, keys, offset, live, QUERIES, PADDED, HEAD_DIM, CHUNK, TILE) * scale
        p = tl.where(live[None, :], exp(score - largest[:, None]), 0.0)
        total = total + fold(p, LEVELS)
        # Two chunks of 32 positions, the lower ones first.
        halves = tl.permute(tl.reshape(p, (PADDED, 2, CHUNK)), (0, 2, 1))
        p_lower, p_upper = tl.split(halves.to(values.dtype.element_ty))
        pair = tl.permute(tl.reshape(offset, (2, CHUNK)), (1, 0))
        lower, upper = tl.split(pair)
        place = first + tl.arange(0, CHUNK)[:, None]
        inside = (place < stop) & (d < HEAD_DIM)
        v = tl.load(values + lower[:, None] + d, mask=inside, other=0.0)
        output = tl.dot(p_lower, v, output, input_precision="ieee")
        inside = (place + CHUNK < stop) & (d < HEAD_DIM)
        v = tl.load(values + upper[:, None] + d, mask=inside, other=0.0)
        output = tl.dot(p_upper, v, output, input_precision="ieee")
    g = tl.arange(0, PADDED)[:, None]
    entry = (row * splits + split) * HEADS + kv_head * QUERIES + g
    used = g < QUERIES
    tl.store(largest_of + entry, largest[:, None], mask=used)
    tl.store(total_of + entry, total, mask=used)
    tl.store(output_of + entry * HEAD_DIM + d, output, mask=used & (d < HEAD_DIM))


def split_partials(
    q: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    tables: torch.Tensor,
    lengths: torch.Tensor,
    longest: int,
    scale: float,
) -> Partials:
    """Compute every split of every row by itself.

    Args:
        q: [M, H, D].
        keys: cache [blocks, block_size, KV heads, D] of the same dtype.
        values: cache likewise.
        tables: [M, W] int32 physical blocks.
        lengths: [M] int32, at least 1.
        longest: the largest length; says how many splits have a place, and no more.
        scale: 1 / sqrt(D), as float32.
    """
    rows, heads, head_dim = q.shape
    _blocks, block_size, kv_heads, _head_dim = keys.shape
    splits = ceiling(longest, SPLIT)
    partials = Partials(
        torch.empty((rows, splits, heads), dtype=torch.float32, device=q.device),
        torch.empty((rows, splits, heads), dtype=torch.float32, device=q.device),
        torch.empty((rows, splits, heads, head_dim), dtype=torch.float32, device=q.device),
    )
    launch(
        split_kernel,
        (rows, kv_heads, splits),
        q.contiguous(),
        keys,
        values,
        tables.contiguous(),
        lengths.contiguous(),
        *partials,
        tables.shape[1],
        block_size,
        splits,
        scale,
        HEADS=heads,
        KV_HEADS=kv_heads,
        HEAD_DIM=head_dim,
        PADDED=max(LEAST, power(heads // kv_heads)),
        WIDTH=max(LEAST, power(head_dim)),
        SPLIT=SPLIT,
        TILE=TILE,
        CHUNK=CHUNK,
        LEVELS=levels(TILE),
    )
    return partials
