"""A backend that hands over bfloat16: the kernels of `host`, rounded to 8 bits between them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lockstep.engine.backend import Array
from lockstep.engine.backends.host import HostBackend
from lockstep.sampling.recast import bfloat16


class Bfloat16Backend(HostBackend):
    """Activations as bfloat16, held in float32, which they fit into; kernels compute in float32.

    NumPy has no bfloat16, so the dtype that it says is that of its arrays.
    """

    name = "host_bfloat16"

    def __init__(self) -> None:
        super().__init__("float32")

    def _round(self, values: NDArray[np.float32]) -> Array:
        """Round to bfloat16, once."""
        return bfloat16(values)
