"""The backends by name; each is imported only when it is asked for."""

import importlib

from lockstep.engine.backend import Backend
from lockstep.errors import LockstepError

BACKENDS = {
    "host": ("lockstep.engine.backends.host", "HostBackend"),
    "triton": ("lockstep.engine.backends.triton", "TritonBackend"),
    "fast": ("lockstep.engine.backends.fast", "FastBackend"),
    "float64": ("lockstep.engine.backends.float64", "Float64Backend"),
    "padded_tiles": ("lockstep.engine.backends.padded_tiles", "PaddedTilesBackend"),
}
"""Module and class by name. `fast` is the control and `padded_tiles` a planted defect."""


def open_backend(name: str, dtype: str = "float32") -> Backend:
    """Make a backend that computes in a dtype.

    Raises:
        LockstepError: USAGE for a name that is none; LIBRARY_MISSING where its library is not
            installed; KERNEL_INPUT where it does not have the dtype.
    """
    if name not in BACKENDS:
        raise LockstepError("USAGE", "--backend", f"one of {', '.join(BACKENDS)}", name)
    module, kind = BACKENDS[name]
    backend: Backend = getattr(importlib.import_module(module), kind)(dtype)
    return backend
