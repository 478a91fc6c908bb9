"""Matrix products without BLAS [KERN-9]."""

import numpy as np
from numpy.typing import NDArray

from lockstep.engine.host.dot import dot


def pack(weight: NDArray[np.floating]) -> NDArray[np.float32]:
    """Lay a projection [N, K] out as [K, N], so that one k is one contiguous row."""
    return np.ascontiguousarray(weight.T, dtype=np.float32)


def matmul(x: NDArray[np.float32], packed: NDArray[np.float32]) -> NDArray[np.float32]:
    """Multiply `x` [M, K] with a packed projection [K, N]: [M, N], each entry a dot."""
    return dot(x, packed)
