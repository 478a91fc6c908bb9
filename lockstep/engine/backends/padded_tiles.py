"""A planted defect: rows padded to tiles of 16, each tile multiplied by BLAS.

It looks careful: every product has the same shape, whatever the batch, and K is cut at fixed
places. It is not enough. BLAS kernels for AVX2 compute the rows of one tile in groups, and a
row's bits depend on which group it falls into; so they depend on the row's place, and a test
that leaves rows in place does not see it.
"""

import numpy as np

from lockstep.engine.backend import Array
from lockstep.engine.backends import inputs, machine
from lockstep.engine.backends.host import SOURCES, HostBackend

ROWS = 16
"""Rows of a tile."""

DEPTH = 32
"""Terms of K that one product takes."""


class PaddedTilesBackend(HostBackend):
    """The backend `host`, but for its matrix products.

    Args:
        dtype: compute dtype, `float32` or `float16`.
    """

    name = "padded_tiles"
    invariant = False

    def logits(self, x: Array, w: Array) -> Array:
        """Multiply tile by tile, each of [16, 32] by [32, N], K ascending."""
        inputs.check_matmul(x.shape, w.shape[::-1])
        rows, depth = x.shape
        tiles = -(-rows // ROWS)
        padded = np.zeros((tiles * ROWS, depth), dtype=np.float32)
        padded[:rows] = x
        padded = padded.reshape(tiles, ROWS, depth)
        total = np.zeros((tiles, ROWS, w.shape[1]), dtype=np.float32)
        with np.errstate(all="ignore"):
            for first in range(0, depth, DEPTH):
                part = padded[:, :, first : first + DEPTH]
                total += np.matmul(part, w[first : first + DEPTH])
        return total.reshape(tiles * ROWS, -1)[:rows]

    def binding(self) -> dict[str, str]:
        """Tell everything: BLAS and its kernel change the bits."""
        sources = machine.sources_digest(__name__, *SOURCES)
        own = {"backend": self.name, "dtype": self.dtype, "kernels_sha256": sources}
        return {**own, **machine.describe()}
