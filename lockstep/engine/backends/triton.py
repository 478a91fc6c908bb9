"""The backend `triton`: the Triton kernels, on a GPU, or on a CPU in Triton's interpreter.

Where TRITON_INTERPRET=1 was set before the kernels were imported they are interpreted and arrays
are on the CPU; else they are compiled and arrays are on the GPU. Everything whose order could
matter is in the kernels; torch selects, copies, adds elementwise and rounds, no more.
"""

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lockstep.engine.backend import Array, Integers
from lockstep.engine.backends import inputs, machine
from lockstep.engine.backends.driver import driver_version
from lockstep.engine.memory import free_bytes
from lockstep.errors import LockstepError

try:
    import torch
    import triton

    from lockstep.engine.kernels import launch
    from lockstep.engine.kernels.attention import split_partials
    from lockstep.engine.kernels.combine import combine
    from lockstep.engine.kernels.log_softmax import log_softmax
    from lockstep.engine.kernels.matmul import matmul, matmul_kernel
    from lockstep.engine.kernels.rms_norm import rms_norm
    from lockstep.engine.kernels.rope import rope
    from lockstep.engine.kernels.swiglu import swiglu
except ModuleNotFoundError as absent:
    if (absent.name or "").partition(".")[0] == "lockstep":
        raise
    raise LockstepError(
        "LIBRARY_MISSING", "--backend triton", absent.name, "no such library"
    ) from None

_SETTINGS = (
    "TRITON_INTERPRET",
    "TRITON_DEFAULT_FP_FUSION",
    "TRITON_FORCE_DISABLE_FP_FUSION",
    "TRITON_F32_DEFAULT",
)
"""Variables of the environment that Triton reads and that could change bits."""


class TritonBackend:
    """Fixed tiles and orders, whatever the batch.

    Args:
        dtype: compute dtype, `float32` or `float16`.

    Raises:
        LockstepError: USAGE for another dtype; DEVICE_MISSING where there is neither a
            GPU nor the interpreter.
    """

    name = "triton"
    invariant = True

    def __init__(self, dtype: str = "float32") -> None:
        inputs.check_dtype(dtype, ("float32", "float16"))
        self.dtype = dtype
        self._type: torch.dtype = getattr(torch, dtype)
        self._interpreted = launch.interpreted(matmul_kernel)
        if not self._interpreted and not torch.cuda.is_available():
            raise LockstepError(
                "DEVICE_MISSING", "--backend triton", "a GPU, or TRITON_INTERPRET=1", "neither"
            )
        self._device = torch.device("cpu" if self._interpreted else "cuda")

    def array(self, values: NDArray[Any]) -> Array:
        """Copy a NumPy array to the device."""
        return torch.tensor(np.ascontiguousarray(values), device=self._device)

    def weight(self, values: NDArray[Any]) -> Array:
        """Copy a projection [N, K]; the kernel reads it as it is."""
        return self.array(values)

    def numpy(self, values: Array) -> NDArray[Any]:
        """Copy to NumPy."""
        if isinstance(values, np.ndarray):
            return values
        result: NDArray[Any] = values.cpu().numpy()
        return result

    def embed(self, table: Array, tokens: Integers) -> Array:
        """Select rows of the embedding [KERN-8]."""
        inputs.check_tokens(table.shape, tokens)
        return self._take(table)[self._indices(tokens)].to(self._type)

    def matmul(self, x: Array, w: Array) -> Array:
        """Multiply with a projection [KERN-9]."""
        return self._matmul(x, w, self._type)

    def logits(self, x: Array, w: Array) -> Array:
        """Multiply with a projection, unrounded [KERN-9]."""
        return self._matmul(x, w, torch.float32)

    def rms_norm(self, x: Array, weight: Array, eps: float) -> Array:
        """Normalise rows [KERN-10]."""
        inputs.check_rms_norm(x.shape, weight.shape)
        return rms_norm(self._take(x), self._take(weight), eps, self._type)

    def rope(self, x: Array, cos: Array, sin: Array) -> Array:
        """Rotate halves of heads [KERN-11]."""
        inputs.check_rope(x.shape, cos.shape, sin.shape)
        return rope(self._take(x), self._take(cos), self._take(sin), self._type)

    def swiglu(self, gate: Array, up: Array) -> Array:
        """Gate the feed-forward layer [KERN-13]."""
        inputs.check_same(gate.shape, up.shape, "/swiglu")
        return swiglu(self._take(gate), self._take(up), self._type)

    def add(self, x: Array, y: Array) -> Array:
        """Add residuals [KERN-8]."""
        inputs.check_same(x.shape, y.shape, "/add")
        one, other = self._take(x).float(), self._take(y).float()
        return (one + other).to(self._type)

    def new_cache(self, blocks: int, block_size: int, kv_heads: int, head_dim: int) -> Array:
        """Make a cache that holds not-a-numbers [KERN-21]."""
        shape = (blocks, block_size, kv_heads, head_dim)
        return torch.full(shape, float("nan"), dtype=self._type, device=self._device)

    def write(self, cache: Array, rows: Array, slots: Integers) -> None:
        """Write rows at distinct slots, in place [KERN-21]."""
        inputs.check_write(cache.shape, rows.shape, slots)
        cache.view(-1, *cache.shape[2:])[self._indices(slots)] = self._take(rows).to(self._type)

    def free_bytes(self) -> int | None:
        """Give the device's memory that is left, with what torch holds and does not use."""
        if self._interpreted:
            return free_bytes()
        free, _ = torch.cuda.mem_get_info(self._device)
        unused = torch.cuda.memory_reserved(self._device)
        unused -= torch.cuda.memory_allocated(self._device)
        return int(free) + int(unused)

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
        count = self.array(lengths.astype(np.int32))
        partials = split_partials(
            self._take(q),
            self._take(keys),
            self._take(values),
            self.array(tables.astype(np.int32)),
            count,
            int(lengths.max(initial=1)),
            float(np.float32(scale)),
        )
        return combine(partials, count, self._type)

    def log_softmax(self, logits: Array) -> Array:
        """Give log-probabilities [KERN-18]."""
        inputs.check_logits(logits.shape)
        return log_softmax(self._take(logits).float())

    def environment(self) -> dict[str, str]:
        """Tell torch, Triton, the device and its driver, and how the kernels are compiled."""
        return {
            "backend": self.name,
            "dtype": self.dtype,
            "kernels_sha256": machine.sources_digest(
                __name__, "lockstep.engine.kernels", "lockstep.engine.rope_tables"
            ),
            "torch": str(torch.__version__),
            "triton": str(triton.__version__),
            "triton_kernels": "interpreted" if self._interpreted else "compiled",
            **{f"triton_{name}": str(value) for name, value in sorted(launch.OPTIONS.items())},
            **{name.lower(): os.environ.get(name, "not set") for name in _SETTINGS},
            **self._describe_device(),
            **machine.describe(),
        }

    def binding(self) -> dict[str, str]:
        """Tell all of `environment`: compilers and devices change the bits [KERN-22]."""
        return self.environment()

    def _matmul(self, x: Array, w: Array, dtype: torch.dtype) -> torch.Tensor:
        inputs.check_matmul(x.shape, w.shape)
        return matmul(self._take(x), self._take(w), dtype)

    def _take(self, values: Array) -> torch.Tensor:
        """Give a tensor on the device; NumPy arrays are copied to it."""
        tensor: torch.Tensor = self.array(values) if isinstance(values, np.ndarray) else values
        return tensor

    def _indices(self, values: Integers) -> torch.Tensor:
        return torch.tensor(values.astype(np.int64), device=self._device)

    def _describe_device(self) -> dict[str, str]:
        """Tell the device that the tensors are on, by its own word."""
        if self._interpreted:
            return {"device": "cpu", "device_driver": "none", "device_cuda": "none"}
        properties = torch.cuda.get_device_properties(self._device)
        target = triton.runtime.driver.active.get_current_target()
        return {
            "device": properties.name,
            "device_capability": f"sm_{properties.major}{properties.minor}",
            "device_target": f"{target.backend} {target.arch}",
            "device_driver": driver_version() or machine.NOT_READ,
            "device_cuda": str(torch.version.cuda),
        }
