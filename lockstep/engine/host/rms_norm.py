"""Root-mean-square normalisation [KERN-10]."""

import numpy as np
from numpy.typing import NDArray

from lockstep.engine.host.fold import fold


def rms_norm(
    x: NDArray[np.float32], weight: NDArray[np.float32], eps: float
) -> NDArray[np.float32]:
    """Normalise the last axis of `x` [..., D], times `weight` [D]."""
    mean = fold(x * x) / np.float32(x.shape[-1])
    gain = np.float32(1) / np.sqrt(mean + np.float32(eps))
    normalised: NDArray[np.float32] = (x * gain[..., None]) * weight
    return normalised
