"""Copies as machine code, compiled by Numba where it is installed [CONV-10].

NumPy leaves its loop after each run, and reads each line of the destination before it overwrites
it. Here whole lines are stored past the cache, where it would not keep the destination, and what is
read is asked for ahead. Runs are copied in the order of the source, some of them together where
they share lines of the destination. Short runs that fill no lines so are gathered in tiles, in the
order of the destination, in memory that stays in the first-level cache, and stored from there.

Stores past the cache are ordered with no others of their thread until it takes a lock; a kernel
takes the interpreter's when it returns, before anyone can be told that it is done.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from importlib.util import find_spec
from threading import RLock
from typing import Any, TypeVar

LINE = 64
"""Bytes of a cache line, and of the widest move."""
WIDTHS = (64, 32, 16, 8, 4, 2, 1)
"""Bytes that one load and one store of a tile move."""
AHEAD = 2048
"""Bytes from what is read to what is asked for: some hundred nanoseconds of a core's bandwidth."""
FIXED = 256
"""Bytes of a run below which a kernel for its length alone is the faster one."""

Built = TypeVar("Built")
Kernel = Callable[..., Any]
_BUILDS = RLock()


def installed() -> bool:
    """Whether Numba is at hand."""
    return find_spec("numba") is not None


def once(build: Callable[..., Built]) -> Callable[..., Built]:
    """Keep what is built; of several threads that ask for the same, one builds it."""
    kept = cache(build)

    @wraps(build)
    def built(*arguments: Any, **named: Any) -> Built:
        with _BUILDS:
            return kept(*arguments, **named)

    return built


@once
def pieced(width: int, fixed: int, past_cache: bool) -> Kernel:
    """Give `f(destination, source, length, first, second, inner, outer)`, which copies runs.

    `destination` and `source` are addresses; a run has `length` bytes, those of `fixed` where this
    is not 0, moved `width` at a time, which divide it and all of the destination's places. A loop
    is (count, source step, destination step) in bytes: `first`, `second` and `inner` are tuples,
    the last one innermost; `outer` has shape (n, 3) and holds the others. The interpreter's lock is
    released.
    """
    turns, place = _outer()
    move, ask = _move(width, past_cache), _ask()

    def copy(destination, source, length, first, second, inner, outer):  # type: ignore[no-untyped-def]
        run = fixed or length
        for turn in range(turns(outer)):
            to, came = destination + place(outer, turn, 2), source + place(outer, turn, 1)
            for i in range(first[0]):
                for j in range(second[0]):
                    for k in range(inner[0]):
                        here = to + i * first[2] + j * second[2] + k * inner[2]
                        there = came + i * first[1] + j * second[1] + k * inner[1]
                        for at in range(0, run, LINE):
                            ask(there + AHEAD + at)
                        for at in range(0, run, width):
                            move(here + at, there + at)

    return _compiled(copy)


@once
def streamed(past_cache: bool) -> Kernel:
    """Give `f(destination, source, length, first, second, outer)`, which copies run by run.

    The rest is as of `pieced`.
    """
    stretch = _stretch(past_cache, asks=True)
    turns, place = _outer()

    def copy(destination, source, length, first, second, outer):  # type: ignore[no-untyped-def]
        for turn in range(turns(outer)):
            to, came = destination + place(outer, turn, 2), source + place(outer, turn, 1)
            for i in range(first[0]):
                for j in range(second[0]):
                    here = to + i * first[2] + j * second[2]
                    stretch(here, came + i * first[1] + j * second[1], length)

    return _compiled(copy)


@once
def tiled(width: int, past_cache: bool) -> Kernel:
    """Give `f(destination, source, length, first, second, outer, tile, ahead, scratch)`.

    It copies in tiles of `tile` = (turns of the first loop, turns of the second). Where `scratch`
    is an address, of memory for a tile, the second loop's runs touch in the destination: a tile is
    gathered there and stored row by row, or at once where its rows touch too. Where it is 0, runs
    go to their places one by one. A run is moved `width` bytes at a time, at most its length, the
    last move reaching back over others. While a column of a tile is read, the one `ahead` bytes
    further is asked for; 0 for none. The rest is as of `streamed`.
    """
    turns, place = _outer()
    gather, store = _gather(width), _store(past_cache)

    def copy(destination, source, length, first, second, outer, tile, ahead, scratch):  # type: ignore[no-untyped-def]
        for turn in range(turns(outer)):
            to, came = destination + place(outer, turn, 2), source + place(outer, turn, 1)
            for j in range(0, second[0], tile[1]):
                columns = min(tile[1], second[0] - j)
                for i in range(0, first[0], tile[0]):
                    rows = min(tile[0], first[0] - i)
                    here = to + i * first[2] + j * second[2]
                    there = came + i * first[1] + j * second[1]
                    away = (first[1], second[1])
                    if scratch:
                        row = columns * length
                        gather(scratch, there, length, (rows, columns), (row, length), away, ahead)
                        store(here, scratch, rows, first[2], row)
                    else:
                        near = (first[2], second[2])
                        gather(here, there, length, (rows, columns), near, away, ahead)

    return _compiled(copy)


def _gather(width: int) -> Kernel:
    """Give `f(to, came, length, counts, near, away, ahead)`, which copies a tile's runs.

    `counts`, `near` and `away` are of rows and of columns: how many, and the steps on both sides.
    """
    move, ask = _move(width), _ask()

    def gather(to, came, length, counts, near, away, ahead):  # type: ignore[no-untyped-def]
        for j in range(counts[1]):
            column = came + j * away[1]
            if ahead:
                for at in range(0, counts[0] * length, LINE):
                    ask(column + ahead + at)
            for i in range(counts[0]):
                here, there = to + i * near[0] + j * near[1], column + i * away[0]
                for at in range(0, length - width, width):
                    move(here + at, there + at)
                move(here + length - width, there + length - width)

    return _compiled(gather)


def _store(past_cache: bool) -> Kernel:
    """Give `f(to, scratch, rows, step, row)`, which stores rows of so many bytes, a step apart."""
    stretch = _stretch(past_cache, asks=False)

    def store(to, scratch, rows, step, row):  # type: ignore[no-untyped-def]
        if step == row:
            stretch(to, scratch, rows * row)
        else:
            for i in range(rows):
                stretch(to + i * step, scratch + i * row, row)

    return _compiled(store)


@once
def _stretch(past_cache: bool, asks: bool) -> Kernel:
    """Give `f(destination, source, length)`: lines of the destination, and what lies around them.

    With `asks` it asks for what it will read AHEAD.
    """
    edge, move, ask = _edge(), _move(LINE, past_cache), _ask()

    def stretch(to, came, length):  # type: ignore[no-untyped-def]
        head = min(-to % LINE, length)
        end = head + (length - head) // LINE * LINE
        edge(to, came, head)
        for at in range(head, end, LINE):
            if asks:
                ask(came + at + AHEAD)
            move(to + at, came + at)
        edge(to + end, came + end, length - end)

    return _compiled(stretch)


@once
def _edge() -> Kernel:
    """Give `f(destination, source, length)` for less than a line."""
    move_16, move_8, move_1 = _move(16), _move(8), _move(1)

    def edge(to, came, length):  # type: ignore[no-untyped-def]
        at = 0
        while length - at >= 16:
            move_16(to + at, came + at)
            at += 16
        if length - at >= 8:
            move_8(to + at, came + at)
            at += 8
        while at < length:
            move_1(to + at, came + at)
            at += 1

    return _compiled(edge)


@once
def _outer() -> tuple[Kernel, Kernel]:
    """Give `turns(outer)`, how many there are of all loops, and `place(outer, turn, side)`.

    The latter is how far the loops have gone on one side.
    """

    def turns(outer):  # type: ignore[no-untyped-def]
        total = 1
        for level in range(outer.shape[0]):
            total *= outer[level, 0]
        return total

    def place(outer, turn, side):  # type: ignore[no-untyped-def]
        far = 0
        for level in range(outer.shape[0] - 1, -1, -1):
            far += turn % outer[level, 0] * outer[level, side]
            turn //= outer[level, 0]
        return far

    return _compiled(turns), _compiled(place)


def _compiled(function: Kernel) -> Kernel:
    import numba

    return numba.njit(nogil=True)(function)


def _move(width: int, past_cache: bool = False) -> Any:
    """Give the intrinsic that moves so many bytes between two addresses."""
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


def _ask() -> Any:
    """Give the intrinsic that asks for the line at an address, which need not be memory."""
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    def ask(context: Any, address: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
            prefetch = builder.module.declare_intrinsic("llvm.prefetch.p0", fnty=kind)
            to_read, keep, data = word(0), word(3), word(1)
            builder.call(prefetch, [builder.inttoptr(arguments[0], byte), to_read, keep, data])
            return context.get_dummy_value()

        return types.void(types.intp), emit

    return intrinsic(ask)
