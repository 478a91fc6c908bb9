"""Conversions between any two layouts of keys and values, at any sizes, against the index maps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import event, given, settings
from hypothesis import strategies as st

from lockstep.convert import kernels
from lockstep.convert.execute import convert
from lockstep.convert.plan import plan
from lockstep.errors import LockstepError
from lockstep.layouts import catalogue
from lockstep.layouts.declaration import Component, Layout, Tensor
from lockstep.layouts.geometry import Geometry
from tests.convert.natives import UNTOUCHED, native

BASE = catalogue.find("vllm/vllm-0.22-nhd")
ENGINES = ("numba", "numpy") if kernels.installed() else ("numpy",)
RANKS = ((1, "none"), (1, "none"), (2, "sharded"), (3, "sharded"), (6, "replicated"))

GEOMETRIES = st.builds(
    Geometry,
    tokens=st.integers(1, 49),
    layers=st.integers(1, 3),
    kv_heads=st.sampled_from((1, 2, 3, 4, 6)),
    head_dim=st.sampled_from((1, 2, 3, 4, 6, 8)),
    latent_dim=st.just(0),
    rope_dim=st.just(0),
    dtype=st.sampled_from(("float16", "float32")),
)


@st.composite
def tensors(
    draw: st.DrawFn, parts: tuple[Component, ...], block: int, ranks: int, layered: bool
) -> Tensor:
    """Give a tensor of these components: any axes in any order, padded and reserved anyhow."""
    x = draw(st.sampled_from((0, 0, 1, 2, 4)))
    joined = len(parts) == 2 and not x and draw(st.booleans())
    axes = ["H", *(("Tb", "Ti") if block else ("T",))]
    axes += ["Dg", "Dx"] if x else ["C"] if joined else ["D"]
    axes += ["KV"] * (len(parts) == 2 and not joined) + ["L"] * layered + ["R"] * (ranks > 1)
    order = draw(st.permutations(axes))
    return replace(
        BASE.tensors[0],
        name="".join(part.name for part in parts).lower(),
        components=parts,
        axes=tuple(order),
        x=x,
        pad_tokens=0 if block else draw(st.sampled_from((0, 7, 16))),
        pad_head_dim=0 if x or joined else draw(st.sampled_from((0, 5, 8))),
        reserve=draw(st.sampled_from((0, 1, 3))),
    )


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    """Give a declaration of keys and values, in one tensor or in two."""
    block = draw(st.sampled_from((0, 1, 2, 5, 16, 24)))
    ranks, axis = draw(st.sampled_from(RANKS))
    layered, keys, values = draw(st.booleans()), *BASE.tensors[0].components
    groups = draw(st.sampled_from((((keys, values),), ((keys,), (values,)))))
    made = tuple(draw(tensors(parts, block, ranks, layered)) for parts in groups)
    return replace(BASE, name="any", block=block, ranks=ranks, rank_axis=axis, tensors=made)


@settings(max_examples=80, deadline=None)
@given(layouts(), layouts(), GEOMETRIES)
def test_any_two_layouts_at_any_sizes(one: Layout, other: Layout, geometry: Geometry) -> None:
    try:
        made = plan(one, other, geometry)
    except LockstepError as fault:
        assert fault.code == "X4_GEOMETRY_UNREPRESENTABLE"
        event("not at this geometry")
        return
    wanted = native(other, geometry)
    for engine in ENGINES:
        found = [np.full_like(buffer, UNTOUCHED) for buffer in wanted]
        convert(made, native(one, geometry), found, threads=1, engine=engine)
        assert all(np.array_equal(got, due) for got, due in zip(found, wanted, strict=True))
