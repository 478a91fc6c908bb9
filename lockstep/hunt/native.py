"""One layer of a cache in a layout's native tensors: written by steps, written and read by index.

Writing by steps reshapes and exchanges whole arrays ([LAY-20]); writing and reading by index use
the index map alone. Which of its slots are padding comes from the inverse map.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lockstep import limits
from lockstep.hunt.payloads import Bits, fill
from lockstep.hunt.probe import Positions, chunks, forward_map
from lockstep.layouts.index_map import native_to_canonical
from lockstep.layouts.realise import Realised, RealisedComponent, RealisedTensor
from lockstep.layouts.steps import Step, run, steps

Arrays = dict[str, NDArray[Any]]
"""Native arrays by tensor name, or canonical ones by component, of one layer."""


@dataclass(frozen=True)
class Cache:
    """A realised layout together with what moving its contents needs."""

    realised: Realised

    @property
    def name(self) -> str:
        """The layout's name."""
        return self.realised.layout.name

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The steps from the canonical arrays to the native ones."""
        return steps(self.realised.layout, self.realised.geometry)

    @cached_property
    def undo(self) -> tuple[Step, ...]:
        """The steps from the native arrays to the canonical ones."""
        return tuple(step.inverse for step in reversed(self.steps))

    @cached_property
    def padding(self) -> dict[str, NDArray[np.int64]]:
        """The padding slots of each tensor, in its own row-major order."""
        found: list[NDArray[np.int64]] = [np.empty(0, dtype=np.int64)]
        if self.realised.padding_positions:
            for start, stop in chunks(self.realised.positions):
                held = native_to_canonical(self.realised, start, stop)
                found.append(np.flatnonzero(held < 0) + start)
        slots = np.concatenate(found)
        return {
            tensor.name: slots[(slots >= tensor.base) & (slots < tensor.base + tensor.positions)]
            - tensor.base
            for tensor in self.realised.tensors
        }

    @cached_property
    def bits(self) -> dict[str, int]:
        """The element width of each component, in bits."""
        return {part.name: part.bits for _, part in self.realised.components}

    def index(self) -> Positions:
        """Tabulate the index map; of a large layer it is made anew, being larger than the cache."""
        if self.realised.canonical_elements <= limits.PAIR_WALK_ELEMENTS:
            return self._index
        return forward_map(self.realised)

    @cached_property
    def _index(self) -> Positions:
        return forward_map(self.realised)


def canonical_shape(part: RealisedComponent) -> tuple[int, ...]:
    """Give the shape of a component's canonical array, D counted in elements."""
    if part.name in ("K", "V"):
        return (part.tokens, part.heads, part.head_dim)
    return (part.tokens, part.head_dim)


def native_shape(tensor: RealisedTensor) -> tuple[int, ...]:
    """Give a tensor's native shape of one layer, the layer axis left out as in `steps`."""
    shape: list[int] = []
    extents = iter(zip(tensor.axes, tensor.extents, strict=True))
    for size in tensor.shape:
        within, whole, layer_only = 1, 1, True
        while True:
            axis, extent = next(extents)
            whole *= extent
            within *= 1 if axis == "L" else extent
            layer_only &= axis == "L"
            if whole >= size:
                break
        if not layer_only:
            shape.append(within)
    return tuple(shape)


def to_slots(cache: Cache, elements: Arrays) -> Arrays:
    """View each component's elements as slots of its tensor, little-endian within an element."""
    slots: Arrays = {}
    for tensor, part in cache.realised.components:
        held = elements[part.name]
        if part.width > 1:
            held = np.ascontiguousarray(held).view(f"u{tensor.slot_bits // 8}")
        slots[part.name] = held
    return slots


def to_elements(cache: Cache, slots: Arrays) -> Arrays:
    """Undo `to_slots`."""
    elements: Arrays = {}
    for _, part in cache.realised.components:
        held = slots[part.name]
        if part.width > 1:
            held = np.ascontiguousarray(held).view(f"u{part.bits // 8}")
        elements[part.name] = held
    return elements


def fills(cache: Cache, dtypes: dict[str, int], zero: bool, inverted: bool) -> dict[str, Bits]:
    """Give what the padding slots of each tensor hold, in their order; widths in bits by tensor."""
    return {
        name: fill(len(slots), dtypes[name], zero, inverted)
        for name, slots in cache.padding.items()
    }


def finish(cache: Cache, arrays: Arrays, zero: bool = False, inverted: bool = False) -> Arrays:
    """Make native arrays contiguous and put in what their padding slots hold."""
    finished: Arrays = {}
    widths = {name: array.dtype.itemsize * 8 for name, array in arrays.items()}
    padding = fills(cache, widths, zero, inverted)
    for tensor in cache.realised.tensors:
        array = np.ascontiguousarray(arrays[tensor.name])
        slots = cache.padding[tensor.name]
        if len(slots):
            array = array.copy()
            array.reshape(-1)[slots] = padding[tensor.name]
        finished[tensor.name] = array
    return finished


def write_by_steps(cache: Cache, slots: Arrays, zero: bool = False) -> Arrays:
    """Write canonical arrays (in slots) as the layout's engine would."""
    return finish(cache, run(cache.steps, slots), zero)


def write_by_index(cache: Cache, slots: Arrays, zero: bool = False) -> Arrays:
    """Write canonical arrays (in slots) through the index map."""
    index = cache.index()
    flat: dict[str, NDArray[Any]] = {}
    for tensor, part in cache.realised.components:
        held = slots[part.name]
        native = flat.setdefault(tensor.name, np.zeros(tensor.positions, dtype=held.dtype))
        first = index[part.canonical_base : part.canonical_base + part.elements] - tensor.base
        values = held.reshape(part.elements, part.width)
        for offset in range(part.width):
            native[first + offset] = values[:, offset, None]
    shaped = {
        tensor.name: flat[tensor.name].reshape(native_shape(tensor))
        for tensor in cache.realised.tensors
    }
    return finish(cache, shaped, zero)


def read_by_index(cache: Cache, native: Arrays, replica: int = 0) -> Arrays:
    """Read the canonical arrays (in slots) through the index map, from one replica."""
    index = cache.index()[:, replica]
    slots: Arrays = {}
    for tensor, part in cache.realised.components:
        flat = native[tensor.name].reshape(-1)
        first = index[part.canonical_base : part.canonical_base + part.elements] - tensor.base
        shape = canonical_shape(part)
        columns = [flat.take(first + offset) for offset in range(part.width)]
        held = columns[0] if part.width == 1 else np.stack(columns, axis=1)
        slots[part.name] = held.reshape((*shape[:-1], shape[-1] * part.width))
    return slots


def same(one: Arrays, other: Arrays) -> bool:
    """Compare arrays bitwise: contents are unsigned, so that a not-a-number equals itself."""
    return one.keys() == other.keys() and all(
        one[name].shape == other[name].shape and np.array_equal(one[name], other[name])
        for name in one
    )


def slot_count(arrays: Arrays) -> int:
    """Count the slots of native arrays."""
    return sum(prod(array.shape) for array in arrays.values())
