"""A plan carried out on memory: arrays, tensors, or whatever shows its bytes [CONV-9, CONV-10]."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise, product
from math import gcd
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from lockstep.convert import kernels
from lockstep.convert.buffers import APART, Buffer
from lockstep.convert.plan import Loop, Plan
from lockstep.errors import LockstepError

Bytes = NDArray[np.uint8]

ITEMS = (16, 8, 4, 2, 1)
"""Bytes of an item that NumPy moves at a time."""
LEAST_SHARE = 1 << 20
"""Bytes below which a thread of its own does not pay."""
TILE = 32
"""Items a side of a tile: 32 lines of each side, some kilobytes, stay in a first-level cache."""
UNTILED = 1 << 62
STREAMS = 16
"""Streams of memory that a processor keeps apart."""
ENGINES = ("numba", "numpy")
"""What copies, the first that is installed."""


class Part(NamedTuple):
    """A copy within one pair of buffers; addresses are offsets in them."""

    source_buffer: int
    destination_buffer: int
    source: int
    destination: int
    length: int
    loops: tuple[Loop, ...]


def convert(
    plan: Plan,
    source: Sequence[Any],
    destination: Sequence[Any] | None = None,
    threads: int | None = None,
    engine: str | None = None,
) -> list[Any]:
    """Carry a plan out.

    Args:
        plan: of the conversion.
        source: the source's buffers in the plan's order: NumPy arrays, torch tensors on the CPU,
            anything with `__dlpack__` or the buffer protocol; of any type, contiguous.
        destination: the destination's buffers likewise, writable; None makes them, padding zero.
        threads: at most so many; None for one a core.
        engine: one of ENGINES; None for the first that is installed.

    Returns:
        The destination's buffers; where they were made, NumPy arrays of bytes.

    Raises:
        LockstepError: BAD_VALUE at a buffer of another length, or that is not contiguous or
            writable; LIBRARY_MISSING where the engine is not installed.
    """
    made = destination
    if made is None:
        made = [empty(one.bytes) for one in plan.destination.buffers]
        if plan.padding:
            for one in made:
                one.fill(0)
    reads = _bytes_of(source, plan.source.buffers, "source", writable=False)
    writes = _bytes_of(made, plan.destination.buffers, "destination", writable=True)
    move = _mover(engine)
    threads = threads or len(os.sched_getaffinity(0))
    shares = [one for part in parts(plan) for one in _shared(part, threads)]

    def run(part: Part) -> None:
        move(part, reads[part.source_buffer], writes[part.destination_buffer])

    if threads == 1 or len(shares) == 1:
        for share in shares:
            run(share)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(run, shares))
    return list(made)


def empty(length: int) -> Bytes:
    """Give memory that begins at a cache line, its content whatever it holds."""
    whole = np.empty(length + kernels.LINE, dtype=np.uint8)
    start = -whole.ctypes.data % kernels.LINE
    return whole[start : start + length]


def parts(plan: Plan) -> Iterator[Part]:
    """Give a plan's copies, those that go over several buffers once for each pair of them."""
    for copy in plan.copies:
        over = [loop for loop in copy.loops if _crosses(loop)]
        inner = tuple(loop for loop in copy.loops if not _crosses(loop))
        for places in product(*(range(loop.times) for loop in over)):
            steps = list(zip(places, over, strict=True))
            source = copy.source + sum(place * loop.source for place, loop in steps)
            destination = copy.destination + sum(place * loop.destination for place, loop in steps)
            yield Part(
                source // APART, destination // APART, source % APART, destination % APART,
                copy.length, inner,
            )  # fmt: skip


def _crosses(loop: Loop) -> bool:
    """Whether a loop leaves a buffer; none is as long as half the distance of two."""
    return max(abs(loop.source), abs(loop.destination)) >= APART // 2


def _bytes_of(given: Sequence[Any], buffers: Sequence[Buffer], name: str, writable: bool) -> Any:
    """See buffers as their bytes."""
    if len(given) != len(buffers):
        raise LockstepError("BAD_VALUE", name, f"{len(buffers)} buffers", len(given))
    seen = []
    for number, (one, buffer) in enumerate(zip(given, buffers, strict=True)):
        where = f"{name} buffer {number}, {buffer.tensor}"
        array = _array(one, where)
        if not array.flags.c_contiguous or array.nbytes != buffer.bytes:
            got = f"{array.nbytes} bytes, strides {array.strides}"
            raise LockstepError("BAD_VALUE", where, f"{buffer.bytes} contiguous bytes", got)
        if writable and not array.flags.writeable:
            raise LockstepError("BAD_VALUE", where, "memory that can be written", "read-only")
        seen.append(array.reshape(-1).view(np.uint8))
    return seen


def _array(one: Any, where: str) -> NDArray[Any]:
    """See whatever shows its bytes as an array over the same memory."""
    if isinstance(one, np.ndarray):
        return one
    if hasattr(one, "data_ptr"):
        import torch

        if one.device.type != "cpu":
            hint = "Use lockstep.convert.device for tensors of an accelerator."
            raise LockstepError("BAD_VALUE", where, "memory of the CPU", str(one.device), hint)
        # A type that NumPy does not know, such as bfloat16, has bytes all the same.
        return one.detach().view(torch.uint8).numpy()  # type: ignore[no-any-return]
    if hasattr(one, "__dlpack__"):
        return np.from_dlpack(one)
    return np.frombuffer(one, dtype=np.uint8)


def _shared(part: Part, threads: int) -> list[Part]:
    """Cut a part along its longest loop, or its run, into so many shares where that pays."""
    total = part.length
    for loop in part.loops:
        total *= loop.times
    shares = min(threads, total // LEAST_SHARE)
    if shares < 2:
        return [part]
    longest = max(part.loops, key=lambda loop: loop.times, default=Loop(0, 0, 0))
    if longest.times < shares:
        return _cut_run(part, shares) if not part.loops else [part]
    at = part.loops.index(longest)
    cut = [longest.times * share // shares for share in range(shares + 1)]
    return [
        part._replace(
            source=part.source + first * longest.source,
            destination=part.destination + first * longest.destination,
            loops=(*part.loops[:at], longest._replace(times=last - first), *part.loops[at + 1 :]),
        )
        for first, last in pairwise(cut)
    ]


def _cut_run(part: Part, shares: int) -> list[Part]:
    step = -(-part.length // shares // kernels.LINE) * kernels.LINE
    return [
        part._replace(
            source=part.source + at,
            destination=part.destination + at,
            length=min(step, part.length - at),
        )
        for at in range(0, part.length, step)
    ]


def _mover(engine: str | None) -> Any:
    if engine is None:
        engine = "numba" if kernels.installed() else "numpy"
    if engine not in ENGINES:
        raise LockstepError("USAGE", "--engine", f"one of {', '.join(ENGINES)}", engine)
    if engine == "numba" and not kernels.installed():
        hint = "Install the extra 'convert', or take the engine numpy."
        raise LockstepError("LIBRARY_MISSING", "--engine", "numba", "no such library", hint)
    return _by_numba if engine == "numba" else _by_numpy


def _by_numpy(part: Part, source: Bytes, destination: Bytes) -> None:
    """Copy by one assignment between two views."""
    steps = [value for loop in part.loops for value in loop[1:]]
    width = _width(part, steps, ITEMS)
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


def _by_numba(part: Part, source: Bytes, destination: Bytes) -> None:
    """Copy by the kernel that suits the runs."""
    came, to = source.ctypes.data + part.source, destination.ctypes.data + part.destination
    written = [loop.destination for loop in part.loops]
    width = _width(part, [to, *written], kernels.WIDTHS)
    past_cache = width >= 16 and part.length >= kernels.LINE
    if past_cache:
        loops, tile = _for_streams(part.loops), UNTILED
    else:
        width = _width(part, [], kernels.WIDTHS[1:])
        loops, tile = _for_tiles(part.loops), TILE
    one = Loop(1, 0, 0)
    *outer, first, second = [one, one, *loops]
    kernels.kernel(width, past_cache)(
        to, came, part.length // width, tuple(first), tuple(second), tile,
        np.array(outer, dtype=np.int64).reshape(-1, 3),
    )  # fmt: skip


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


def _width(part: Part, values: Sequence[int], widths: Sequence[int]) -> int:
    """Give the widest item that divides the run and all of the values."""
    common = gcd(part.length, *values)
    return next(width for width in widths if common % width == 0)
