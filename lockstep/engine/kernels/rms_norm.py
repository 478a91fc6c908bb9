"""Root-mean-square normalisation [KERN-10]."""

import torch
import triton.language as tl

from lockstep.engine.kernels.fold import fold
from lockstep.engine.kernels.launch import LINES, WIDEST, ceiling, kernel, launch, levels, power


@kernel(fixed=("weight",))
def rms_norm_kernel(
    x: tl.tensor,
    weight: tl.tensor,
    y: tl.tensor,
    lines: tl.tensor,
    width: tl.tensor,
    eps: tl.tensor,
    LINES: tl.constexpr,
    CHUNK: tl.constexpr,
    LEVELS: tl.constexpr,
) -> None:
    """Normalise lines of x [lines, width], chunk after chunk."""
    line = (tl.program_id(0).to(tl.int64) * LINES + tl.arange(0, LINES))[:, None]
    total = tl.full((LINES, 1), 0.0, tl.float32)
    for first in range(0, width, CHUNK):
        column = (first + tl.arange(0, CHUNK))[None, :]
        inside = (line < lines) & (column < width)
        part = tl.load(x + line * width + column, mask=inside, other=0.0).to(tl.float32)
        total = total + fold(part * part, LEVELS)
    count = tl.full((LINES, 1), 0.0, tl.float32) + width.to(tl.float32)
    one = tl.full((LINES, 1), 1.0, tl.float32)
    gain = tl.div_rn(one, tl.sqrt_rn(tl.div_rn(total, count) + eps))
    for first in range(0, width, CHUNK):
        column = (first + tl.arange(0, CHUNK))[None, :]
        inside = (line < lines) & (column < width)
        part = tl.load(x + line * width + column, mask=inside, other=0.0).to(tl.float32)
        by = tl.load(weight + column, mask=column < width, other=0.0).to(tl.float32)
        result = (part * gain) * by
        tl.store(y + line * width + column, result.to(y.dtype.element_ty), mask=inside)


def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float, dtype: torch.dtype) -> torch.Tensor:
    """Normalise the last axis of `x` [..., D], times `weight` [D], rounded to `dtype`."""
    x = x.contiguous()
    width = x.shape[-1]
    lines = x.numel() // width
    y = torch.empty(x.shape, dtype=dtype, device=x.device)
    chunk = min(WIDEST, power(width))
    launch(
        rms_norm_kernel,
        (ceiling(lines, LINES),),
        x,
        weight.contiguous(),
        y,
        lines,
        width,
        eps,
        LINES=LINES,
        CHUNK=chunk,
        LEVELS=levels(chunk),
    )
    return y
