"""Matrix products in fixed tiles, K ascending [KERN-9]."""

import torch
import triton.language as tl

from lockstep.engine.kernels.launch import ceiling, kernel, launch

ROWS = 16
"""Rows of a tile, at every M: a tile that follows M would change the bits."""

COLUMNS = 64
"""Columns of a tile."""

CHUNK = 32
"""Terms of K that one step takes [KERN-4]."""


@kernel(fixed=("w", "width", "depth"))
def matmul_kernel(
    x: tl.tensor,
    w: tl.tensor,
    y: tl.tensor,
    rows: tl.tensor,
    width: tl.tensor,
    depth: tl.tensor,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    CHUNK: tl.constexpr,
) -> None:
    """Compute one tile of y [rows, width] from x [rows, depth] and w [width, depth].

    With binary32 `tl.dot` is multiplications and additions per element, with binary16 it is
    tensor cores that add in binary32; neither lets rows of a tile meet.
    """
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1).to(tl.int64) * COLUMNS + tl.arange(0, COLUMNS)
    total = tl.full((ROWS, COLUMNS), 0.0, tl.float32)
    for first in range(0, depth, CHUNK):
        k = first + tl.arange(0, CHUNK)
        a = tl.load(
            x + row[:, None] * depth + k[None, :],
            mask=(row[:, None] < rows) & (k[None, :] < depth),
            other=0.0,
        )
        b = tl.load(
            w + column[None, :] * depth + k[:, None],
            mask=(column[None, :] < width) & (k[:, None] < depth),
            other=0.0,
        )
        total = tl.dot(a, b, total, input_precision="ieee")
    tl.store(
        y + row[:, None] * width + column[None, :],
        total.to(y.dtype.element_ty),
        mask=(row[:, None] < rows) & (column[None, :] < width),
    )


def matmul(x: torch.Tensor, w: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Multiply `x` [M, K] with a projection `w` [N, K]: [M, N], rounded to `dtype`."""
    x, w = x.contiguous(), w.contiguous()
    rows, depth = x.shape
    width = w.shape[0]
    y = torch.empty((rows, width), dtype=dtype, device=x.device)
    grid = (ceiling(rows, ROWS), ceiling(width, COLUMNS))
    launch(
        matmul_kernel,
        grid,
        x,
        w,
        y,
        rows,
        width,
        depth,
        ROWS=ROWS,
        COLUMNS=COLUMNS,
        CHUNK=CHUNK,
    )
    return y
