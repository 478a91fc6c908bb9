"""At which small geometry a layout's certificate states its map.

The smallest that leaves nothing degenerate: every axis has an extent above 1 where the layout lets
it (unit axes, and the heads of a rank that holds one, are 1 by declaration), the last block is
partial, and there are three blocks, since with two a block of twice the size spans as many slots.
"""

from lockstep.layouts.declaration import Layout
from lockstep.layouts.geometry import Geometry

_HEADS = 2
_HEAD_DIM = 3
_LATENT_DIM = 3
_ROPE_DIM = 2
_LAYERS = 2
_TOKENS = 5
_FULL_BLOCKS = 2
_DTYPE = "float16"


def slice_geometry(layout: Layout) -> Geometry:
    """Choose the geometry of a lossless layout's certificate."""
    vector = max(tensor.x for tensor in layout.tensors)
    latent = layout.holds_latent
    return Geometry(
        tokens=_FULL_BLOCKS * layout.block + _TOKENS,
        layers=_LAYERS,
        kv_heads=layout.kv_heads or _heads(layout),
        head_dim=2 * vector or _HEAD_DIM,
        latent_dim=(2 * vector or _LATENT_DIM) if latent else 0,
        rope_dim=(3 * vector or _ROPE_DIM) if latent else 0,
        dtype=_DTYPE,
    )


def _heads(layout: Layout) -> int:
    """Choose heads of which a rank holds two, or that each have two copies or more."""
    if layout.rank_axis == "replicated":
        return next((n for n in range(2, layout.ranks) if layout.ranks % n == 0), 1)
    return _HEADS * (layout.ranks if layout.rank_axis == "sharded" else 1)
