"""Rotary position embedding, halves rotated [KERN-11]."""

import numpy as np
from numpy.typing import NDArray


def rope(
    x: NDArray[np.float32], cos: NDArray[np.float32], sin: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Rotate each head of `x` [M, H, D] by its row's `cos` and `sin` [M, D / 2]."""
    half = x.shape[-1] // 2
    first, second = x[..., :half], x[..., half:]
    c, s = cos[:, None], sin[:, None]
    result = np.empty_like(x)
    result[..., :half] = first * c - second * s
    result[..., half:] = second * c + first * s
    return result
