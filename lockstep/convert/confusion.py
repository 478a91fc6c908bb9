"""Which confusion explains bytes that are not where a layout has them [CONV-13]."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lockstep.convert.buffers import APART, AS_DECLARED, Component, Offsets, Side, side
from lockstep.convert.candidates import Confusion, candidates
from lockstep.convert.memory import Bytes
from lockstep.convert.plan import plan
from lockstep.errors import LockstepError
from lockstep.layouts.declaration import Layout
from lockstep.layouts.geometry import Geometry

Indices = tuple[NDArray[np.int64], ...]
"""Numbers of layer, token, head and dimension."""

PROBES = 512
"""Elements of a component that every confusion is held against before all of them are."""


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
        surplus: bytes that were given beyond those of the destination.
        short: bytes of the destination, padding too, beyond those that were given.
        first: the first of them in the order of layer, token, head and dimension: component,
            these four, and the byte where it was due; None where there is none.
        explanations: of the bytes as they are, the simplest first.
    """

    positions: int
    differing: int
    missing: int
    surplus: int
    short: int
    first: tuple[str, int, int, int, int, int] | None
    explanations: tuple[Explained, ...]

    @property
    def as_due(self) -> bool:
        """Whether the given bytes are those of the destination, padding aside."""
        return not self.differing and not self.surplus


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
    made = plan(source, destination, geometry)
    if len(reference) != made.source.bytes:
        expected, hint = f"{made.source.bytes} bytes", "Give the geometry that the cache has."
        raise LockstepError("BAD_VALUE", "reference", expected, len(reference), hint)
    bytes_ = _Bytes(reference, given)
    came, due = _Laid(made.source), _Laid(made.destination)
    positions = differing = missing = 0
    first = None
    for a, b in zip(came.side.components, due.side.components, strict=True):
        for replica, mesh in product(range(b.heads.shape[1]), _meshes(_all(b))):
            places = due.places(b, replica, mesh)
            wrong = bytes_.unlike(came.places(a, 0, mesh), places, a.bytes)
            positions += places.size
            differing += int(wrong.sum())
            missing += int(bytes_.beyond(places, a.bytes).sum())
            if first is None and wrong.any():
                _, token, head, dim = at = tuple(int(one) for one in np.argwhere(wrong)[0])
                first = (a.name, int(mesh[0].flat[0]), token, head, dim, int(places[at]))
    found = [
        Explained(one, _elsewhere(tried, _Tried(one, came, due)))
        for one in candidates(came.side, due.side, geometry)
        if (tried := _tried(one, geometry)) is not None and _explains(tried, geometry, bytes_)
    ]
    surplus = max(0, len(given) - made.destination.bytes)
    short = max(0, made.destination.bytes - len(given))
    return Difference(positions, differing, missing, surplus, short, first, tuple(found))


class _Bytes:
    """Both sides' bytes, and the comparison of elements at given places."""

    def __init__(self, reference: Bytes, given: Bytes) -> None:
        self.reference = reference
        self.given = given

    def beyond(self, destination: Offsets, width: int) -> NDArray[np.bool_]:
        """Tell which elements the given bytes do not hold in whole."""
        return destination + width > len(self.given)

    def unlike(self, source: Offsets, destination: Offsets, width: int) -> NDArray[np.bool_]:
        """Tell where the elements' bytes differ; what lies beyond the given bytes does."""
        wrong = self.beyond(destination, width)
        there = ~wrong
        came, to = source[there], destination[there]
        unlike = np.zeros(len(to), dtype=np.bool_)
        for byte in range(width):
            unlike |= self.reference[came + byte] != self.given[to + byte]
        wrong[there] = unlike
        return wrong


class _Laid:
    """A side whose buffers, or those of rank 0 alone, lie one after the other."""

    def __init__(self, laid: Side, first_rank: bool = False) -> None:
        self.side = laid
        held = [0 if first_rank and one.rank else one.bytes for one in laid.buffers]
        self._starts = np.cumsum([0, *held])
        self.bytes = int(self._starts[-1])

    def places(self, part: Component, replica: int, indices: Indices) -> Offsets:
        """Give where elements of a component are, of whose numbers the shapes go together."""
        layer, token, head, dim = indices
        address = (
            part.base
            + part.layers[layer]
            + part.tokens[token]
            + part.heads[head, replica]
            + part.dims[dim]
        )
        found: Offsets = self._starts[address // APART] + address % APART
        return found


class _Tried(NamedTuple):
    """A confusion, with the buffers that it reads and those that it writes."""

    confusion: Confusion
    came: _Laid
    to: _Laid

    def moved(self) -> Iterator[tuple[Component, Component, int, Indices]]:
        """Give what is moved: components, the replica that is written, and the elements."""
        kept = self.confusion.kept
        for a, b in zip(self.came.side.components, self.to.side.components, strict=True):
            indices = _all(a)
            if kept is not None:
                layer, token, head, dim = indices
                indices = layer, token[: kept.tokens], head[: kept.heads], dim
            replicas = b.heads.shape[1]
            for replica in range(replicas if kept is None else min(replicas, kept.replicas)):
                yield a, b, replica, indices


def _all(part: Component) -> Indices:
    """Give the numbers that elements have on each axis."""
    counts = (len(part.layers), len(part.tokens), len(part.heads), len(part.dims))
    return tuple(np.arange(count, dtype=np.int64) for count in counts)


def _meshes(indices: Indices) -> Iterator[Indices]:
    """Give the elements that have one of these numbers on each axis, a layer at a time."""
    layers, *rest = indices
    for layer in layers:
        yield np.ix_(np.array([layer]), *rest)


def _tried(one: Confusion, geometry: Geometry) -> _Tried | None:
    """Lay out both sides of a confusion; None where one is no layout at this geometry."""
    try:
        came = side(one.source, geometry, AS_DECLARED, "")
        to = side(one.written, one.geometry, AS_DECLARED, "")
    except LockstepError:
        return None
    pairs = zip(came.components, to.components, strict=False)
    alike = len(came.components) == len(to.components) and all(
        (a.name, a.bytes) == (b.name, b.bytes) for a, b in pairs
    )
    return _Tried(one, _Laid(came), _Laid(to, one.first_rank)) if alike else None


def _explains(tried: _Tried, geometry: Geometry, bytes_: _Bytes) -> bool:
    """Whether a confusion would have made the given bytes, in all elements' places."""
    given = bytes_.given
    if tried.came.bytes > len(bytes_.reference) or tried.to.bytes != len(given):
        return False
    chooser = np.random.default_rng(0)
    for a, b, replica, indices in tried.moved():
        some = tuple(one[chooser.integers(0, len(one), PROBES)] for one in indices)
        for mesh in chain([some], _meshes(indices)):
            came, to = tried.came.places(a, 0, mesh), tried.to.places(b, replica, mesh)
            if bytes_.unlike(came, to, a.bytes).any():
                return False
    return not tried.confusion.leaves(geometry) or _rest_is_one_value(tried, given)


def _rest_is_one_value(tried: _Tried, given: Bytes) -> bool:
    """Whether what was not written is as memory that was made and left."""
    left = np.ones(len(given), dtype=np.bool_)
    for _, b, replica, indices in tried.moved():
        for mesh in _meshes(indices):
            places = tried.to.places(b, replica, mesh)
            for byte in range(b.bytes):
                left[places + byte] = False
    rest = given[left]
    return not len(rest) or bool((rest == rest[0]).all())


def _elsewhere(tried: _Tried, true: _Tried) -> int:
    """Count the elements that a confusion takes from, or puts, elsewhere, or does not move."""
    right = 0
    whole = zip(true.came.side.components, true.to.side.components, strict=True)
    due = {b.name: (a, b) for a, b in whole}
    for a, b, replica, indices in tried.moved():
        here, there = due[b.name]
        for mesh in _meshes(indices) if replica == 0 else ():
            taken = tried.came.places(a, 0, mesh) == true.came.places(here, 0, mesh)
            put = tried.to.places(b, 0, mesh) == true.to.places(there, 0, mesh)
            right += int((taken & put).sum())
    every = sum(len(a.layers) * len(a.tokens) * len(a.heads) * len(a.dims) for a, _ in due.values())
    return every - right
