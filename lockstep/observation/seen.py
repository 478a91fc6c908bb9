"""What was seen of an engine: its memory after its own code wrote numbers into it [OBS-2]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lockstep.layouts.declaration import Layout
from lockstep.layouts.geometry import Geometry


@dataclass(frozen=True)
class Cache:
    """A cache of an engine that is observed.

    Attributes:
        name: by which the engine's module knows it.
        layout: the declared layout that it is held against.
        dtypes: element types of its runs.
    """

    name: str
    layout: str
    dtypes: tuple[str, ...]


@dataclass(frozen=True)
class Memory:
    """One buffer of an engine.

    Attributes:
        tensor: its name in the declaration.
        layer: None where it holds all of them.
        extents: as the engine reports them, in memory's order.
        data: its bytes.
    """

    tensor: str
    layer: int | None
    extents: tuple[int, ...]
    data: bytes


Both = tuple[tuple[Memory, ...], tuple[Memory, ...]]
"""The buffers of one run: after the low digits, and after the high ones."""


def both_of(run: Mapping[str, Any]) -> Both:
    """Give the buffers of a run as a probe tells them.

    Args:
        run: `buffers`, each with tensor, layer and extents, and `held`, the bytes of each in hex
            after each of the two writings.
    """
    low, high = (
        tuple(
            Memory(one["tensor"], one["layer"], tuple(one["extents"]), bytes.fromhex(text))
            for one, text in zip(run["buffers"], held, strict=True)
        )
        for held in run["held"]
    )
    return low, high


@dataclass(frozen=True)
class SeenRun:
    """One element type: the buffers after the low digits, and after the high ones."""

    dtype: str
    low: tuple[Memory, ...]
    high: tuple[Memory, ...]


@dataclass(frozen=True)
class SeenLayout:
    """What was seen beside one declaration."""

    layout: Layout
    runs: tuple[SeenRun, ...]


@dataclass(frozen=True)
class SeenEngine:
    """All that was seen of an engine.

    Attributes:
        name: of the engine.
        version: of its distribution.
        files: digests of the files of its cache's code, by path within the distribution.
        written_by: the calls that wrote.
        geometry: of all runs; its dtype is the first run's.
        observations: one for each declaration.
        cited: declared layouts that nothing here holds against their own engine.
    """

    name: str
    version: str
    files: Mapping[str, str]
    written_by: str
    geometry: Geometry
    observations: tuple[SeenLayout, ...]
    cited: tuple[str, ...]
