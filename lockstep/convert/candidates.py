"""Confusions that are tried for an explanation, in their order [CONV-13]."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import NamedTuple

from lockstep.convert.buffers import Side
from lockstep.layouts import catalogue
from lockstep.layouts.declaration import Layout
from lockstep.layouts.geometry import Geometry

MOST_AXES = 6
"""Axes of a tensor whose orders are all tried: 720 of them."""
BLOCKS = ((1, 2), (2, 1), (1, 4), (4, 1))
"""Blocks that are tried in place of a layout's, as multiples of its own."""


Named = tuple[str, Layout]


class Kept(NamedTuple):
    """Of the elements, those that alone were moved: the first so many of each."""

    tokens: int
    heads: int
    replicas: int


@dataclass(frozen=True)
class Confusion:
    """What may have been mistaken for what.

    Attributes:
        text: in words.
        source: what the source's bytes were taken for.
        written: where the elements were put.
        geometry: of what was written.
        kept: the elements that were moved; None where all were.
        first_rank: whether what was written has the buffers of rank 0 alone.
    """

    text: str
    source: Layout
    written: Layout
    geometry: Geometry
    kept: Kept | None = None
    first_rank: bool = False

    def leaves(self, geometry: Geometry) -> bool:
        """Whether places of elements that it does not move are there as well."""
        return self.kept is not None and not self.first_rank and self.geometry == geometry


def candidates(came: Side, due: Side, geometry: Geometry) -> Iterator[Confusion]:
    """Give the confusions that are tried between two layouts, the simplest first."""
    source, destination = came.layout, due.layout
    declared = [(name, catalogue.find(name)) for name in catalogue.members()]
    yield Confusion("nothing is confused", source, destination, geometry)
    yield from _destination_rank(came, due, geometry)
    yield from _source_rank(came, due, geometry)
    for text, layout in _others(destination, declared):
        yield Confusion(f"written as {text}", source, layout, geometry)
    yield from _fewer_blocks(came, due, geometry)
    for text, layout in _others(source, declared):
        yield Confusion(f"the source read as {text}", layout, destination, geometry)


def _destination_rank(came: Side, due: Side, geometry: Geometry) -> Iterator[Confusion]:
    """Rank 0 alone was written: its own buffers, or those of all ranks."""
    layout = due.layout
    if layout.ranks > 1:
        kept = Kept(geometry.tokens, _heads_of_rank(layout, geometry), 1)
        text = f"rank 0 of {layout.ranks} alone"
        if any(one.rank is not None for one in due.buffers):
            yield Confusion(text, came.layout, layout, geometry, kept, first_rank=True)
        yield Confusion(text, came.layout, layout, geometry, kept)


def _source_rank(came: Side, due: Side, geometry: Geometry) -> Iterator[Confusion]:
    """Rank 0 alone was read: its heads are all that there are, or stand among the others."""
    layout = came.layout
    # Where ranks hold a latent, each holds all of it.
    if layout.ranks > 1 and not layout.holds_latent:
        heads = _heads_of_rank(layout, geometry)
        kept = Kept(geometry.tokens, heads, due.replicas)
        text = f"rank 0 of the source's {layout.ranks} alone"
        fewer = replace(geometry, kv_heads=heads)
        yield Confusion(text, layout, due.layout, fewer, kept)
        yield Confusion(text, layout, due.layout, geometry, kept)


def _heads_of_rank(layout: Layout, geometry: Geometry) -> int:
    """Give the number of heads that rank 0 holds; they are the first ones [LAY-7]."""
    return geometry.kv_heads // layout.ranks if layout.rank_axis == "sharded" else 1


def _fewer_blocks(came: Side, due: Side, geometry: Geometry) -> Iterator[Confusion]:
    """The number of blocks was taken from another extent of a shape that has blocks."""
    tried = set[int]()
    for one in (due, came):
        block = one.layout.block
        blocks = -(-geometry.tokens // block) if block else 0
        for extent in sorted({extent for buffer in one.buffers for extent in buffer.shape}):
            tokens = extent * block
            if extent >= blocks or tokens in tried:
                continue
            tried.add(tokens)
            text = f"{extent} of {blocks} blocks, an extent of the shape taken for their number"
            kept = Kept(tokens, geometry.kv_heads, due.replicas)
            fewer = replace(geometry, tokens=tokens)
            yield Confusion(text, came.layout, due.layout, fewer, kept)
            yield Confusion(text, came.layout, due.layout, geometry, kept)


def _others(layout: Layout, declared: Sequence[Named]) -> Iterator[Named]:
    """Give layouts that one may be taken for: declared ones, other orders, other blocks."""
    for name, other in declared:
        if other.component_names == layout.component_names and _form(other) != _form(layout):
            yield _told(name, other, layout), other
    if layout.block:
        for times, parts in BLOCKS:
            block = layout.block * times // parts
            if block and layout.block * times % parts == 0:
                yield f"blocks of {block}", replace(layout, block=block)
    yield from _orders(layout)


def _told(name: str, other: Layout, layout: Layout) -> str:
    """Name a declared layout; one that the other is a change of, with what it has in its place."""
    if other.source_path != layout.source_path:
        return name
    words = [word for word in ("block", "ranks") if getattr(other, word) != getattr(layout, word)]
    return ",".join([name, *(f"{word}={getattr(other, word)}" for word in words)])


def _form(layout: Layout) -> tuple[object, ...]:
    """Give what decides where elements lie."""
    return layout.tensors, layout.block, layout.ranks, layout.rank_axis


def _orders(layout: Layout) -> Iterator[Named]:
    opened = [tensor.opened for tensor in layout.tensors]
    if len(set(opened)) != 1 or len(opened[0]) > MOST_AXES:
        return
    for axes in permutations(opened[0]):
        if axes != opened[0]:
            tensors = tuple(replace(tensor, axes=axes) for tensor in layout.tensors)
            yield f"axes {' '.join(axes)}", replace(layout, tensors=tensors)
