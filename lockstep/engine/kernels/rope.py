"""Rotary position embedding, halves rotated [KERN-11]."""

import torch
import triton.language as tl

from lockstep.engine.kernels.launch import ceiling, kernel, launch, power

LINES = 16
"""Heads that one program instance rotates."""


@kernel()
def rope_kernel(
    x: tl.tensor,
    cos: tl.tensor,
    sin: tl.tensor,
    y: tl.tensor,
    lines: tl.tensor,
    HEADS: tl.constexpr,
    HALF: tl.constexpr,
    LINES: tl.constexpr,
    WIDTH: tl.constexpr,
) -> None:
    """Rotate lines of x [lines, 2 HALF], HEADS of them to a row of cos and sin [rows, HALF]."""
    line = (tl.program_id(0).to(tl.int64) * LINES + tl.arange(0, LINES))[:, None]
    i = tl.arange(0, WIDTH)[None, :]
    inside = (line < lines) & (i < HALF)
    at = line * (2 * HALF) + i
    table = (line // HEADS) * HALF + i
    first = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
    second = tl.load(x + at + HALF, mask=inside, other=0.0).to(tl.float32)
    c = tl.load(cos + table, mask=inside, other=0.0)
    s = tl.load(sin + table, mask=inside, other=0.0)
    lower = first * c - second * s
    upper = second * c + first * s
    tl.store(y + at, lower.to(y.dtype.element_ty), mask=inside)
    tl.store(y + at + HALF, upper.to(y.dtype.element_ty), mask=inside)


def rope(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Rotate each head of `x` [M, H, D] by its row's float32 `cos` and `sin` [M, D / 2]."""
    x = x.contiguous()
    rows, heads, head_dim = x.shape
    y = torch.empty(x.shape, dtype=dtype, device=x.device)
    launch(
        rope_kernel,
        (ceiling(rows * heads, LINES),),
        x,
        cos.contiguous(),
        sin.contiguous(),
        y,
        rows * heads,
        HEADS=heads,
        HALF=head_dim // 2,
        LINES=LINES,
        WIDTH=power(head_dim // 2),
    )
    return y
