"""The combination of splits, a fold in ascending order [KERN-17]."""

import torch
import triton.language as tl

from lockstep.engine.backend import SPLIT
from lockstep.engine.kernels.attention import Partials
from lockstep.engine.kernels.exp import exp
from lockstep.engine.kernels.launch import kernel, launch, power


@kernel()
def combine_kernel(
    largest_of: tl.tensor,
    total_of: tl.tensor,
    output_of: tl.tensor,
    lengths: tl.tensor,
    y: tl.tensor,
    splits: tl.tensor,
    HEADS: tl.constexpr,
    HEAD_DIM: tl.constexpr,
    PADDED: tl.constexpr,
    WIDTH: tl.constexpr,
    SPLIT: tl.constexpr,
) -> None:
    """Fold the splits of one row, all heads side by side, and divide."""
    row = tl.program_id(0).to(tl.int64)
    count = (tl.load(lengths + row) + (SPLIT - 1)) // SPLIT
    h = tl.arange(0, PADDED)[:, None]
    d = tl.arange(0, WIDTH)[None, :]
    inside = (h < HEADS) & (d < HEAD_DIM)
    entry = row * splits * HEADS + h
    largest = tl.load(largest_of + entry, mask=h < HEADS, other=0.0)
    total = tl.load(total_of + entry, mask=h < HEADS, other=1.0)
    output = tl.load(output_of + entry * HEAD_DIM + d, mask=inside, other=0.0)
    for split in range(1, count):
        entry = (row * splits + split) * HEADS + h
        other = tl.load(largest_of + entry, mask=h < HEADS, other=0.0)
        greater = tl.maximum(largest, other)
        a = exp(largest - greater)
        b = exp(other - greater)
        part = tl.load(output_of + entry * HEAD_DIM + d, mask=inside, other=0.0)
        output = output * a + part * b
        total = total * a + tl.load(total_of + entry, mask=h < HEADS, other=1.0) * b
        largest = greater
    result = tl.div_rn(output, tl.broadcast_to(total, (PADDED, WIDTH)))
    tl.store(y + (row * HEADS + h) * HEAD_DIM + d, result.to(y.dtype.element_ty), mask=inside)


def combine(partials: Partials, lengths: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Fold the splits of each row in ascending order: [M, H, D], rounded to `dtype`."""
    rows, splits, heads, head_dim = partials.output.shape
    y = torch.empty((rows, heads, head_dim), dtype=dtype, device=lengths.device)
    launch(
        combine_kernel,
        (rows,),
        *partials,
        lengths.contiguous(),
        y,
        splits,
        HEADS=heads,
        HEAD_DIM=head_dim,
        PADDED=power(heads),
        WIDTH=power(head_dim),
        SPLIT=SPLIT,
    )
    return y
