"""The gated activation of the feed-forward layer [KERN-13]."""

import torch
import triton.language as tl

from lockstep.engine.kernels.exp import exp
from lockstep.engine.kernels.launch import ceiling, kernel, launch

ELEMENTS = 1024
"""Elements of one program instance."""


@kernel()
def swiglu_kernel(
    gate: tl.tensor,
    up: tl.tensor,
    y: tl.tensor,
    count: tl.tensor,
    ELEMENTS: tl.constexpr,
) -> None:
    """Compute ELEMENTS of y; each depends on its own gate and up alone."""
    i = tl.program_id(0).to(tl.int64) * ELEMENTS + tl.arange(0, ELEMENTS)
    inside = i < count
    g = tl.load(gate + i, mask=inside, other=0.0).to(tl.float32)
    u = tl.load(up + i, mask=inside, other=0.0).to(tl.float32)
    result = tl.div_rn(g, exp(-g) + 1.0) * u
    tl.store(y + i, result.to(y.dtype.element_ty), mask=inside)


def swiglu(gate: torch.Tensor, up: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Give `gate / (1 + exp(-gate)) * up`, elementwise, rounded to `dtype`."""
    gate, up = gate.contiguous(), up.contiguous()
    y = torch.empty(gate.shape, dtype=dtype, device=gate.device)
    grid = (ceiling(gate.numel(), ELEMENTS),)
    launch(swiglu_kernel, grid, gate, up, y, gate.numel(), ELEMENTS=ELEMENTS)
    return y
