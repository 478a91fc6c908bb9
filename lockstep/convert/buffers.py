"""The buffers of a layout, and where each of its elements lies in them, in bytes [CONV-2..4].

Every position is a sum of one offset an axis. Buffers lie apart in one space of addresses, so
that a layer or a rank of its own is an offset like any other.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from operator import index

import numpy as np
from numpy.typing import NDArray

from lockstep.errors import LockstepError
from lockstep.layouts.declaration import Layout
from lockstep.layouts.geometry import Geometry
from lockstep.layouts.realise import Realised, RealisedComponent, RealisedTensor, realise, row_major

APART = 1 << 42
"""Bytes between the beginnings of two buffers in the space of addresses; none is as long."""
MOST_BUFFERS = 1 << 20
"""So that every address is below 2**62."""

Offsets = NDArray[np.int64]


@dataclass(frozen=True)
class Buffer:
    """One allocation: a tensor, of one layer where layers lie apart, of one rank likewise.

    Attributes:
        tensor: name.
        layer: None where the tensor has the layer axis.
        rank: None where ranks are 1, or an inner axis.
        shape: extents of the axes as declared, less the rank where it lies apart.
        bits: of a slot.
        bytes: length.
    """

    tensor: str
    layer: int | None
    rank: int | None
    shape: tuple[int, ...]
    bits: int
    bytes: int


@dataclass(frozen=True)
class Placement:
    """Where a request's tokens lie in an engine's pool.

    Attributes:
        pool: extent of the outer token axis, blocks where the layout has them, else tokens;
            None for what the geometry needs and the layout reserves.
        table: the number in the pool of each of the request's blocks, or tokens; None for the
            first ones behind the reserve.
    """

    pool: int | None = None
    table: tuple[int, ...] | None = None


AS_DECLARED = Placement()
"""What the geometry needs behind what the layout reserves, in order."""


@dataclass(frozen=True)
class Component:
    """Where the elements of a component lie: the sum of an offset for each axis, in bytes.

    Attributes:
        name: of the component.
        bytes: of an element.
        base: of element 0 of everything.
        layers: shape (layers,).
        tokens: shape (tokens,).
        heads: shape (heads, replicas).
        dims: shape (dims,).
    """

    name: str
    bytes: int
    base: int
    layers: Offsets
    tokens: Offsets
    heads: Offsets
    dims: Offsets


@dataclass(frozen=True)
class Side:
    """A layout at a geometry, with its buffers in order and its components."""

    layout: Layout
    buffers: tuple[Buffer, ...]
    components: tuple[Component, ...]
    replicas: int

    @property
    def covered(self) -> int:
        """Bytes of elements, each replica counted."""
        return sum(
            one.bytes * len(one.layers) * len(one.tokens) * one.heads.size * len(one.dims)
            for one in self.components
        )

    @property
    def bytes(self) -> int:
        """Bytes of all buffers."""
        return sum(one.bytes for one in self.buffers)


def side(layout: Layout, geometry: Geometry, placement: Placement, where: str) -> Side:
    """Lay a layout out in buffers.

    Args:
        layout: declared.
        geometry: of the request; its tokens are those that are placed.
        placement: of the tokens in the pool.
        where: names the side in what is refused.

    Raises:
        LockstepError: BAD_VALUE where the placement does not fit, elements are no whole bytes, or
            a buffer is too long.
    """
    realised = realise(layout, geometry)
    if realised is None:
        raise LockstepError(
            "X4_GEOMETRY_UNREPRESENTABLE", where, "a geometry that the layout has", layout.name
        )
    buffers: list[Buffer] = []
    components: list[Component] = []
    for tensor in realised.tensors:
        placed = _Placed(realised, tensor, placement, where)
        first = len(buffers)
        buffers += placed.buffers()
        components += [placed.component(part, first) for part in tensor.components]
    if len(buffers) > MOST_BUFFERS:
        raise LockstepError("BAD_VALUE", where, f"at most {MOST_BUFFERS} buffers", len(buffers))
    order = [part.name for _, part in realised.components]
    components.sort(key=lambda one: order.index(one.name))
    return Side(layout, tuple(buffers), tuple(components), realised.replicas)


def ranks_apart(tensor: RealisedTensor) -> bool:
    """Whether each rank has a buffer of its own [CONV-2]: a leading rank axis is of processes."""
    return next((axis for axis in tensor.axes if axis != "1"), "") == "R"


class _Placed:
    """A tensor whose outer token axis has the extent of a pool."""

    def __init__(
        self, realised: Realised, tensor: RealisedTensor, placement: Placement, where: str
    ) -> None:
        self._realised = realised
        self._tensor = tensor
        self._where = where
        self._bits = tensor.slot_bits
        outer = "Tb" if realised.layout.block else "T"
        needed = -(-realised.geometry.tokens // (realised.layout.block or 1))
        given = tensor.extent(outer)
        try:
            self._pool = index(given if placement.pool is None else placement.pool)
        except TypeError:
            got = repr(placement.pool)
            raise LockstepError("BAD_VALUE", f"{where} pool", "a whole number", got) from None
        self._numbers = self._place(placement, needed)
        self._extents = {
            axis: self._pool if axis == outer else extent
            for axis, extent in zip(tensor.axes, tensor.extents, strict=True)
        }
        self._ranks_apart = ranks_apart(tensor)
        within = [
            1 if axis == "R" and self._ranks_apart else self._extents[axis] for axis in tensor.axes
        ]
        self._within = tuple(within)
        self._strides = dict(zip(tensor.axes, row_major(self._within), strict=True))
        bits = prod(self._within) * self._bits
        if self._bits % 8 or bits // 8 > APART // 2:
            expected = f"slots of whole bytes, and at most {APART // 2} bytes a buffer"
            raise LockstepError("BAD_VALUE", where, expected, f"{self._bits} bits, {bits // 8}")
        self._bytes = bits // 8

    def _place(self, placement: Placement, needed: int) -> Offsets:
        """Give the coordinates on the outer token axis, by block or token of the request."""
        if placement.table is None:
            numbers = self._tensor.reserve + np.arange(needed, dtype=np.int64)
        else:
            numbers = np.asarray(placement.table)
        hint = (
            "A table has a number for each of the request's blocks, all below the pool's extent; "
            "a pool that is not given has as many as the request needs."
        )
        # An array of anything but integers that a machine has is of another kind.
        if numbers.dtype.kind not in "iu" or numbers.shape != (needed,):
            got = f"{' by '.join(map(str, numbers.shape))} of {numbers.dtype}"
            expected = f"{needed} whole numbers, below 2**63"
            raise LockstepError("BAD_VALUE", f"{self._where} table", expected, got, hint)
        if len(np.unique(numbers)) != needed or numbers.min() < 0 or numbers.max() >= self._pool:
            expected = f"distinct numbers from 0 to {self._pool - 1} [LAY-21]"
            got = f"{int(numbers.min())} to {int(numbers.max())}, {len(np.unique(numbers))} of them"
            raise LockstepError("BAD_VALUE", f"{self._where} table", expected, got, hint)
        return numbers.astype(np.int64)

    @property
    def _apart(self) -> tuple[range | tuple[None], range | tuple[None]]:
        """The layers and the ranks that lie apart."""
        layers = (None,) if "L" in self._tensor.axes else range(self._realised.geometry.layers)
        ranks = range(self._tensor.extent("R")) if self._ranks_apart else (None,)
        return layers, ranks

    def buffers(self) -> list[Buffer]:
        """List the tensor's buffers: layers apart, and in each of them ranks apart."""
        layers, ranks = self._apart
        opened = dict(zip(self._tensor.axes, self._within, strict=True))
        shape = tuple(
            prod(opened[axis] for axis in group.strip("()").split())
            for tensor in self._realised.layout.tensors
            if tensor.name == self._tensor.name
            for group in tensor.axes
            if not (self._ranks_apart and group == "R")
        )
        return [
            Buffer(self._tensor.name, layer, rank, shape, self._bits, self._bytes)
            for layer in layers
            for rank in ranks
        ]

    def component(self, part: RealisedComponent, first: int) -> Component:
        """Tabulate the offsets of a component; `first` is the tensor's first buffer [LAY-7]."""
        tensor, block = self._tensor, self._realised.layout.block
        t, d = (np.arange(count, dtype=np.int64) for count in (part.tokens, part.head_dim))
        if block:
            tokens = self._numbers[t // block] * self._stride("Tb") + t % block * self._stride("Ti")
        else:
            tokens = self._numbers * self._stride("T")
        if tensor.x:
            dims = d // tensor.x * self._stride("Dg") + d % tensor.x * self._stride("Dx")
        else:
            dims = d * self._stride("D") + d * part.width * self._stride("C")
        base = part.place * self._stride("KV") + part.joined_at * self._stride("C")
        ranks = tensor.extent("R") if self._ranks_apart else 1
        count = np.arange(self._realised.geometry.layers, dtype=np.int64)
        layers = count * (self._stride("L") if "L" in tensor.axes else ranks * APART)
        return Component(
            part.name,
            part.bits // 8,
            first * APART + base,
            layers,
            tokens,
            self._heads(part),
            dims,
        )

    def _heads(self, part: RealisedComponent) -> Offsets:
        rank = APART if self._ranks_apart else self._stride("R")
        h = np.arange(part.heads, dtype=np.int64)
        axis, replicas = self._realised.layout.rank_axis, self._realised.replicas
        if axis == "sharded":
            share = self._tensor.extent("H")
            return (h // share * rank + h % share * self._stride("H"))[:, None]
        if axis == "replicated":
            return (h[:, None] * replicas + np.arange(replicas, dtype=np.int64)) * rank
        return (h * self._stride("H"))[:, None]

    def _stride(self, axis: str) -> int:
        """Give an axis's stride in bytes, 0 where the tensor does not have it."""
        return self._strides.get(axis, 0) * self._bits // 8
