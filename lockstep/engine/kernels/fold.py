"""Sums of a row in a stated order [KERN-5]; that of `tl.sum` is the compiler's choice."""

import triton.language as tl

from lockstep.engine.kernels.launch import device


@device
def fold(x: tl.tensor, LEVELS: tl.constexpr) -> tl.tensor:
    """Sum `x` [lines, 2^LEVELS] by halves, the upper half added to the lower: [lines, 1]."""
    for _level in tl.static_range(LEVELS):
        halves = tl.reshape(x, (x.shape[0], 2, x.shape[1] // 2))
        lower, upper = tl.split(tl.permute(halves, (0, 2, 1)))
        x = lower + upper
    return x
