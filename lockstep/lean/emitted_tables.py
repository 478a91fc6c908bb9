"""The tables that `lockstep.layouts` emits, taken range by range, as a hunt takes them.

Ranges of several lengths stand side by side, so that what is checked includes where a range begins
and ends: within a row, across rows, across tensors.
"""

from collections.abc import Callable
from itertools import cycle

import numpy as np

from lockstep.layouts import index_map
from lockstep.layouts.index_map import Indices
from lockstep.layouts.realise import Realised

_LENGTHS = (1, 61, 211, 997)
"""Lengths of successive ranges, over and over: primes, so that they begin anywhere in a row."""


def forward(realised: Realised) -> Indices:
    """Give the position of each element, in canonical order, shape (elements, replicas)."""
    return _by_ranges(index_map.canonical_to_native, realised, realised.canonical_elements)


def inverse(realised: Realised) -> Indices:
    """Give the canonical index at each position, -1 for padding, shape (positions,)."""
    return _by_ranges(index_map.native_to_canonical, realised, realised.positions)


def _by_ranges(
    emit: Callable[[Realised, int, int], Indices], realised: Realised, total: int
) -> Indices:
    lengths, parts, start = cycle(_LENGTHS), [], 0
    while start < total:
        stop = min(total, start + next(lengths))
        parts.append(emit(realised, start, stop))
        start = stop
    return np.concatenate(parts)
