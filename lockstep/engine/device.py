"""The GPU that Triton compiles for, where there is one: its name, a wait for it, and its peaks."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

from lockstep.errors import LockstepError

COPIED_BYTES = 1 << 28
"""Of the copy that measures bandwidth: far more than a cache holds."""
PRODUCT = 4096
"""Rows and columns of the product that measures the rate of operations."""
RUNS = 10


@dataclass(frozen=True)
class Device:
    """A GPU, as this process reaches it.

    Attributes:
        name: as its driver calls it.
        synchronise: waits until it has done what it was given.
        bandwidth: bytes a second, read and written, of a copy.
        rate: operations a second, of a product in float32 by the device's own library.
    """

    name: str
    synchronise: Callable[[], None]
    bandwidth: float
    rate: float


def require_device() -> str:
    """Give the name of the GPU that the backend `triton` would use.

    Raises:
        LockstepError: LIBRARY_MISSING, torch or Triton is not installed; DEVICE_MISSING, there is
            no GPU, or TRITON_INTERPRET says that kernels are interpreted.
    """
    try:
        import torch
        import triton  # noqa: F401 - the kernels need it
    except ModuleNotFoundError as absent:
        raise LockstepError("LIBRARY_MISSING", "GPU", absent.name, "no such library") from None
    if os.environ.get("TRITON_INTERPRET", "0") not in ("", "0"):
        hint = "Start without TRITON_INTERPRET."
        raise LockstepError("DEVICE_MISSING", "GPU", "compiled kernels", "interpreted ones", hint)
    if not torch.cuda.is_available():
        hint = "`lockstep doctor` says what is here."
        raise LockstepError("DEVICE_MISSING", "GPU", "a GPU", f"torch {torch.__version__}", hint)
    return str(torch.cuda.get_device_name())


def open_device() -> Device:
    """Give the GPU with its measured peaks.

    Raises:
        LockstepError: as `require_device`.
    """
    name = require_device()
    import torch

    source = torch.empty(COPIED_BYTES, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    one = torch.ones(PRODUCT, PRODUCT, device="cuda")

    def spent(work: Callable[[], object]) -> float:
        work()
        times = []
        for _ in range(RUNS):
            torch.cuda.synchronize()
            started = time.perf_counter()
            work()
            torch.cuda.synchronize()
            times.append(time.perf_counter() - started)
        return statistics.median(times)

    bandwidth = 2 * COPIED_BYTES / spent(lambda: target.copy_(source))
    rate = 2 * PRODUCT**3 / spent(lambda: one @ one)
    return Device(name, torch.cuda.synchronize, bandwidth, rate)
