"""Log-probabilities of logits [KERN-18]."""

import torch
import triton.language as tl

from lockstep.engine.kernels.exp import INFINITY, exp
from lockstep.engine.kernels.fold import fold
from lockstep.engine.kernels.launch import WIDEST, kernel, launch, levels, power
from lockstep.engine.kernels.log import log


@kernel()
def log_softmax_kernel(
    logits: tl.tensor, y: tl.tensor, width: tl.tensor, CHUNK: tl.constexpr, LEVELS: tl.constexpr
) -> None:
    """Compute one row, in three passes: the largest logit, the sum, the result."""
    at = tl.program_id(0).to(tl.int64) * width
    largest = tl.full((1, 1), -INFINITY, tl.float32)
    for first in range(0, width, CHUNK):
        i = (first + tl.arange(0, CHUNK))[None, :]
        x = tl.load(logits + at + i, mask=i < width, other=-INFINITY)
        part = tl.reduce(x, 1, tl.standard._elementwise_max, keep_dims=True)
        largest = tl.maximum(largest, part)
    total = tl.full((1, 1), 0.0, tl.float32)
    for first in range(0, width, CHUNK):
        i = (first + tl.arange(0, CHUNK))[None, :]
        x = tl.load(logits + at + i, mask=i < width, other=0.0)
        total = total + fold(tl.where(i < width, exp(x - largest), 0.0), LEVELS)
    normaliser = log(total)
    for first in range(0, width, CHUNK):
        i = (first + tl.arange(0, CHUNK))[None, :]
        x = tl.load(logits + at + i, mask=i < width, other=0.0)
        tl.store(y + at + i, (x - largest) - normaliser, mask=i < width)


def log_softmax(logits: torch.Tensor) -> torch.Tensor:
    """Give the log-probabilities of each row of float32 `logits` [M, V]."""
    logits = logits.contiguous()
    rows, width = logits.shape
    y = torch.empty((rows, width), dtype=torch.float32, device=logits.device)
    chunk = min(WIDEST, power(width))
    launch(log_softmax_kernel, (rows,), logits, y, width, CHUNK=chunk, LEVELS=levels(chunk))
    return y
