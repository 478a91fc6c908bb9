"""The index that a point falls on in cumulative weights [KERN-20]."""

import torch
import triton.language as tl

from lockstep.engine.kernels.fold import fold
from lockstep.engine.kernels.launch import WIDEST, kernel, launch, levels, power


@kernel()
def draw_kernel(
    weight: tl.tensor,
    points: tl.tensor,
    y: tl.tensor,
    width: tl.tensor,
    CHUNK: tl.constexpr,
    LEVELS: tl.constexpr,
) -> None:
    """Count the indices of one row whose cumulative weight the point reaches.

    Cumulative weights never fall, so the count is the first index above the point. All numbers
    are 64-bit integers, whose sums are exact in any order.
    """
    row = tl.program_id(0).to(tl.int64)
    point = tl.load(points + row)
    before = tl.full((1, 1), 0, tl.int64)
    index = tl.full((1, 1), 0, tl.int64)
    for first in range(0, width, CHUNK):
        i = (first + tl.arange(0, CHUNK))[None, :]
        part = tl.load(weight + row * width + i, mask=i < width, other=0).to(tl.int64)
        upto = before + tl.associative_scan(part.to(tl.int64), 1, tl.standard._sum_combine)
        passed = (upto <= point) & (i < width)
        index = index + fold(passed.to(tl.int64), LEVELS)
        before = before + fold(part, LEVELS)
    tl.store(y + row + tl.full((1, 1), 0, tl.int64), index)


def draw(weight: torch.Tensor, points: torch.Tensor) -> torch.Tensor:
    """Give int64 indices of uint32 `weight` [M, V] at int64 `points` [M]."""
    weight = weight.contiguous()
    rows, width = weight.shape
    y = torch.empty((rows,), dtype=torch.int64, device=weight.device)
    chunk = min(WIDEST, power(width))
    launch(draw_kernel, (rows,), weight, points, y, width, CHUNK=chunk, LEVELS=levels(chunk))
    return y
