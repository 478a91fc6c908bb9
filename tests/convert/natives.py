"""Buffers of a layout filled by its index map alone [LAY-7, LAY-13]."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from lockstep.convert.buffers import AS_DECLARED, side
from lockstep.layouts.declaration import Layout
from lockstep.layouts.geometry import Geometry
from lockstep.layouts.index_map import canonical_to_native
from lockstep.layouts.realise import Realised, RealisedTensor, realise

Bytes = NDArray[np.uint8]
UNTOUCHED = 0xEE


@cache
def _content(name: str, width: int, elements: int, layer: int) -> Bytes:
    """Give a component's elements: bytes that tell each from each, layer by layer."""
    seed = [*name.encode(), width, layer]
    return np.random.default_rng(seed).integers(0, 256, (elements, width), dtype=np.uint8)


def realised(layout: Layout, geometry: Geometry) -> Realised:
    found = realise(layout, geometry)
    assert found is not None
    return found


@cache
def native(layout: Layout, geometry: Geometry) -> list[Bytes]:
    """Give the layout's buffers, padding being UNTOUCHED; they are not to be written."""
    one = realised(layout, geometry)
    buffers = side(layout, geometry, AS_DECLARED, "").buffers
    made = [np.full(buffer.bytes, UNTOUCHED, dtype=np.uint8) for buffer in buffers]
    positions = canonical_to_native(one, 0, one.canonical_elements)
    for tensor, part in one.components:
        slots = positions[part.canonical_base : part.canonical_base + part.elements] - tensor.base
        width, slot = part.bits // 8, tensor.slot_bits // 8
        for layer in range(geometry.layers):
            content = _content(part.name, width, part.elements, layer)
            for replica in range(slots.shape[1]):
                whole = _with_layer(tensor, np.ascontiguousarray(slots[:, replica]), layer)
                mine = [
                    at for at, buffer in enumerate(buffers)
                    if buffer.tensor == tensor.name and buffer.layer in (None, layer)
                ]  # fmt: skip
                length = buffers[mine[0]].bytes
                starts = whole * slot
                for rank, at in enumerate(mine):
                    here = starts // length == rank
                    for byte in range(width):
                        made[at][starts[here] % length + byte] = content[here, byte]
    for one in made:
        one.flags.writeable = False
    return made


def _with_layer(tensor: RealisedTensor, slots: NDArray[np.int64], layer: int) -> NDArray[np.int64]:
    """Give slots that count the layer axis, from those of one layer [LAY-19]."""
    within = [1 if axis == "L" else extent
              for axis, extent in zip(tensor.axes, tensor.extents, strict=True)]  # fmt: skip
    digits = np.unravel_index(slots, within)
    whole = np.full(len(slots), layer * tensor.layer_stride, dtype=np.int64)
    for digit, stride in zip(digits, tensor.strides, strict=True):
        whole += digit * stride
    return whole
