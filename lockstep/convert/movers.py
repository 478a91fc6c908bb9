"""How a copy is carried out on memory: by NumPy, or by the kernel that suits its runs [CONV-10]."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from lockstep.convert import kernels
from lockstep.convert.copies import Loop
from lockstep.convert.memory import Bytes, empty
from lockstep.convert.parts import Part

ITEMS = (16, 8, 4, 2, 1)
"""Bytes of an item that NumPy moves at a time."""
TILE = 4 << 10
"""Bytes of a tile, about: with the lines that it is read from, it stays in a first-level cache."""
PAGE = 4 << 10
"""Bytes over which a processor fetches nothing ahead."""
LONG_RUN = 2048
"""Bytes of a run from which on the lines at its ends do not count."""
PIECE, LEAST_PIECE = 32, 8
"""Bytes that are stored at a time where runs are of such, and the fewest that pay."""
STREAMS = 16
"""Streams of memory that a processor keeps apart."""


def by_numpy(part: Part, source: Bytes, destination: Bytes) -> None:
    """Copy by one assignment between two views."""
    steps = [value for loop in part.loops for value in loop[1:]]
    width = _width(part, steps)
    item = np.dtype(f"V{width}")
    counts = (*(loop.times for loop in part.loops), part.length // width)
    views = [
        as_strided(
            np.ndarray((1,), item, buffer=memory, offset=start),
            counts,
            (*(loop[side] for loop in part.loops), width),
            writeable=side == 2,
        )
        for memory, start, side in ((source, part.source, 1), (destination, part.destination, 2))
    ]
    np.copyto(views[1], views[0])


def by_numba(part: Part, source: Bytes, destination: Bytes, past_cache: bool) -> None:
    """Copy by the kernel that suits the runs; past the cache where it would not keep them."""
    came, to = source.ctypes.data + part.source, destination.ctypes.data + part.destination
    one = Loop(1, 0, 0)
    if part.length >= LONG_RUN:
        *outer, first, second = [one, one, *_for_streams(part.loops)]
        kernels.streamed(past_cache)(
            to, came, part.length, tuple(first), tuple(second), _table(outer)
        )
        return
    width = gcd(part.length, PIECE)
    groups = grouped(part.length, to, part.loops) if width >= LEAST_PIECE else None
    if groups is not None:
        *outer, first, second, inner = [one, one, *groups]
        fixed = part.length if part.length < kernels.FIXED else 0
        kernels.pieced(width, fixed, past_cache)(
            to, came, part.length, tuple(first), tuple(second), tuple(inner), _table(outer)
        )
        return
    *outer, first, second = [one, one, *_for_tiles(part.loops)]
    rows, columns = tile(part.length, first, second)
    touching = second.destination == part.length or second.times == 1
    # With a page behind it, so that no core fetches ahead what another writes.
    scratch = empty(rows * columns * part.length + PAGE if touching else 0)
    width = next(width for width in kernels.WIDTHS if width <= part.length)
    kernels.tiled(width, past_cache)(
        to, came, part.length, tuple(first), tuple(second), _table(outer), (rows, columns),
        _ahead(part.length, first, second, rows), scratch.ctypes.data if touching else 0,
    )  # fmt: skip


def _in_whole_lines(length: int, to: int, loops: Sequence[Loop]) -> bool:
    """Whether runs begin and end at lines of the destination."""
    return gcd(length, to, *(loop.destination for loop in loops)) % kernels.LINE == 0


def _table(loops: Sequence[Loop]) -> NDArray[np.int64]:
    return np.array(loops, dtype=np.int64).reshape(-1, 3)


def grouped(length: int, to: int, loops: Sequence[Loop]) -> list[Loop] | None:
    """Put loops in the order for streams, and last a group of runs that fill whole lines.

    A group has two runs and two lines at least where that divides those that touch. None where no
    group fills lines.
    """
    ordered = _for_streams([loop for loop in loops if loop.times > 1])
    least = kernels.LINE // gcd(kernels.LINE, length)
    more = 2 * least if least == 1 or least * length < 2 * kernels.LINE else least
    touching = next((at for at, loop in enumerate(ordered) if loop.destination == length), None)
    if touching is None:
        found = [*ordered, Loop(1, 0, 0)]
        return found if _in_whole_lines(length, to, ordered) else None
    times, away, near = ordered[touching]
    for turns in (more, least):
        whole = Loop(times // turns, away * turns, near * turns)
        others = [*ordered[:touching], whole, *ordered[touching + 1 :]]
        if times % turns == 0 and _in_whole_lines(turns * length, to, others):
            return [*others, Loop(turns, away, near)]
    return None


def tile(length: int, first: Loop, second: Loop) -> tuple[int, int]:
    """Give how many turns of each loop a tile has: whole lines of the destination where they fit.

    All of the first loop where that is little, else a line of the source; of the second as many
    as fill the tile's memory; what is left of it goes to the first again.
    """
    whole = first.times * length
    rows = first.times if whole < TILE // 2 else max(1, kernels.LINE // length)
    columns = min(second.times, _in_lines(TILE // (rows * length), length))
    if columns == second.times:
        rows = max(rows, _in_lines(TILE // (columns * length), columns * length))
    return min(rows, first.times), columns


def _in_lines(turns: int, length: int) -> int:
    """Give at most so many turns, but one, that fill lines where some do."""
    least = kernels.LINE // gcd(kernels.LINE, length)
    return max(1, turns // least * least or turns)


def _ahead(length: int, first: Loop, second: Loop, rows: int) -> int:
    """Give how far from a tile's column that one is which is read some time later."""
    if first.source != length:
        return 0
    if rows < first.times:
        return rows * length
    return max(1, kernels.AHEAD // (abs(second.source) or 1)) * second.source


def _for_streams(loops: Sequence[Loop]) -> list[Loop]:
    """Put loops in the source's order, those of few turns last.

    Both sides are then gone through in a few streams, each from its beginning to its end, which
    is what a processor fetches ahead and gathers writes for.
    """
    order = sorted(loops, key=lambda loop: -abs(loop.source))
    streams, inner = 1, list[Loop]()
    for loop in reversed(order):
        if streams * loop.times <= STREAMS:
            streams *= loop.times
            inner.insert(0, loop)
    return [loop for loop in order if loop not in inner] + inner


def _for_tiles(loops: Sequence[Loop]) -> list[Loop]:
    """Put the loops with the shortest steps on either side last; they are the tiles."""
    rest = sorted(loops, key=lambda loop: -abs(loop.destination))
    if len(rest) > 1:
        inner = rest.pop()
        nearest = min(rest, key=lambda loop: abs(loop.source))
        if abs(nearest.source) < abs(inner.source):
            rest.remove(nearest)
            rest.append(nearest)
        rest.append(inner)
    return rest


def _width(part: Part, values: Sequence[int]) -> int:
    """Give the widest item that divides the run and all of the values."""
    common = gcd(part.length, *values)
    return next(width for width in ITEMS if common % width == 0)
