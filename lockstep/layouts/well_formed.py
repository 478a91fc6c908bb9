"""What makes a declaration well formed [LAY-8, LAY-9]."""

from typing import TYPE_CHECKING

from lockstep.errors import LockstepError
from lockstep.layouts.geometry import COMPONENT_ORDER, COMPONENT_SETS

if TYPE_CHECKING:
    from lockstep.layouts.declaration import Layout, Tensor


def check(layout: "Layout") -> None:
    """Refuse a declaration that [LAY-8] or [LAY-9] refuses.

    Raises:
        LockstepError: BIJECTION_NOT_DERIVED at the tensor or the layout, or
            COVERAGE_DENOMINATOR_NOT_DERIVED at a component's bits; the first offence.
    """
    for index, tensor in enumerate(layout.tensors):
        offence = _tensor_offence(layout, tensor)
        if offence:
            _refuse(layout, f"/tensors/{index}", offence)
    offence = _layout_offence(layout)
    if offence:
        _refuse(layout, "", offence)
    for index, tensor in enumerate(layout.tensors):
        for place, part in enumerate(tensor.components):
            if (part.bits is None) != (layout.quantisation == "none"):
                raise LockstepError(
                    "COVERAGE_DENOMINATOR_NOT_DERIVED",
                    f"{layout.source_path}:/tensors/{index}/components/{place}/bits",
                    "bits exactly when quantisation is not none",
                    part.bits,
                    "State bits for a quantised component, and none for one of the dtype.",
                )


def _refuse(layout: "Layout", place: str, offence: str) -> None:
    raise LockstepError(
        "BIJECTION_NOT_DERIVED",
        f"{layout.source_path}:{place}",
        offence,
        None,
        "Correct the axes or the numbers beside them by [LAY-8] of spec/layout.md.",
    )


def _tensor_offence(layout: "Layout", tensor: "Tensor") -> str | None:
    """Give the rule of [LAY-8] that a tensor breaks, or None."""
    axes = [axis for axis in tensor.opened if axis != "1"]
    held = set(axes)
    names = tensor.component_names
    many = len(names) > 1
    heads = all(name in ("K", "V") for name in names)
    token_axes = held & {"T", "Tb", "Ti"}
    dim_axes = held & {"D", "Dg", "Dx", "C"}
    widths = {part.bits for part in tensor.components}
    rules = (
        (len(axes) == len(held), "no axis twice in a tensor"),
        (
            token_axes == ({"Tb", "Ti"} if layout.block else {"T"}),
            "Tb and Ti when block is above 0, T when it is 0",
        ),
        (
            dim_axes in (({"Dg", "Dx"},) if tensor.x else ({"D"}, {"C"})),
            "Dg and Dx when x is above 0, one of D and C when it is 0",
        ),
        (("H" in held) == heads, "H exactly where the components are K or V"),
        (("R" in held) == (layout.ranks > 1), "R exactly when ranks is above 1"),
        (
            ("KV" in held) == (many and "C" not in held),
            "KV exactly where two or more components are not joined by C",
        ),
        (many or "C" not in held, "C only with two or more components"),
        ("C" in held or len(widths) == 1, "components of one width, unless joined by C"),
        (tensor.pad_tokens == 0 or "T" in held, "pad_tokens only with T"),
        (tensor.pad_head_dim == 0 or "D" in held, "pad_head_dim only with D"),
    )
    return next((rule for kept, rule in rules if not kept), None)


def _layout_offence(layout: "Layout") -> str | None:
    """Give the rule over all tensors of [LAY-8] that a layout breaks, or None."""
    names = [name for tensor in layout.tensors for name in tensor.component_names]
    firsts = [COMPONENT_ORDER.index(tensor.component_names[0]) for tensor in layout.tensors]
    with_layer = {"L" in tensor.opened for tensor in layout.tensors}
    inner = all(
        list(tensor.component_names) == sorted(tensor.component_names, key=COMPONENT_ORDER.index)
        for tensor in layout.tensors
    )
    rules = (
        (len(names) == len(set(names)), "each component in one tensor"),
        (
            len({tensor.name for tensor in layout.tensors}) == len(layout.tensors),
            "tensors of different names",
        ),
        (inner and firsts == sorted(firsts), "components and tensors in the order of [LAY-2]"),
        (
            layout.component_names in COMPONENT_SETS,
            "components K and V, or latent and rope with or without scale",
        ),
        (
            "scale" not in names or layout.quantisation != "none",
            "scale only where quantisation is not none",
        ),
        (len(with_layer) == 1, "L in every tensor or in none"),
        (
            (layout.rank_axis == "none") == (layout.ranks == 1),
            "rank_axis none exactly when ranks is 1",
        ),
    )
    return next((rule for kept, rule in rules if not kept), None)
