"""The backends by name; each is imported only when it is asked for."""

import importlib

from lockstep.engine.backend import Backend
from lockstep.errors import LockstepError

BACKENDS = {
    "host": ("lockstep.engine.backends.host", "HostBackend"),
    "triton": ("lockstep.engine.backends.triton", "TritonBackend"),
    "fast": ("lockstep.engine.backends.fast", "FastBackend"),
    "fast_torch": ("lockstep.engine.backends.fast", "FastTorchBackend"),
    "float64": ("lockstep.engine.backends.float64", "Float64Backend"),
    "padded_tiles": ("lockstep.engine.backends.padded_tiles", "PaddedTilesBackend"),
}
"""Module and class by name; the two `fast` are controls, `padded_tiles` is a planted defect."""


def open_backend(name: str, dtype: str | None = None) -> Backend:
    """Make a backend that computes in a dtype, or in its own default: float32, or float64.

    Raises:
        LockstepError: USAGE for a name that is none; LIBRARY_MISSING where its library is not
            installed; USAGE where it does not have the dtype.
    """
    if name not in BACKENDS:
        raise LockstepError("USAGE", "--backend", f"one of {', '.join(BACKENDS)}", name)
    module, kind = BACKENDS[name]
    factory = getattr(importlib.import_module(module), kind)
    backend: Backend = factory() if dtype is None else factory(dtype)
    return backend
