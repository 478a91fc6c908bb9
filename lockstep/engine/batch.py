"""The packed batch of a step: one row for each token that it computes [ENG-10]."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lockstep.engine.events import Work

Int64 = NDArray[np.int64]


@dataclass(frozen=True)
class Batch:
    """Rows of a step, M of them, in packing order; all arrays are integers.

    Attributes:
        tokens: [M] token id of each row.
        positions: [M] its position in its sequence.
        tables: [M, W] physical block of each logical block of its sequence; W is that of the
            longest table, and 0 fills the others.
        slots: [M] where its key and value go: block * block_size + offset.
        lengths: [M] positions that it attends to, its own the last of them.
        output_rows: [R] rows whose logits are wanted, ascending.
    """

    tokens: Int64
    positions: Int64
    tables: NDArray[np.int32]
    slots: Int64
    lengths: NDArray[np.int32]
    output_rows: Int64

    def __len__(self) -> int:
        return len(self.tokens)


def pack(work: Sequence[Work], block_size: int) -> Batch:
    """Pack chunks and decodes, in their order, each by ascending position."""
    counts = [len(item.tokens) for item in work]
    rows, width = sum(counts), max((len(item.table) for item in work), default=0)
    tables = np.zeros((rows, width), dtype=np.int32)
    positions = np.zeros(rows, dtype=np.int64)
    start = 0
    for item, count in zip(work, counts, strict=True):
        tables[start : start + count, : len(item.table)] = item.table
        positions[start : start + count] = np.arange(item.first, item.first + count)
        start += count
    blocks = np.take_along_axis(tables, positions[:, None] // block_size, axis=1)[:, 0]
    last = np.cumsum(counts, dtype=np.int64) - 1
    return Batch(
        tokens=np.array([token for item in work for token in item.tokens], dtype=np.int64),
        positions=positions,
        tables=tables,
        slots=blocks.astype(np.int64) * block_size + positions % block_size,
        lengths=(positions + 1).astype(np.int32),
        output_rows=last[[item.emits for item in work]],
    )
