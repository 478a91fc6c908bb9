"""Sums of a row in a stated order [KERN-5]."""

import numpy as np
from numpy.typing import NDArray

ROW_CHUNK = 1024
"""Terms that RMSNorm and log-softmax fold by halves at once."""


def fold(values: NDArray[np.float32], chunk: int = ROW_CHUNK) -> NDArray[np.float32]:
    """Sum the last axis of `values` [..., n], none of which is -0, in chunks: [...].

    Args:
        values: what is summed; n is at least 1.
        chunk: terms that are folded by halves, a power of two.
    """
    terms = values.shape[-1]
    # A narrower tree over fewer terms adds fewer zeros, and zeros change nothing.
    width = min(chunk, 1 << (terms - 1).bit_length())
    chunks = -(-terms // width)
    if chunks * width != terms:
        padded = np.zeros((*values.shape[:-1], chunks * width), dtype=np.float32)
        padded[..., :terms] = values
        values = padded
    values = values.reshape(*values.shape[:-1], chunks, width)
    while width > 1:
        width //= 2
        values = values[..., :width] + values[..., width:]
    total = np.zeros(values.shape[:-2], dtype=np.float32)
    for index in range(chunks):
        np.add(total, values[..., index, 0], out=total)
    return total
