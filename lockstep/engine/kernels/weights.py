"""Integer sampling weights of logits [KERN-19]."""

import torch
import triton.language as tl

from lockstep.engine.kernels.exp import INFINITY, exp
from lockstep.engine.kernels.launch import WIDEST, kernel, launch, power

LARGEST = tl.constexpr(float(1 << 30))
"""The weight of a row's largest logit, at every temperature."""


@kernel()
def weights_kernel(
    logits: tl.tensor,
    temperatures: tl.tensor,
    y: tl.tensor,
    width: tl.tensor,
    CHUNK: tl.constexpr,
) -> None:
    """Compute one row, in two passes: the largest logit, then the weights."""
    row = tl.program_id(0).to(tl.int64)
    at = row * width
    largest = tl.full((1,), -INFINITY, tl.float32)
    for first in range(0, width, CHUNK):
        i = first + tl.arange(0, CHUNK)
        x = tl.load(logits + at + i, mask=i < width, other=-INFINITY)
        largest = tl.maximum(largest, tl.reduce(x, 0, tl.standard._elementwise_max))
    divisor = tl.full((CHUNK,), 0.0, tl.float32) + tl.load(temperatures + row)
    for first in range(0, width, CHUNK):
        i = first + tl.arange(0, CHUNK)
        x = tl.load(logits + at + i, mask=i < width, other=0.0)
        # The product is exact, and the conversion discards the fraction.
        weight = (exp(tl.div_rn(x - largest, divisor)) * LARGEST).to(tl.int32)
        tl.store(y + at + i, weight.to(tl.uint32), mask=i < width)


def weights(logits: torch.Tensor, temperatures: torch.Tensor) -> torch.Tensor:
    """Give uint32 weights of finite float32 `logits` [M, V] at float32 `temperatures` [M]."""
    logits = logits.contiguous()
    rows, width = logits.shape
    y = torch.empty((rows, width), dtype=torch.uint32, device=logits.device)
    chunk = min(WIDEST, power(width))
    launch(weights_kernel, (rows,), logits, temperatures.contiguous(), y, width, CHUNK=chunk)
    return y
