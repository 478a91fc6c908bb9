"""Small layouts made up here, on which checks and known limits are executed.

They are of no engine; their geometry has distinct extents above 1 and a last block that is not
full, so that no two orders of axes agree by chance.
"""

from __future__ import annotations

from lockstep.hunt.native import Cache
from lockstep.hunt.reference import reference_tokens
from lockstep.hunt.transfer import Bench, Model
from lockstep.layouts.declaration import Citation, Component, Layout, Tensor
from lockstep.layouts.geometry import Geometry
from lockstep.layouts.realise import realise

GEOMETRY = Geometry(10, 2, 3, 8, 0, 0, "float16")
SEED = 4


def made_up(name: str, *axes: tuple[str, ...], block: int = 0, x: int = 0) -> Layout:
    """Declare a layout: K and V in one tensor for one list of axes, apart for two."""
    parts = ("K", "V")
    if len(axes) == 1:
        tensors: tuple[Tensor, ...] = (
            Tensor("kv", tuple(Component(part) for part in parts), axes[0]),
        )
    else:
        tensors = tuple(
            Tensor(part.lower(), (Component(part),), own, x=x if "Dx" in own else 0)
            for part, own in zip(parts, axes, strict=True)
        )
    citation = Citation("none/none", "none", None, "Made up.")
    return Layout(
        name, "none", "gqa", 0, 1, "none", block, "none", tensors, citation, "none", "0" * 64
    )


TOKEN_MAJOR = made_up("token-major", ("T", "H", "D"), ("T", "H", "D"))
HEAD_MAJOR = made_up("head-major", ("H", "T", "D"), ("H", "T", "D"))
BLOCKED = made_up("blocked", ("Tb", "KV", "Ti", "H", "D"), block=4)
VECTORISED = made_up(
    "vectorised", ("Tb", "H", "Dg", "Ti", "Dx"), ("Tb", "H", "D", "Ti"), block=4, x=4
)
ALL = (TOKEN_MAJOR, HEAD_MAJOR, BLOCKED, VECTORISED)


def cache(layout: Layout, geometry: Geometry = GEOMETRY) -> Cache:
    """Realise a layout that exists at the geometry."""
    realised = realise(layout, geometry)
    if realised is None:
        raise ValueError(f"{layout.name} does not exist at the geometry")
    return Cache(realised)


def bench(zero_tail: bool = False) -> Bench:
    """Give a bench with the contents of every layer."""
    return Bench(GEOMETRY, tuple(range(GEOMETRY.layers)), SEED, zero_tail)


def model(contents: Bench, weights_seed: int = SEED) -> Model:
    """Decode the reference of a bench."""
    return Model(weights_seed, reference_tokens(contents, cache(TOKEN_MAJOR), weights_seed))
