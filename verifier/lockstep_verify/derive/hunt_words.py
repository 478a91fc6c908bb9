"""What two declared layouts say of their pair: frontier code and words (HUNT-2, HUNT-4, HUNT-5)."""

from lockstep_verify.derive.layout import Layout, Tensor

_COARSE = {"T": "T", "Tb": "T", "H": "H", "D": "D", "Dg": "D"}
_PAIRS = {("Tb", "Ti"): "T", ("Dg", "Dx"): "D"}


def frontier_code(src: Layout, dst: Layout) -> str | None:
    """Give the reason why no exact map can exist, or None (HUNT-2)."""
    if src.attention != dst.attention:
        return "X1_LATENT_KV"
    if src.heads != dst.heads:
        return "X2_HEAD_GATHER"
    if not (src.realisable and dst.realisable) or src.latent != dst.latent:
        return "X4_GEOMETRY_UNREPRESENTABLE"
    return None


def words(src: Layout, dst: Layout) -> list[str]:
    """Give the sorted words in which two declarations differ (HUNT-4)."""
    shared = [name for name in src.tensor_of if name in dst.tensor_of]
    fired = {
        "reblock": src.block != dst.block,
        "requantize": src.quantisation != dst.quantisation,
        "rank_reshard": (src.ranks, src.rank_axis) != (dst.ranks, dst.rank_axis),
        "kv_split": _joins(src, dst, shared),
        "kv_merge": _joins(dst, src, shared),
    }
    found = {word for word, fires in fired.items() if fires}
    for name in shared:
        found |= _component_words(name, src, dst)
    return sorted(found)


def _joins(src: Layout, dst: Layout, shared: list[str]) -> bool:
    """Tell whether two shared components have one tensor in src and two in dst."""
    return any(
        src.tensor_of[a] is src.tensor_of[b] and dst.tensor_of[a] is not dst.tensor_of[b]
        for a in shared
        for b in shared
    )


def _component_words(name: str, src: Layout, dst: Layout) -> set[str]:
    """Give the words that fire for one component."""
    a, b = src.tensor_of[name], dst.tensor_of[name]
    axes = [_axes(name, a), _axes(name, b)]
    heads = _order(axes[0], "TH") != _order(axes[1], "TH")
    dims = name == "V" and _order(axes[0], "TD") != _order(axes[1], "TD")
    without = {"L"}
    if (len(a.names) > 1) != (len(b.names) > 1):
        without.add("KV")
    if (src.ranks > 1) != (dst.ranks > 1):
        without.add("R")
    fired = {
        "requantize": a.bits[name] != b.bits[name],
        "head_dim_vectorize": a.x != b.x and b.x > 0,
        "head_dim_devectorize": a.x != b.x and a.x > 0,
        "head_order_transpose": heads,
        "v_dim_transpose": dims,
        "axis_permute": not (heads or dims) and _fine(axes[0], without) != _fine(axes[1], without),
        "layer_axis": _before_layer(axes[0]) != _before_layer(axes[1]),
        "pitch": src.realisable and dst.realisable and _pitches(name, src) != _pitches(name, dst),
        "reserve": a.reserve * (src.block or 1) != b.reserve * (dst.block or 1),
    }
    return {word for word, fires in fired.items() if fires}


def _axes(name: str, tensor: Tensor) -> list[str]:
    """Give a component's axes, C opened and unit axes left out; L still stands."""
    joined = ["KV", "D"] if name in ("K", "V") else ["D"]
    axes: list[str] = []
    for axis in tensor.axes:
        axes += joined if axis == "C" else [axis]
    return [axis for axis in axes if axis != "1"]


def _order(axes: list[str], among: str) -> list[str]:
    """Give the coarse order of two axes."""
    return [_COARSE[axis] for axis in axes if _COARSE.get(axis, "-") in among]


def _fine(axes: list[str], without: set[str]) -> list[str]:
    """Give the fine order: adjacent factors read as one, then some axes left out."""
    fine: list[str] = []
    for axis in axes:
        if axis == "L":
            continue
        if fine and (fine[-1], axis) in _PAIRS:
            fine[-1] = _PAIRS[fine[-1], axis]
        else:
            fine.append(axis)
    return [axis for axis in fine if axis not in without]


def _before_layer(axes: list[str]) -> set[str]:
    """Give the coarse axes, and KV, that stand before L."""
    if "L" not in axes:
        return set()
    before = axes[: axes.index("L")]
    return {_COARSE.get(axis, axis) for axis in before if axis == "KV" or axis in _COARSE}


def _pitches(name: str, layout: Layout) -> tuple[int, int]:
    """Give the extents to which a component's tokens and head dimensions are padded."""
    tensor = layout.tensor_of[name]
    dim = layout.geometry.dims[name]
    tokens = tensor.padded("T", layout.geometry.tokens)
    return tokens, tensor.padded("D", 0) if "D" in tensor.axes else dim
