"""Where no exact conversion can exist, whatever is observed [HUNT-2]."""

from lockstep.layouts.declaration import Layout
from lockstep.layouts.geometry import Geometry
from lockstep.layouts.realise import is_realisable


def frontier_code(src: Layout, dst: Layout, geometry: Geometry) -> str | None:
    """Give the frontier code of a pair, None where a conversion may exist."""
    if src.attention != dst.attention:
        return "X1_LATENT_KV"
    if src.effective_heads(geometry) != dst.effective_heads(geometry):
        return "X2_HEAD_GATHER"
    realisable = is_realisable(src, geometry) and is_realisable(dst, geometry)
    if not realisable or src.holds_latent != dst.holds_latent:
        return "X4_GEOMETRY_UNREPRESENTABLE"
    return None
