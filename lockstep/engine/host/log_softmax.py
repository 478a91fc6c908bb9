"""Log-probabilities of logits [KERN-18]."""

import numpy as np
from numpy.typing import NDArray

from lockstep.engine.host.exp import exp
from lockstep.engine.host.fold import fold
from lockstep.engine.host.log import log


def log_softmax(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    """Give the log-probabilities of each row of `logits` [M, V]."""
    # A maximum is the same in any order.
    shifted = logits - logits.max(axis=-1, keepdims=True)
    normalised: NDArray[np.float32] = shifted - log(fold(exp(shifted)))[:, None]
    return normalised
