"""What the backends in NumPy share: their arrays, and caches of keys and values [KERN-21]."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lockstep.engine.backend import Array, Integers
from lockstep.engine.backends import inputs
from lockstep.engine.memory import free_bytes


class NumpyArrays:
    """Arrays of a backend that computes in NumPy.

    Args:
        dtype: compute dtype, by NumPy's name.
        allowed: the compute dtypes that the backend has, its default first.

    Raises:
        LockstepError: USAGE for a dtype that is none of them.
    """

    def __init__(self, dtype: str, allowed: tuple[str, ...]) -> None:
        inputs.check_dtype(dtype, allowed)
        self.dtype = dtype
        self._type = np.dtype(dtype)

    def numpy(self, values: Array) -> NDArray[Any]:
        """Give the array itself."""
        result: NDArray[Any] = values
        return result

    def new_cache(self, blocks: int, block_size: int, kv_heads: int, head_dim: int) -> Array:
        """Make a cache that holds not-a-numbers."""
        return np.full((blocks, block_size, kv_heads, head_dim), np.nan, dtype=self._type)

    def write(self, cache: Array, rows: Array, slots: Integers) -> None:
        """Write rows at distinct slots, in place."""
        inputs.check_write(cache.shape, rows.shape, slots)
        cache.reshape(-1, *cache.shape[2:])[slots] = rows

    def free_bytes(self) -> int | None:
        """Give the machine's memory that this process may still take."""
        return free_bytes()
