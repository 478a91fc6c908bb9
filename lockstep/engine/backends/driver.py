"""The version of the GPU's driver, asked of the driver's own library (NVML)."""

import ctypes

LIBRARY = "libnvidia-ml.so.1"
"""Comes with the driver; absent where there is none."""

_LONGEST = 80
"""NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE."""


def driver_version(library: str = LIBRARY) -> str | None:
    """Give the driver's version, such as `570.86.10`; None where no driver says one."""
    try:
        nvml = ctypes.CDLL(library)
    except OSError:
        return None
    text = ctypes.create_string_buffer(_LONGEST)
    if nvml.nvmlInit_v2() != 0:
        return None
    try:
        failed = nvml.nvmlSystemGetDriverVersion(text, ctypes.c_uint(_LONGEST))
    finally:
        nvml.nvmlShutdown()
    return None if failed else text.value.decode("ascii", "replace")
