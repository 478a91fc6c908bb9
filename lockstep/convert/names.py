"""Layouts as a user names them, and what their buffers look like to other libraries [CONV-11].

A reference is a declared layout's name, a file's path, or an engine's own name for one of its
layouts (`vllm:LBNHC`), with changes behind it: `vllm/vllm-0.22-nhd,block=24` or `…,ranks=4`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from lockstep.convert.buffers import Placement, side
from lockstep.errors import LockstepError
from lockstep.layouts import catalogue
from lockstep.layouts.declaration import Layout, layouts_root
from lockstep.layouts.geometry import Geometry, limit
from lockstep.layouts.realise import realise, row_major
from lockstep.layouts.toml_fields import read_toml

NAMES = "names.toml"
"""The engines' names, beside the declared layouts."""
CHANGES = ("block", "ranks")
"""What a reference may change of a declaration."""


def names() -> dict[str, str]:
    """Give each engine's name, as `engine:NAME`, with the declared layout that it means."""
    _, table = read_toml(layouts_root() / NAMES)
    return {
        f"{engine}:{name}": str(member)
        for engine, entries in table.items()
        for name, member in entries.items()
    }


def resolve(reference: str) -> Layout:
    """Give the layout that a reference names.

    Raises:
        LockstepError: USAGE where nothing has the name or a change is none; what
            `catalogue.find` raises; BAD_VALUE or BIJECTION_NOT_DERIVED where a change makes no
            layout.
    """
    name, *changes = reference.split(",")
    if ":" in name:
        known = names()
        if name not in known:
            engine = name.split(":")[0]
            like = [one for one in known if one.startswith(f"{engine}:")] or list(known)
            raise LockstepError("USAGE", reference, f"one of {', '.join(like)}", name)
        name = known[name]
    layout = catalogue.find(name)
    changed = dict(_change(reference, change) for change in changes)
    if "ranks" in changed and layout.rank_axis == "none":
        expected = "ranks of a layout that has a rank axis"
        raise LockstepError("USAGE", reference, expected, layout.name)
    if "block" in changed and not layout.block:
        raise LockstepError("USAGE", reference, "a block of a layout of blocks", layout.name)
    return replace(
        layout,
        block=changed.get("block", layout.block),
        ranks=changed.get("ranks", layout.ranks),
    )


def _change(reference: str, change: str) -> tuple[str, int]:
    name, _, number = change.partition("=")
    if name not in CHANGES or not (number.isascii() and number.isdecimal()):
        expected = " or ".join(f"{one}=NUMBER" for one in CHANGES)
        raise LockstepError("USAGE", reference, expected, change)
    value = int(number)
    if not 1 <= value <= limit(name):
        raise LockstepError("USAGE", reference, f"{name} from 1 to {limit(name)}", value)
    return name, value


class Strided(NamedTuple):
    """A buffer as DLPack and array libraries describe it.

    Attributes:
        name: of the tensor, with layer and rank where these lie apart.
        shape: extents of the axes as declared.
        strides: of these, in elements.
        bits: of an element.
        byte_offset: of the first element in the buffer.
    """

    name: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    bits: int
    byte_offset: int

    def document(self) -> dict[str, Any]:
        """Give the description as a document."""
        return {name: list(one) if isinstance(one, tuple) else one
                for name, one in self._asdict().items()}  # fmt: skip


def strided(layout: Layout, geometry: Geometry, placement: Placement) -> list[Strided]:
    """Describe a layout's buffers by shape and strides, for whoever takes DLPack's terms."""
    return [
        Strided(
            _name(one.tensor, one.layer, one.rank), one.shape, row_major(one.shape), one.bits, 0
        )
        for one in side(layout, geometry, placement, layout.name).buffers
    ]


def _name(tensor: str, layer: int | None, rank: int | None) -> str:
    return tensor + "".join(
        f".{word}{number}"
        for word, number in (("layer", layer), ("rank", rank))
        if number is not None
    )


def by_strides(
    geometry: Geometry, axes: str, shape: tuple[int, ...], strides: tuple[int, ...]
) -> list[str]:
    """List the declared layouts that a tensor with these axes, shape and strides can be.

    Axes are named, since a shape alone does not tell a layout: letters L, B, N, T, H, D, C and K
    for the axis of keys and values, in the order of `shape`, which need not be that of memory.

    Args:
        geometry: of the cache.
        axes: one letter an axis.
        shape: extents.
        strides: in elements, as DLPack's.

    Raises:
        LockstepError: USAGE where the letters are unknown or the lengths differ.
    """
    letters = {"L": "L", "B": "Tb", "N": "Ti", "T": "T", "H": "H", "D": "D", "C": "C", "K": "KV"}
    if not len(axes) == len(shape) == len(strides) or set(axes) - set(letters):
        expected = f"letters of {''.join(letters)}, as many extents and strides"
        raise LockstepError("USAGE", "--axes", expected, f"{axes}, {shape}, {strides}")
    seen = {letters[axis]: pair for axis, pair in zip(axes, zip(shape, strides, strict=True),
            strict=True) if pair[0] > 1}  # fmt: skip
    return [name for name in catalogue.members() if _fits(name, geometry, seen)]


def _fits(name: str, geometry: Geometry, seen: dict[str, tuple[int, int]]) -> bool:
    layout = catalogue.find(name)
    one = realise(layout, geometry)
    if one is None or one.replicas != 1:
        return False
    tensors = [
        {axis: (extent, stride) for axis, extent, stride in
         zip(tensor.axes, tensor.extents, tensor.strides, strict=True) if extent > 1}
        for tensor in one.tensors
    ]  # fmt: skip
    return all(axes == seen for axes in tensors)
