"""An engine's caches written and read, before anything is made of them [OBS-1, OBS-2]."""

from __future__ import annotations

import hashlib
import importlib
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, distribution
from types import ModuleType

from lockstep.errors import LockstepError
from lockstep.layouts import catalogue
from lockstep.layouts.geometry import Geometry
from lockstep.observation.numbers import digits, require_telling
from lockstep.observation.seen import Cache, SeenEngine, SeenLayout, SeenRun

ENGINES = ("transformers",)
"""Engines with a module in `engines`."""
GEOMETRY = Geometry(21, 2, 3, 8, 0, 0, "bfloat16")
"""Where nothing else is asked for: four extents that differ, and no multiple of a block."""


def observe(engine: str, geometry: Geometry = GEOMETRY) -> SeenEngine:
    """Have an engine write its caches, and read them.

    Args:
        engine: one of ENGINES.
        geometry: of the requests; its dtype is replaced by those of the engine's caches.

    Raises:
        LockstepError: USAGE; LIBRARY_MISSING where the engine is not installed; BAD_VALUE where
            the geometry tells two axes not apart.
    """
    if engine not in ENGINES:
        raise LockstepError("USAGE", "--engine", f"one of {', '.join(ENGINES)}", engine)
    require_telling(geometry)
    module = importlib.import_module(f"lockstep.observation.engines.{engine}")
    version, files = _identity(module)
    caches: tuple[Cache, ...] = module.CACHES
    first = replace(geometry, dtype=caches[0].dtypes[0])
    seen = tuple(
        SeenLayout(catalogue.find(cache.layout), _runs(module, cache, geometry)) for cache in caches
    )
    observed = {cache.layout for cache in caches}
    cited = tuple(name for name in catalogue.members() if name not in observed)
    return SeenEngine(module.NAME, version, files, module.WRITTEN_BY, first, seen, cited)


def _runs(module: ModuleType, cache: Cache, geometry: Geometry) -> tuple[SeenRun, ...]:
    values = digits(geometry)
    return tuple(
        SeenRun(
            dtype,
            *(module.write(cache.name, geometry, dtype, values[name]) for name in ("low", "high")),
        )
        for dtype in cache.dtypes
    )


def _identity(module: ModuleType) -> tuple[str, dict[str, str]]:
    """Give the version of an engine's distribution, and the digests of its cache's files."""
    try:
        found = distribution(module.DISTRIBUTION)
    except PackageNotFoundError:
        hint = f"Install it beside Lockstep: pip install {module.DISTRIBUTION}."
        raise LockstepError(
            "LIBRARY_MISSING", "--engine", module.DISTRIBUTION, "no such distribution", hint
        ) from None
    files = {}
    for path in module.FILES:
        data = found.locate_file(path).read_bytes()  # type: ignore[attr-defined]
        files[path] = hashlib.sha256(data).hexdigest()
    return found.version, files
