"""A made-up engine whose memory is that of a layout, filled by its index map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lockstep.certificate.statement import observation_subjects, statement
from lockstep.claims.layout_observation import predicate
from lockstep.layouts import catalogue
from lockstep.layouts.declaration import Layout
from lockstep.layouts.geometry import Geometry
from lockstep.layouts.index_map import canonical_to_native
from lockstep.layouts.realise import realise
from lockstep.observation.numbers import digits
from lockstep.observation.seen import Memory, SeenEngine, SeenLayout, SeenRun

GEOMETRY = Geometry(5, 2, 3, 4, 0, 0, "bfloat16")
PRODUCER = {"name": "p", "version": "1", "python": "3", "machine": "m", "command": "c"}
NUMPY = {"float16": "<f2", "float32": "<f4"}


def memory(layout: Layout, dtype: str, values: np.ndarray[Any, Any]) -> tuple[Memory, ...]:
    """Give the buffers that a layout without a layer axis has with these values."""
    one = realise(layout, replace(GEOMETRY, dtype=dtype))
    assert one is not None
    places = canonical_to_native(one, 0, one.canonical_elements)[:, 0]
    made = []
    for tensor in one.tensors:
        for layer in range(GEOMETRY.layers):
            whole = np.zeros(one.positions, dtype=np.float32)
            whole[places] = values[layer].reshape(-1)
            held = whole[tensor.base : tensor.base + tensor.positions]
            made.append(Memory(tensor.name, layer, tensor.shape, encoded(held, dtype)))
    return tuple(made)


def encoded(values: np.ndarray[Any, Any], dtype: str) -> bytes:
    if dtype == "bfloat16":
        return (values.view("<u4") >> 16).astype("<u2").tobytes()
    return values.astype(NUMPY[dtype]).tobytes()


def seen(
    declared: Layout, real: Layout | None = None, dtypes: Sequence[str] = ("bfloat16",)
) -> SeenLayout:
    """Give what is seen of an engine that is as `real`, held against a declaration."""
    values = digits(GEOMETRY)
    runs = [
        SeenRun(dtype, *(memory(real or declared, dtype, values[name]) for name in ("low", "high")))
        for dtype in dtypes
    ]
    return SeenLayout(declared, tuple(runs))


def observed(*observations: SeenLayout) -> dict[str, Any]:
    """Give the statement about a made-up engine."""
    engine = SeenEngine(
        "engine", "1.0", {"engine/cache.py": "0" * 64}, "write", GEOMETRY, observations,
        ("vllm/vllm-0.22-nhd",),
    )  # fmt: skip
    folded = predicate(engine, issued_at="2026-01-01T00:00:00Z", producer=PRODUCER)
    return statement("layout-observation", observation_subjects(folded), folded)


def layout(name: str, **changes: Any) -> Layout:
    return replace(catalogue.find(name), **changes)


def ordered(one: Layout, axes: str) -> Layout:
    """Give a layout with its tensors' axes in another order."""
    order = tuple(axes.split())
    return replace(one, tensors=tuple(replace(tensor, axes=order) for tensor in one.tensors))
