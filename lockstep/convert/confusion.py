"""Which confusion explains bytes that are not where a layout has them [CONV-13]."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from lockstep.convert.buffers import APART, AS_DECLARED, Component, Offsets, Side, side
from lockstep.errors import LockstepError
from lockstep.layouts import catalogue
from lockstep.layouts.declaration import Layout
from lockstep.layouts.geometry import Geometry

Bytes = NDArray[np.uint8]

MOST_AXES = 6
"""Axes of a tensor whose orders are all tried: 720 of them."""
PROBES = 512
"""Elements of a component that every confusion is held against before all of them are."""
BLOCKS = ((1, 2), (2, 1), (1, 4), (4, 1))
"""Blocks that are tried in place of the destination's, as multiples of its own."""


@dataclass(frozen=True)
class Confusion:
    """What may have been mistaken for what.

    Attributes:
        text: in words.
        source: what the source's bytes were taken for.
        written: where the elements were put.
        tokens: those that were moved.
        ranks: None where all ranks were, else only the first so many.
    """

    text: str
    source: Layout
    written: Layout
    tokens: int
    ranks: int | None = None


@dataclass(frozen=True)
class Explained:
    """What a confusion explains, and how much of the destination it gets wrong.

    Attributes:
        confusion: that made these very bytes.
        elsewhere: elements that it takes from elsewhere, puts elsewhere or does not move.
    """

    confusion: Confusion
    elsewhere: int


@dataclass(frozen=True)
class Difference:
    """What was found.

    Attributes:
        positions: of the destination's elements, each replica counted, all layers.
        differing: of these, whose bytes are not the source's element.
        missing: of these, that the given bytes do not reach.
        first: the first of them in the order of layer, token, head and dimension: component,
            these four, and the byte where it was due; None where there is none.
        explanations: of the bytes as they are, the simplest first.
    """

    positions: int
    differing: int
    missing: int
    first: tuple[str, int, int, int, int, int] | None
    explanations: tuple[Explained, ...]


def difference(
    source: Layout, destination: Layout, geometry: Geometry, reference: Bytes, given: Bytes
) -> Difference:
    """Compare bytes with those that are due, and look for what explains them.

    Args:
        source: layout of `reference`.
        destination: layout that `given` is said to have.
        geometry: of both.
        reference: the source's buffers, one after the other.
        given: the destination's buffers, one after the other; may be cut short.

    Raises:
        LockstepError: as `plan`, or BAD_VALUE where `reference` has another length.
    """
    from lockstep.convert.plan import plan

    made = plan(source, destination, geometry)
    if len(reference) != made.source.bytes:
        raise LockstepError("BAD_VALUE", "reference", f"{made.source.bytes} bytes", len(reference))
    bytes_ = _Bytes(reference, given)
    differing = missing = 0
    first = None
    for a, b in zip(made.source.components, made.destination.components, strict=True):
        for replica in range(b.heads.shape[1]):
            due = _flat(made.destination, b, replica)
            wrong = bytes_.unlike(_flat(made.source, a, 0), due, a.bytes)
            differing += int(wrong.sum())
            missing += int((due >= len(given)).sum())
            if first is None and wrong.any():
                layer, token, head, dim = (int(one) for one in np.argwhere(wrong)[0])
                first = (a.name, layer, token, head, dim, int(due[layer, token, head, dim]))
    found = [
        Explained(one, _elsewhere(one, sides, (made.source, made.destination)))
        for one in _candidates(source, made.destination, geometry)
        if (sides := _sides(one, geometry)) is not None and _explains(one, sides, bytes_)
    ]
    positions = sum(
        b.heads.size * len(b.layers) * len(b.tokens) * len(b.dims)
        for b in made.destination.components
    )
    return Difference(positions, differing, missing, first, tuple(found))


class _Bytes:
    """Both sides' bytes, and the comparison of elements at given places."""

    def __init__(self, reference: Bytes, given: Bytes) -> None:
        self.reference = reference
        self.given = given

    def unlike(self, source: Offsets, destination: Offsets, width: int) -> NDArray[np.bool_]:
        """Tell where the elements' bytes differ; what lies beyond the given bytes does."""
        beyond = destination + width > len(self.given)
        wrong = beyond.copy()
        safe = np.where(beyond, 0, destination)
        for byte in range(width):
            inside = np.minimum(safe + byte, len(self.given) - 1)
            wrong |= self.reference[source + byte] != self.given[inside]
        return wrong


def _flat(side: Side, part: Component, replica: int) -> Offsets:
    """Give each element's place in the buffers one after the other: (layers, tokens, H, D)."""
    starts = np.cumsum([0, *(one.bytes for one in side.buffers)])
    address = (
        part.base
        + part.layers[:, None, None, None]
        + part.tokens[None, :, None, None]
        + part.heads[None, None, :, replica, None]
        + part.dims[None, None, None, :]
    )
    places: Offsets = starts[address // APART] + address % APART
    return places


def _candidates(source: Layout, due: Side, geometry: Geometry) -> Iterator[Confusion]:
    """Give the confusions that are tried, in the order of [CONV-13]."""
    destination, tokens = due.layout, geometry.tokens
    yield Confusion("nothing is confused", source, destination, tokens)
    if destination.ranks > 1:
        text = f"rank 0 of {destination.ranks} alone"
        yield Confusion(text, source, destination, tokens, 1)
    for text, layout in _others(destination):
        yield Confusion(f"written as {text}", source, layout, tokens)
    yield from _fewer_blocks(source, due, geometry)
    for text, layout in _others(source):
        yield Confusion(f"the source read as {text}", layout, destination, tokens)


def _fewer_blocks(source: Layout, due: Side, geometry: Geometry) -> Iterator[Confusion]:
    """Give the confusions of the number of blocks with another extent of the shape."""
    block = due.layout.block
    blocks = -(-geometry.tokens // block) if block else 0
    for extent in sorted({extent for one in due.buffers for extent in one.shape}):
        if extent < blocks:
            text = f"{extent} of {blocks} blocks, an extent of the shape taken for their number"
            yield Confusion(text, source, due.layout, extent * block)


def _others(layout: Layout) -> Iterator[tuple[str, Layout]]:
    """Give layouts that one may be taken for: declared ones, other orders, other blocks."""
    for name in catalogue.members():
        other = catalogue.find(name)
        if other.component_names == layout.component_names and _form(other) != _form(layout):
            yield name, other
    if layout.block:
        for times, parts in BLOCKS:
            block = layout.block * times // parts
            if block and layout.block * times % parts == 0:
                yield f"blocks of {block}", replace(layout, block=block)
    yield from _orders(layout)


def _form(layout: Layout) -> tuple[object, ...]:
    """Give what decides where elements lie."""
    return layout.tensors, layout.block, layout.ranks, layout.rank_axis


def _orders(layout: Layout) -> Iterator[tuple[str, Layout]]:
    opened = [tensor.opened for tensor in layout.tensors]
    if len(set(opened)) != 1 or len(opened[0]) > MOST_AXES:
        return
    for axes in permutations(opened[0]):
        if axes != opened[0]:
            tensors = tuple(replace(tensor, axes=axes) for tensor in layout.tensors)
            yield f"axes {' '.join(axes)}", replace(layout, tensors=tensors)


def _explains(one: Confusion, sides: tuple[Side, Side], bytes_: _Bytes) -> bool:
    """Whether a confusion would have made the given bytes, in all elements' places."""
    came, to = sides
    if came.bytes > len(bytes_.reference) or not _length_fits(one, to, bytes_):
        return False
    chooser = np.random.default_rng(0)
    for a, b in zip(came.components, to.components, strict=True):
        source, destination = _flat(came, a, 0), _flat(to, b, 0)
        source, destination = _moved(one, source, b), _moved(one, destination, b)
        some = chooser.integers(0, source.size, PROBES)
        if bytes_.unlike(source.flat[some], destination.flat[some], a.bytes).any():
            return False
        if bytes_.unlike(source, destination, a.bytes).any():
            return False
    return True


def _moved(one: Confusion, places: Offsets, part: Component) -> Offsets:
    """Keep the elements that a confusion moved."""
    kept = places[:, : one.tokens]
    if one.ranks is not None:
        heads = np.flatnonzero(part.heads[:, 0] < part.heads[:, 0].min() + APART * one.ranks)
        kept = kept[:, :, heads]
    return kept


def _length_fits(one: Confusion, to: Side, bytes_: _Bytes) -> bool:
    """Whether the given bytes are as many as a confusion would have made."""
    if one.ranks is None:
        return to.bytes == len(bytes_.given)
    held = sum(buffer.bytes for buffer in to.buffers if (buffer.rank or 0) < one.ranks)
    return held == len(bytes_.given)


def _sides(one: Confusion, geometry: Geometry) -> tuple[Side, Side] | None:
    written = replace(geometry, tokens=min(one.tokens, geometry.tokens))
    try:
        came = side(one.source, geometry, AS_DECLARED, "")
        to = side(one.written, written, AS_DECLARED, "")
    except LockstepError:
        return None
    pairs = zip(came.components, to.components, strict=False)
    alike = len(came.components) == len(to.components) and all(
        (a.name, a.bytes) == (b.name, b.bytes) for a, b in pairs
    )
    return (came, to) if alike else None


def _elsewhere(tried: Confusion, sides: tuple[Side, Side], true: tuple[Side, Side]) -> int:
    """Count the elements that a confusion takes from, or puts, elsewhere, or does not move."""
    count = 0
    for a, b, came, due in zip(
        *(one.components for one in sides), *(one.components for one in true), strict=True
    ):
        whole = _flat(true[1], due, 0)
        taken = _flat(sides[0], a, 0) == _flat(true[0], came, 0)
        put = _moved(tried, _flat(sides[1], b, 0), b) == _moved(tried, whole, due)
        count += whole.size - int((put & _moved(tried, taken, b)).sum())
    return count
