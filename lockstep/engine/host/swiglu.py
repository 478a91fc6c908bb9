"""The gated activation of the feed-forward layer [KERN-13]."""

import numpy as np
from numpy.typing import NDArray

from lockstep.engine.host.exp import exp


def swiglu(gate: NDArray[np.float32], up: NDArray[np.float32]) -> NDArray[np.float32]:
    """Give `gate / (1 + exp(-gate)) * up`, elementwise."""
    return (gate / (np.float32(1) + exp(-gate))) * up
