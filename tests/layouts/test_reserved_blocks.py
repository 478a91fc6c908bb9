"""Blocks behind reserved ones, which no declared layout has: map, inverse and steps agree."""

import numpy as np
import pytest

from lockstep.layouts.declaration import Citation, Component, Geometry, Layout, Tensor
from lockstep.layouts.index_map import canonical_to_native, native_to_canonical
from lockstep.layouts.realise import realise
from lockstep.layouts.steps import run, steps

TOKENS, BLOCK, HEADS, DIMS = 6, 4, 2, 3
GEOMETRY = Geometry(TOKENS, 1, HEADS, DIMS, 0, 0, "float16")


def layout(axes: str, reserve: int) -> Layout:
    """K and V in a tensor each, in blocks."""
    return Layout(
        name="reserved",
        engine="case",
        attention="gqa",
        kv_heads=0,
        ranks=1,
        rank_axis="none",
        block=BLOCK,
        quantisation="none",
        tensors=tuple(
            Tensor(name.lower(), (Component(name),), tuple(axes.split()), reserve=reserve)
            for name in ("K", "V")
        ),
        citation=Citation("a/b", "c", None, "case"),
        source_path="case.toml",
        source_sha256="0" * 64,
    )


@pytest.mark.parametrize("reserve", [1, 2])
@pytest.mark.parametrize("axes", ["Tb Ti H D", "Tb H Ti D", "H Tb Ti D", "Ti H D Tb"])
def test_reserved_blocks_come_first_in_map_inverse_and_steps(axes: str, reserve: int) -> None:
    declared = layout(axes, reserve)
    one = realise(declared, GEOMETRY)
    assert one is not None
    order = axes.split()
    extents = {"Tb": reserve + -(-TOKENS // BLOCK), "Ti": BLOCK, "H": HEADS, "D": DIMS}
    shape = tuple(extents[axis] for axis in order)
    flat = np.arange(np.prod(shape)).reshape(shape)
    canonical = np.arange(TOKENS * HEADS * DIMS).reshape(TOKENS, HEADS, DIMS)
    native = np.full(shape, -1)
    wanted = []
    for (t, h, d), index in np.ndenumerate(canonical):
        place = {"Tb": reserve + t // BLOCK, "Ti": t % BLOCK, "H": h, "D": d}
        at = tuple(place[axis] for axis in order)
        native[at] = index
        wanted.append(int(flat[at]))
    size = flat.size
    forward = canonical_to_native(one, 0, one.canonical_elements)[:, 0]
    assert forward.tolist() == [*wanted, *(size + slot for slot in wanted)]
    inverse = native_to_canonical(one, 0, one.positions)
    assert inverse[:size].tolist() == native.reshape(-1).tolist()
    empty = {name: np.full(shape, -1) for name in ("k", "v")}
    made = run(steps(declared, GEOMETRY), {"K": canonical, "V": canonical + canonical.size}, empty)
    assert np.array_equal(made["k"], native)
    assert np.array_equal(made["v"], np.where(native < 0, -1, native + canonical.size))
