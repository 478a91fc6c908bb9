"""Sampling: integer weights of logits [KERN-19], and the index that a point falls on [KERN-20]."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lockstep.engine.host.exp import exp

WEIGHT_OF_LARGEST = 1 << 30
"""The weight of a row's largest logit, at every temperature."""


def weights(logits: NDArray[np.float32], temperatures: Sequence[float]) -> NDArray[np.uint32]:
    """Give the weight of each of the finite `logits` [M, V] at its row's temperature."""
    divisors = np.asarray(temperatures, dtype=np.float32)[:, None]
    shifted = logits - logits.max(axis=-1, keepdims=True)
    # The product is exact, and the conversion discards the fraction.
    return (exp(shifted / divisors) * np.float32(WEIGHT_OF_LARGEST)).astype(np.uint32)


def draw(weight: NDArray[np.uint32], points: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Give the first index of each row whose cumulative weight exceeds the row's point."""
    # Integer sums are exact: 2^32 indices of weight below 2^31 stay below 2^63.
    cumulative = np.cumsum(weight, axis=-1, dtype=np.uint64)
    first: NDArray[np.int64] = (cumulative > points[:, None]).argmax(axis=-1).astype(np.int64)
    return first
