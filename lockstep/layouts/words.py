"""The words that sum up what a conversion between two layouts has to do [HUNT-4, HUNT-5]."""

from itertools import combinations

from lockstep.layouts.declaration import Layout, Tensor
from lockstep.layouts.geometry import Geometry
from lockstep.layouts.realise import is_realisable

Axes = tuple[str, ...]


def transformations(src: Layout, dst: Layout, geometry: Geometry) -> tuple[str, ...]:
    """Give the sorted words that fire for a pair, whatever its verdict [HUNT-4]."""
    words = set()
    if src.block != dst.block:
        words.add("reblock")
    if src.quantisation != dst.quantisation:
        words.add("requantize")
    if (src.ranks, src.rank_axis) != (dst.ranks, dst.rank_axis):
        words.add("rank_reshard")
    shared = [name for name in src.component_names if name in dst.component_names]
    for pair in combinations(shared, 2):
        joined = [_tensor(side, pair[0]) == _tensor(side, pair[1]) for side in (src, dst)]
        if joined[0] != joined[1]:
            words.add("kv_split" if joined[0] else "kv_merge")
    for name in shared:
        words |= _component_words(src, dst, geometry, name)
    return tuple(sorted(words))


def _component_words(src: Layout, dst: Layout, geometry: Geometry, name: str) -> set[str]:
    """Give the words that one component fires."""
    one, other = _tensor(src, name), _tensor(dst, name)
    words = set()
    if one.x != other.x:
        words |= {"head_dim_vectorize"} if other.x else set()
        words |= {"head_dim_devectorize"} if one.x else set()
    if _bits(src, one, name, geometry) != _bits(dst, other, name, geometry):
        words.add("requantize")
    coarse = [_coarse(_axes(tensor, name)) for tensor in (one, other)]
    order = {kept: [_only(axes, kept) for axes in coarse] for kept in ("TH", "TD")}
    transposed = set()
    if order["TH"][0] != order["TH"][1]:
        transposed.add("head_order_transpose")
    if name == "V" and order["TD"][0] != order["TD"][1]:
        transposed.add("v_dim_transpose")
    if not transposed and _fine(src, dst, name) != _fine(dst, src, name):
        words.add("axis_permute")
    if _before_layer(one, name) != _before_layer(other, name):
        words.add("layer_axis")
    if _reserve_slots(src, one) != _reserve_slots(dst, other):
        words.add("reserve")
    realisable = is_realisable(src, geometry) and is_realisable(dst, geometry)
    if realisable and _pitch(one, name, geometry) != _pitch(other, name, geometry):
        words.add("pitch")
    return words | transposed


def _tensor(layout: Layout, name: str) -> Tensor:
    """Give the tensor that holds a component."""
    return next(tensor for tensor in layout.tensors if name in tensor.component_names)


def _bits(layout: Layout, tensor: Tensor, name: str, geometry: Geometry) -> int:
    part = next(part for part in tensor.components if part.name == name)
    return layout.bits(part, geometry)


def _axes(tensor: Tensor, name: str) -> Axes:
    """Give the tensor's axes as the rules read them, the layer axis still among them."""
    joined = ("KV", "D") if name in ("K", "V") else ("D",)
    opened = [joined if axis == "C" else (axis,) for axis in tensor.opened if axis != "1"]
    return tuple(axis for group in opened for axis in group)


def _coarse(axes: Axes) -> Axes:
    """Read Tb as T and Dg as D, without Ti, Dx, KV, R and L."""
    read = {"Tb": "T", "Dg": "D"}
    dropped = ("Ti", "Dx", "KV", "R", "L")
    return tuple(read.get(axis, axis) for axis in axes if axis not in dropped)


def _only(axes: Axes, kept: str) -> Axes:
    return tuple(axis for axis in axes if axis in kept)


def _fine(side: Layout, against: Layout, name: str) -> Axes:
    """Contract adjacent factors; drop KV and R where just one side has them."""
    tensor = _tensor(side, name)
    axes = [axis for axis in _axes(tensor, name) if axis != "L"]
    for slow, fast, whole in (("Tb", "Ti", "T"), ("Dg", "Dx", "D")):
        for place in range(len(axes) - 1):
            if axes[place : place + 2] == [slow, fast]:
                axes[place : place + 2] = [whole]
                break
    dropped = set()
    if (len(tensor.components) > 1) != (len(_tensor(against, name).components) > 1):
        dropped.add("KV")
    if (side.ranks > 1) != (against.ranks > 1):
        dropped.add("R")
    return tuple(axis for axis in axes if axis not in dropped)


def _before_layer(tensor: Tensor, name: str) -> frozenset[str]:
    """Give the coarse axes and KV before the layer axis, none where there is no such axis."""
    axes = _axes(tensor, name)
    if "L" not in axes:
        return frozenset()
    before = axes[: axes.index("L")]
    return frozenset(_coarse(before)) | (frozenset({"KV"}) & frozenset(before))


def _reserve_slots(layout: Layout, tensor: Tensor) -> int:
    return tensor.reserve * (layout.block or 1)


def _pitch(tensor: Tensor, name: str, geometry: Geometry) -> tuple[int, int]:
    """Give the extents to which T and D are padded."""
    extents = [geometry.tokens, geometry.head_dim_of(name)]
    multiples = (tensor.pad_tokens or 1, tensor.pad_head_dim or 1)
    return (
        -(-extents[0] // multiples[0]) * multiples[0],
        -(-extents[1] // multiples[1]) * multiples[1],
    )
