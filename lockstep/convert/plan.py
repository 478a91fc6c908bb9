"""A plan: the copies that bring a cache from one layout into another [CONV-5..8].

Along each axis the two sides' offsets are folded into loops of equal steps, which is the common
refinement of both factorisations; the loops of all axes together, those that touch merged into
runs, are the copies.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from lockstep.convert.buffers import AS_DECLARED, Component, Offsets, Placement, Side, side
from lockstep.convert.copies import HINT, Copy, Loop, owned, runs_lie_apart, within
from lockstep.errors import LockstepError
from lockstep.layouts.declaration import Layout
from lockstep.layouts.frontier import frontier_code
from lockstep.layouts.geometry import Geometry

MOST_COPIES = 1 << 20
"""Copies of a plan; one with more would take longer to read than to do."""


@dataclass(frozen=True)
class Plan:
    """All copies of a conversion, with the buffers of both sides.

    Raises:
        LockstepError: BAD_VALUE where the copies do not hold against these [CONV-7].
    """

    geometry: Geometry
    source: Side
    destination: Side
    copies: tuple[Copy, ...]

    def __post_init__(self) -> None:
        """Hold it against both layouts, also where no layouts have made it."""
        object.__setattr__(self, "copies", owned(self.copies))
        _check(self)

    @property
    def bytes(self) -> int:
        """Bytes that are copied: those of the destination's elements."""
        return sum(copy.bytes for copy in self.copies)

    @property
    def padding(self) -> int:
        """Bytes of the destination that are in no copy."""
        return self.destination.bytes - self.bytes


def plan(
    source: Layout,
    destination: Layout,
    geometry: Geometry,
    source_placement: Placement = AS_DECLARED,
    destination_placement: Placement = AS_DECLARED,
) -> Plan:
    """Plan the conversion of a request's cache.

    Raises:
        LockstepError: X1_LATENT_KV, X2_HEAD_GATHER, X4_GEOMETRY_UNREPRESENTABLE where no exact map
            exists; NOT_LOSSLESS where elements differ in width or meaning; BAD_VALUE as `side`,
            or of more than MOST_COPIES copies.
    """
    code = frontier_code(source, destination, geometry)
    if code is not None:
        pair = f"{source.name} to {destination.name}"
        raise LockstepError(code, pair, "a pair with an exact map", "none at this geometry")
    one = side(source, geometry, source_placement, f"source {source.name}")
    other = side(destination, geometry, destination_placement, f"destination {destination.name}")
    _require_lossless(one, other)
    copies: list[Copy] = []
    for a, b in zip(one.components, other.components, strict=True):
        copies += _component(a, b)
    return Plan(geometry, one, other, _merged(copies))


def _require_lossless(one: Side, other: Side) -> None:
    """Refuse a pair whose elements are not the same ones [CONV-1]."""
    first, second = ([(c.name, c.bytes) for c in side.components] for side in (one, other))
    words = one.layout.quantisation, other.layout.quantisation
    if first != second or words[0] != words[1]:
        raise LockstepError(
            "NOT_LOSSLESS",
            f"{one.layout.name} to {other.layout.name}",
            f"{words[0]}, {_widths(one)}",
            f"{words[1]}, {_widths(other)}",
            "A change of values is no conversion of layouts: cast first, in the source's layout.",
        )


def _widths(side: Side) -> str:
    return ", ".join(f"{one.name} {one.bytes} bytes" for one in side.components)


def _component(a: Component, b: Component) -> list[Copy]:
    """Give the copies of a component, elements joined into runs."""
    # What the source has more than once is read from the first; each of the destination's is
    # written.
    heads = np.broadcast_to(a.heads[:, :1], b.heads.shape).reshape(-1)
    axes = (
        folded(a.layers, b.layers),
        folded(a.tokens, b.tokens),
        folded(heads, b.heads.reshape(-1)),
        folded(a.dims, b.dims),
    )
    copies = []
    for pieces in product(*axes):
        source = a.base + sum(piece.source for piece in pieces)
        destination = b.base + sum(piece.destination for piece in pieces)
        loops = [loop for piece in pieces for loop in piece.loops]
        copies.append(joined(Copy(source, destination, a.bytes, tuple(loops))))
    return copies


class Piece(NamedTuple):
    """Part of an axis: where it begins on both sides, and its loops, the outermost first."""

    source: int
    destination: int
    loops: tuple[Loop, ...]


def folded(source: Offsets, destination: Offsets) -> list[Piece]:
    """Write pairs of offsets as few pieces of nested loops; every pair is in exactly one."""
    return _fold(Piece(int(a), int(b), ()) for a, b in zip(source, destination, strict=True))


def _fold(pieces: Iterable[Piece]) -> list[Piece]:
    """Fold pieces with equal loops, and equal steps between them, for as long as that helps."""
    found = list(pieces)
    while True:
        alike: dict[tuple[Loop, ...], list[Piece]] = {}
        for piece in found:
            alike.setdefault(piece.loops, []).append(piece)
        shorter = [one for group in alike.values() for one in _runs(group)]
        if len(shorter) == len(found):
            return found
        found = shorter


def _runs(pieces: list[Piece]) -> Iterator[Piece]:
    """Join neighbours of one step into a piece with a loop more."""
    at = 0
    while at < len(pieces):
        first, end = pieces[at], at + 1
        if end < len(pieces):
            step = _step(first, pieces[end])
            while end < len(pieces) and _step(pieces[end - 1], pieces[end]) == step:
                end += 1
        loops = first.loops
        if end - at > 1:
            loops = (Loop(end - at, *step), *loops)
        yield Piece(first.source, first.destination, loops)
        at = end


def _step(one: Piece, other: Piece) -> tuple[int, int]:
    return other.source - one.source, other.destination - one.destination


def joined(copy: Copy) -> Copy:
    """Join runs that touch on both sides, and loops that go on where another ends."""
    length, loops = copy.length, sorted(copy.loops, key=lambda loop: -abs(loop.destination))
    kept: list[Loop] = []
    for loop in reversed(loops):
        inner = kept[-1] if kept else None
        if not kept and loop.source == loop.destination == length:
            length *= loop.times
        elif inner is not None and loop[1:] == (
            inner.source * inner.times,
            inner.destination * inner.times,
        ):
            kept[-1] = Loop(inner.times * loop.times, inner.source, inner.destination)
        else:
            kept.append(loop)
    return Copy(copy.source, copy.destination, length, tuple(reversed(kept)))


def _merged(copies: list[Copy]) -> tuple[Copy, ...]:
    """Fold copies of one shape into loops over them, as of K and V in one buffer."""
    alike: dict[int, list[Piece]] = {}
    for copy in copies:
        alike.setdefault(copy.length, []).append(Piece(copy.source, copy.destination, copy.loops))
    merged = [
        joined(Copy(piece.source, piece.destination, length, piece.loops))
        for length, pieces in alike.items()
        for piece in _fold(pieces)
    ]
    return tuple(sorted(merged, key=lambda copy: (copy.destination, copy.source)))


def _check(made: Plan) -> None:
    """Hold a plan against both layouts: in bounds, no copy writes a byte twice, gaps are padding.

    Two copies that `plan` makes lie apart, as elements of a layout do [LAY-15]; so equal counts
    leave nothing but padding uncovered, and bound what is looked at here.
    """
    if len(made.copies) > MOST_COPIES:
        expected, hint = f"at most {MOST_COPIES} copies", "Convert the cache in several parts."
        raise LockstepError("BAD_VALUE", "plan", expected, len(made.copies), hint)
    for copy in made.copies:
        if min(copy.length, *(loop.times for loop in copy.loops), 1) < 1:
            expected = "runs of a byte or more, once or more"
            raise LockstepError("BAD_VALUE", "plan", expected, copy, HINT)
    if made.bytes != made.destination.covered:
        expected = f"{made.destination.covered} bytes copied"
        raise LockstepError("BAD_VALUE", "plan", expected, made.bytes, HINT)
    sides = {"source": made.source, "destination": made.destination}
    lengths = {name: [one.bytes for one in there.buffers] for name, there in sides.items()}
    for copy in made.copies:
        for name in sides:
            if not within(copy, name, lengths[name]):
                expected = f"runs within buffers of the {name}"
                raise LockstepError("BAD_VALUE", "plan", expected, copy, HINT)
        if not runs_lie_apart(copy):
            expected = "runs apart in the destination"
            raise LockstepError("BAD_VALUE", "plan", expected, copy, HINT)
