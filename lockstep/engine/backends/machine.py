"""What computes here: read back from the running process, not from what was asked for."""

import ctypes
import hashlib
import importlib.util
import platform
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

_OPENBLAS_CORE_NAMES = (
    "scipy_openblas_get_corename64_",
    "scipy_openblas_get_corename",
    "openblas_get_corename64_",
    "openblas_get_corename",
)
_OPENBLAS_THREADS = (
    "scipy_openblas_get_num_threads64_",
    "scipy_openblas_get_num_threads",
    "openblas_get_num_threads64_",
    "openblas_get_num_threads",
)
NOT_READ = "not read"
"""In place of a setting that this process gives no way to read."""


def describe() -> dict[str, str]:
    """Tell the machine, NumPy's vector instructions in use, and the BLAS and its kernel.

    Keys: `machine`, `numpy`, `numpy_simd`, `blas`, `blas_kernel`, `blas_threads`, `subnormals`.
    """
    configuration: dict[str, Any] = np.show_config(mode="dicts")  # type: ignore[assignment]
    blas = configuration["Build Dependencies"]["blas"]
    simd = configuration["SIMD Extensions"]
    return {
        "machine": f"{platform.system()} {platform.machine()}",
        "numpy": np.__version__,
        "numpy_simd": " ".join([*simd.get("baseline", ()), *simd.get("found", ())]) or "none",
        "blas": f"{blas['name']} {blas['version']}",
        "blas_kernel": blas_kernel(),
        "blas_threads": str(_ask(_OPENBLAS_THREADS, ctypes.c_int) or NOT_READ),
        "subnormals": "kept" if subnormals_kept() else "flushed",
    }


def blas_kernel() -> str:
    """Tell which kernels NumPy's OpenBLAS chose for this CPU, by its own word."""
    name = _ask(_OPENBLAS_CORE_NAMES, ctypes.c_char_p)
    return name.decode("ascii", "replace") if isinstance(name, bytes) else NOT_READ


def subnormals_kept() -> bool:
    """Tell whether this thread computes with subnormal numbers, as [KERN-1] asks."""
    return bool(np.full(1, 2.0**-126, dtype=np.float32)[0] * np.float32(0.5) > 0)


def _ask(names: tuple[str, ...], kind: Any) -> Any:
    """Call the first of these functions that the loaded OpenBLAS has; None where there is none."""
    for path in _openblas():
        library = ctypes.CDLL(str(path))
        for name in names:
            function = getattr(library, name, None)
            if function is not None:
                function.restype = kind
                return function()
    return None


@cache
def _openblas() -> tuple[Path, ...]:
    """Give the OpenBLAS libraries that came with NumPy; opening one again gives the loaded one."""
    package = Path(np.__file__).resolve().parent
    folders = (package.parent / "numpy.libs", package / ".dylibs")
    return tuple(path for folder in folders for path in sorted(folder.glob("*openblas*")))


@cache
def sources_digest(*modules: str) -> str:
    """Give the SHA-256 over the sources of modules and of packages' modules, by name and bytes."""
    digest = hashlib.sha256()
    for module in modules:
        found = importlib.util.find_spec(module)
        if found is None or found.origin is None:
            raise ModuleNotFoundError(module, name=module)
        origin = Path(found.origin)
        paths = sorted(origin.parent.glob("*.py")) if origin.name == "__init__.py" else [origin]
        for path in paths:
            content = path.read_bytes()
            digest.update(f"{module}/{path.name}\0{len(content)}\0".encode())
            digest.update(content)
    return digest.hexdigest()
