"""The exhaustive index probe: a layout's map walked position by position ([LAY-13..19]).

Every native position of one layer is decoded to a canonical index, and the forward map of that
index has to give the position back. A position determines its element and replica, and an
element's replica and slot determine one position; so when every position that is not padding
comes back and there are as many of them as there are slots to cover, each slot of each element
is met exactly once. The forward map and the inverse share no code.

Each layout is walked once. What a pair needs follows by composition, and is walked too where
the layer is small.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lockstep import limits
from lockstep.layouts.index_map import canonical_to_native, image_sha256, native_to_canonical
from lockstep.layouts.realise import Realised, RealisedTensor

Positions = NDArray[np.signedinteger[Any]]


@dataclass(frozen=True)
class LayoutProbe:
    """What a walk over one layer's native positions found.

    Attributes:
        positions: slots walked.
        padding_positions: slots that hold no element.
        bijective: every other slot came back, and each slot of each element was met once.
        layers_agree: the layer axis moves all elements alike, at the first and last layer.
        image_sha256: the image digest [LAY-18].
    """

    positions: int
    padding_positions: int
    bijective: bool
    layers_agree: bool
    image_sha256: str


def probe(realised: Realised) -> LayoutProbe:
    """Walk a layout: one layer's positions exhaustively, and the layer axis at both ends."""
    forward = forward_map(realised)
    in_bounds = bool(forward.min() >= 0 and forward.max() < realised.positions)
    widths = element_widths(realised)
    walked = padding = returned = 0
    for start, stop in chunks(realised.positions):
        canonical = native_to_canonical(realised, start, stop)
        covered = canonical >= 0
        held = int(np.count_nonzero(covered))
        # A -1 reads the last element here; `covered` leaves it out of what is counted.
        back = _comes_back(forward, canonical, start, stop, widths)
        back &= covered
        walked += stop - start
        padding += stop - start - held
        returned += int(np.count_nonzero(back))
    slots = covered_slots(realised)
    return LayoutProbe(
        positions=walked,
        padding_positions=padding,
        bijective=in_bounds and returned == walked - padding == slots,
        layers_agree=all(_layers_agree(tensor, realised) for tensor in realised.tensors),
        image_sha256=image_sha256(realised),
    )


def chunks(count: int) -> Iterator[tuple[int, int]]:
    """Give the ranges in which `count` positions are walked."""
    for start in range(0, count, limits.PROBE_CHUNK_POSITIONS):
        yield start, min(count, start + limits.PROBE_CHUNK_POSITIONS)


def forward_map(realised: Realised) -> Positions:
    """Tabulate the first slot of every element and replica, shape (elements, replicas)."""
    width = np.int32 if realised.positions < 2**31 else np.int64
    shape = (realised.canonical_elements, realised.replicas)
    table = np.empty(shape, dtype=width)
    for start, stop in chunks(realised.canonical_elements):
        table[start:stop] = canonical_to_native(realised, start, stop)
    return table


def covered_slots(realised: Realised) -> int:
    """Count the slots of all elements and replicas [LAY-14]."""
    elements = sum(part.elements * part.width for _, part in realised.components)
    return elements * realised.replicas


def element_widths(realised: Realised) -> tuple[tuple[int, int], ...]:
    """Give (first canonical index, width in slots) by component; () where all widths are 1."""
    widths = tuple((part.canonical_base, part.width) for _, part in realised.components)
    return widths if any(width > 1 for _, width in widths) else ()


def _comes_back(
    forward: Positions,
    canonical: NDArray[np.int64],
    start: int,
    stop: int,
    widths: tuple[tuple[int, int], ...],
) -> NDArray[np.bool_]:
    """Decide for each position whether the forward map of its element leads to it."""
    positions = np.arange(start, stop, dtype=forward.dtype)
    if forward.shape[1] == 1 and not widths:
        back: NDArray[np.bool_] = forward[:, 0].take(canonical, mode="wrap") == positions
        return back
    slot: Positions = positions[:, None] - forward.take(canonical, axis=0, mode="wrap")
    width = np.ones(len(canonical), dtype=slot.dtype)
    for base, slots in widths:
        width[canonical >= base] = slots
    inside: NDArray[np.bool_] = ((slot >= 0) & (slot < width[:, None])).sum(axis=1) == 1
    return inside


def _layers_agree(tensor: RealisedTensor, realised: Realised) -> bool:
    """Probe [LAY-19] at the first and last layer, over the first and last positions.

    Addresses are made from native coordinates with the layer's digit put in, not from strides.
    """
    if "L" not in tensor.axes:
        return True
    place = tensor.axes.index("L")
    within = tensor.extents[:place] + tensor.extents[place + 1 :]
    ends = min(tensor.positions, limits.LAYER_PROBE_POSITIONS)
    numbers = np.unique(
        np.concatenate([np.arange(ends), np.arange(tensor.positions - ends, tensor.positions)])
    )
    digits = list(np.unravel_index(numbers, within))
    addresses = []
    for layer in (0, realised.geometry.layers - 1):
        layer_digit = np.full(len(numbers), layer)
        coordinates = (*digits[:place], layer_digit, *digits[place:])
        addresses.append(np.ravel_multi_index(coordinates, tensor.extents))
    last = realised.geometry.layers - 1
    return bool(np.all(addresses[1] - addresses[0] == last * tensor.layer_stride))


def pair_is_bijective(src: Realised, dst: Realised) -> bool:
    """Walk a pair by itself: each covered position of dst has one of src, all of src's are met.

    For layouts of elements one slot wide. Replicas of src count as one, since they agree.
    """
    canonical = native_to_canonical(dst, 0, dst.positions)
    canonical = canonical[canonical >= 0]
    from_src = forward_map(src)[:, 0][canonical]
    wanted = native_to_canonical(src, 0, src.positions)
    met, times = np.unique(from_src, return_counts=True)
    return bool(
        np.array_equal(np.unique(wanted[met]), np.arange(src.canonical_elements))
        and np.all(times == dst.replicas)
    )
