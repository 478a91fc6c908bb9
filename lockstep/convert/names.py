"""Layouts as a user names them, and what their buffers look like to other libraries [CONV-11].

A reference is a declared layout's name, a file's path, or an engine's own name for one of its
layouts (`vllm:LBNHC`), with changes behind it: `vllm/vllm-0.22-nhd,block=24` or `…,ranks=4`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any, NamedTuple

from lockstep.convert.buffers import Placement, ranks_apart, side
from lockstep.errors import LockstepError
from lockstep.layouts import catalogue
from lockstep.layouts.declaration import Layout, layouts_root
from lockstep.layouts.geometry import Geometry, limit
from lockstep.layouts.realise import RealisedTensor, realise, row_major
from lockstep.layouts.toml_fields import read_toml

NAMES = "names.toml"
"""The engines' names, beside the declared layouts."""
LETTERS = {
    "1": "1", "L": "L", "B": "Tb", "N": "Ti", "T": "T", "H": "H", "D": "D", "G": "Dg", "X": "Dx",
    "C": "C", "K": "KV", "R": "R",
}  # fmt: skip
"""How the axes of [LAY-7] are written where shapes and strides are given and taken."""
AXIS = re.compile(rf"[{''.join(LETTERS)}]|\([{''.join(LETTERS)}]{{2,}}\)")
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
            hint = "`lockstep layouts list` gives the layouts that have no engine's name."
            raise LockstepError("USAGE", reference, f"one of {', '.join(like)}", name, hint)
        name = known[name]
    layout = catalogue.find(name)
    changed = dict(_change(reference, change) for change in changes)
    if "ranks" in changed and layout.rank_axis == "none":
        expected = "ranks of a layout that has a rank axis"
        hint = "`lockstep layouts list` shows that axis as R."
        raise LockstepError("USAGE", reference, expected, layout.name, hint)
    if "block" in changed and not layout.block:
        raise LockstepError("USAGE", reference, "a block of a layout of blocks", layout.name)
    if len(changed) < len(changes):
        raise LockstepError("USAGE", reference, "each change once", ",".join(changes))
    if changed.get("ranks") == 1:
        layout = _joined(layout)
    return replace(
        layout,
        block=changed.get("block", layout.block),
        ranks=changed.get("ranks", layout.ranks),
    )


def _joined(layout: Layout) -> Layout:
    """Give a layout of ranks as one rank alone has it: without their axis."""
    tensors = []
    for tensor in layout.tensors:
        groups = (_without_rank(group) for group in tensor.axes)
        tensors.append(replace(tensor, axes=tuple(group for group in groups if group)))
    return replace(layout, tensors=tuple(tensors), ranks=1, rank_axis="none")


def _without_rank(group: str) -> str:
    kept = [axis for axis in group.strip("()").split() if axis != "R"]
    return f"({' '.join(kept)})" if len(kept) > 1 else "".join(kept)


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
        axes: of the shape, as `by_strides` reads them.
        shape: extents of the axes as declared.
        strides: of these, in elements.
        bits: of an element.
        byte_offset: of the first element in the buffer.
    """

    name: str
    axes: str
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
    axes = {tensor.name: tensor.axes for tensor in layout.tensors}
    return [
        Strided(
            _name(one.tensor, one.layer, one.rank),
            _written(axes[one.tensor], apart=one.rank is not None),
            one.shape, row_major(one.shape), one.bits, 0,
        )
        for one in side(layout, geometry, placement, layout.name).buffers
    ]  # fmt: skip


def _name(tensor: str, layer: int | None, rank: int | None) -> str:
    return tensor + "".join(
        f".{word}{number}"
        for word, number in (("layer", layer), ("rank", rank))
        if number is not None
    )


def _written(axes: Sequence[str], apart: bool) -> str:
    """Write axes by their letters, groups in brackets."""
    letters = {token: letter for letter, token in LETTERS.items()}
    groups = [group for group in axes if not (apart and group == "R")]
    return "".join(
        group[0] * ("(" in group)
        + "".join(letters[token] for token in group.strip("()").split())
        + group[-1] * ("(" in group)
        for group in groups
    )


def by_strides(
    geometry: Geometry, axes: str, shape: tuple[int, ...], strides: tuple[int, ...]
) -> list[str]:
    """List the declared layouts of which a tensor with these axes, shape and strides can be one.

    Axes are named, since a shape alone does not tell a layout: one of LETTERS each, or several in
    brackets where one axis of the shape holds them, in the order of `shape`, which need not be
    that of memory.

    Args:
        geometry: of the cache.
        axes: as `KLT(HD)`.
        shape: extents.
        strides: in elements, as DLPack's.

    Raises:
        LockstepError: USAGE where letters are unknown or stand twice, or the lengths differ.
    """
    groups = [tuple(LETTERS[letter] for letter in group.strip("()"))
              for group in AXIS.findall(axes)]  # fmt: skip
    named = [axis for group in groups for axis in group if axis != "1"]
    whole = AXIS.sub("", axes) == "" and len(set(named)) == len(named)
    if not whole or not len(groups) == len(shape) == len(strides):
        expected = f"letters of {''.join(LETTERS)}, each once, as many extents and strides"
        raise LockstepError("USAGE", "--axes", expected, f"{axes}, {shape}, {strides}")
    seen = list(zip(groups, shape, strides, strict=True))
    return [
        name for name in catalogue.members()
        if (one := realise(catalogue.find(name), geometry)) is not None
        and any(_fits(_buffer_axes(tensor), seen) for tensor in one.tensors)
    ]  # fmt: skip


def _buffer_axes(tensor: RealisedTensor) -> dict[str, tuple[int, int]]:
    """Give extent and stride of each axis of a tensor's buffers."""
    apart = ranks_apart(tensor)
    extents = tuple(1 if apart and axis == "R" else extent
                    for axis, extent in zip(tensor.axes, tensor.extents, strict=True))  # fmt: skip
    return dict(zip(tensor.axes, zip(extents, row_major(extents), strict=True), strict=True))


def _fits(
    axes: dict[str, tuple[int, int]], seen: Sequence[tuple[tuple[str, ...], int, int]]
) -> bool:
    """Whether a buffer's axes of more than one element are those that were seen."""
    for group, extent, stride in seen:
        members = [axes[axis] for axis in group if axes.get(axis, (1, 0))[0] > 1]
        if prod(count for count, _ in members) != extent:
            return False
        due = stride
        for count, step in reversed(members):
            if step != due:
                return False
            due = step * count
    named = {axis for group, _, _ in seen for axis in group}
    return all(count == 1 or axis in named for axis, (count, _) in axes.items())
