"""The backend `host`: the kernels of spec/kernels.md in NumPy, the same bits on every CPU."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lockstep.engine import host, rope_tables
from lockstep.engine.backend import Array, Integers
from lockstep.engine.backends import inputs, machine, numpy_arrays
from lockstep.engine.backends.numpy_arrays import NumpyArrays
from lockstep.engine.host.attention import attention
from lockstep.engine.host.log_softmax import log_softmax
from lockstep.engine.host.matmul import matmul, pack
from lockstep.engine.host.rms_norm import rms_norm
from lockstep.engine.host.rope import rope
from lockstep.engine.host.swiglu import swiglu

SOURCES = (__name__, numpy_arrays.__name__, host.__name__, rope_tables.__name__)
"""The modules, and the package, in whose text the bits of a result lie [KERN-22]."""


class HostBackend(NumpyArrays):
    """All rules, row independence among them, by construction.

    NumPy's floating-point warnings are off: infinities and not-a-numbers are results here, as in
    [KERN-1], and they show in the logits.

    Args:
        dtype: compute dtype, `float32` or `float16`.

    Raises:
        LockstepError: USAGE for another dtype.
    """

    name = "host"
    invariant = True

    def __init__(self, dtype: str = "float32") -> None:
        super().__init__(dtype, ("float32", "float16"))

    def array(self, values: NDArray[Any]) -> Array:
        """Take a NumPy array as it is."""
        return values

    def weight(self, values: NDArray[Any]) -> Array:
        """Lay a projection [N, K] out as [K, N] in float32, which holds float16 exactly."""
        return pack(values)

    def embed(self, table: Array, tokens: Integers) -> Array:
        """Select rows of the embedding [KERN-8]."""
        inputs.check_tokens(table.shape, tokens)
        return self._round(_widen(table[tokens]))

    def matmul(self, x: Array, w: Array) -> Array:
        """Multiply with a projection [KERN-9]."""
        return self._round(self.logits(x, w))

    def logits(self, x: Array, w: Array) -> Array:
        """Multiply with a projection, unrounded [KERN-9]."""
        inputs.check_matmul(x.shape, w.shape[::-1])
        with np.errstate(all="ignore"):
            return matmul(_widen(x), w)

    def rms_norm(self, x: Array, weight: Array, eps: float) -> Array:
        """Normalise rows [KERN-10]."""
        inputs.check_rms_norm(x.shape, weight.shape)
        with np.errstate(all="ignore"):
            return self._round(rms_norm(_widen(x), _widen(weight), eps))

    def rope(self, x: Array, cos: Array, sin: Array) -> Array:
        """Rotate halves of heads [KERN-11]."""
        inputs.check_rope(x.shape, cos.shape, sin.shape)
        with np.errstate(all="ignore"):
            return self._round(rope(_widen(x), cos, sin))

    def swiglu(self, gate: Array, up: Array) -> Array:
        """Gate the feed-forward layer [KERN-13]."""
        inputs.check_same(gate.shape, up.shape, "/swiglu")
        with np.errstate(all="ignore"):
            return self._round(swiglu(_widen(gate), _widen(up)))

    def add(self, x: Array, y: Array) -> Array:
        """Add residuals [KERN-8]."""
        inputs.check_same(x.shape, y.shape, "/add")
        with np.errstate(all="ignore"):
            return self._round(_widen(x) + _widen(y))

    def attention(
        self,
        q: Array,
        keys: Array,
        values: Array,
        tables: Integers,
        lengths: Integers,
        scale: float,
    ) -> Array:
        """Attend over splits of positions [KERN-14 to 17]."""
        inputs.check_attention(q.shape, keys.shape, values.shape, tables, lengths)
        with np.errstate(all="ignore"):
            return self._round(attention(_widen(q), keys, values, tables, lengths, scale))

    def log_softmax(self, logits: Array) -> Array:
        """Give log-probabilities [KERN-18]."""
        inputs.check_logits(logits.shape)
        with np.errstate(all="ignore"):
            return log_softmax(logits)

    def environment(self) -> dict[str, str]:
        """Tell NumPy's version and levels, the BLAS that is loaded, and the kernels' digest."""
        return {**self.binding(), **machine.describe()}

    def binding(self) -> dict[str, str]:
        """Tell what the bits depend on: the kernels' sources and NumPy's version [KERN-22]."""
        return {
            "backend": self.name,
            "dtype": self.dtype,
            "numpy": np.__version__,
            "kernels_sha256": machine.sources_digest(*SOURCES),
        }

    def _round(self, values: NDArray[np.float32]) -> Array:
        """Round to the compute dtype, once [KERN-3]."""
        with np.errstate(all="ignore"):
            return values.astype(self._type, copy=False)


def _widen(values: Array) -> NDArray[np.float32]:
    """Widen to float32, exactly [KERN-3]."""
    result: NDArray[np.float32] = values.astype(np.float32, copy=False)
    return result
