"""At which small geometry a layout's certificate states its map.

Small, but degenerate nowhere: every axis has an extent above 1 where the layout lets it (unit axes,
and the heads of a rank that holds one, are 1 by declaration), the last block is partial, and there
are three blocks, since with two a block of twice the size spans as many slots. Where K and V are
stacked in small blocks, extents differ from one another too, so that none can stand for another;
larger blocks would make tables that nobody reads.
"""

from lockstep.layouts.declaration import Layout
from lockstep.layouts.geometry import Geometry

_SMALL_BLOCK = 16
"""Tokens of a block up to which extents differ from one another."""
_HEADS, _HEAD_DIM = 4, 5
_FEW_HEADS, _SHORT_HEAD_DIM = 2, 3
_HEADS_OF_A_RANK = 4
"""So that a rank's heads are neither as many as ranks, blocks, components nor dimensions."""
_LATENT_DIM, _ROPE_DIM = 3, 2
_VECTORS = 2
"""Vectors of a head dimension that is split."""
_LAYERS = 2
_TOKENS = 7
"""Tokens beyond the full blocks."""
_FULL_BLOCKS = 2
_DTYPE = "float16"


def slice_geometry(layout: Layout) -> Geometry:
    """Choose the geometry of a lossless layout's certificate."""
    vector = max(tensor.x for tensor in layout.tensors)
    stacked = any("KV" in tensor.opened for tensor in layout.tensors)
    small = stacked and layout.block <= _SMALL_BLOCK and layout.ranks == 1
    latent = layout.holds_latent
    return Geometry(
        tokens=_FULL_BLOCKS * layout.block + _TOKENS,
        layers=_LAYERS,
        kv_heads=layout.kv_heads or _heads(layout) or (_HEADS if small else _FEW_HEADS),
        head_dim=_VECTORS * vector or (_HEAD_DIM if small else _SHORT_HEAD_DIM),
        latent_dim=(_VECTORS * vector or _LATENT_DIM) if latent else 0,
        rope_dim=(_VECTORS * vector or _ROPE_DIM) if latent else 0,
        dtype=_DTYPE,
    )


def _heads(layout: Layout) -> int:
    """Choose heads that ranks share or copy, 0 where they do neither."""
    if layout.rank_axis == "sharded":
        return _HEADS_OF_A_RANK * layout.ranks
    if layout.rank_axis == "replicated":
        return next((n for n in range(2, layout.ranks) if layout.ranks % n == 0), 1)
    return 0
