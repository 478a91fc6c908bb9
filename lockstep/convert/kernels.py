"""Copies as machine code, compiled by Numba where it is installed [CONV-10].

NumPy leaves its loop after each run, and reads each line of the destination before it overwrites
it. Here runs of whole cache lines are stored past the cache, in the order of the source; shorter
ones are taken in square tiles, so that the lines of both sides stay in the cache meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Any

LINE = 64
"""Bytes of a cache line, and of the widest store."""
WIDTHS = (64, 16, 8, 4, 2, 1)
"""Bytes of an item that one load and one store move."""

Kernel = Callable[..., None]


def installed() -> bool:
    """Whether Numba is at hand."""
    return find_spec("numba") is not None


@cache
def kernel(width: int, past_cache: bool) -> Kernel:
    """Give `f(destination, source, items, first, second, tile, outer)`, which copies runs.

    `destination` and `source` are addresses; `items` of `width` bytes are a run; `first` and
    `second` are the two inner loops, each (count, source step, destination step) in bytes, the
    second one the inner, both taken in tiles of `tile` by `tile`; `outer` has shape (n, 3) and
    holds the other loops likewise. Stores are aligned to `width` where they go past the cache.
    The interpreter is released.
    """
    import numba

    move = _move(width, past_cache)

    @numba.njit(nogil=True)
    def copy(destination, source, items, first, second, tile, outer):  # type: ignore[no-untyped-def]
        total = 1
        for level in range(outer.shape[0]):
            total *= outer[level, 0]
        for number in range(total):
            to, came, left = destination, source, number
            for level in range(outer.shape[0] - 1, -1, -1):
                place = left % outer[level, 0]
                left //= outer[level, 0]
                came += place * outer[level, 1]
                to += place * outer[level, 2]
            for row in range(0, first[0], tile):
                for column in range(0, second[0], tile):
                    for i in range(row, min(row + tile, first[0])):
                        for j in range(column, min(column + tile, second[0])):
                            here = to + i * first[2] + j * second[2]
                            there = came + i * first[1] + j * second[1]
                            for item in range(items):
                                move(here + item * width, there + item * width)

    return copy


def _move(width: int, past_cache: bool) -> Any:
    """Give the intrinsic that moves one item between two addresses."""
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    word = ir.IntType(min(width, 8) * 8)
    item = word if width <= 8 else ir.VectorType(word, width // 8)

    def move(context: Any, destination: Any, source: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            to, came = (builder.inttoptr(one, item.as_pointer()) for one in arguments)
            loaded = builder.load(came)
            loaded.align = 1
            stored = builder.store(loaded, to, align=width if past_cache else 1)
            if past_cache:
                one = ir.Constant(ir.IntType(32), 1)
                stored.set_metadata("nontemporal", builder.module.add_metadata([one]))
            return context.get_dummy_value()

        return types.void(types.intp, types.intp), emit

    return intrinsic(move)
