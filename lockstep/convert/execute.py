"""A plan carried out on memory: arrays, tensors, or whatever shows its bytes [CONV-9, CONV-10]."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from lockstep.convert import kernels
from lockstep.convert.memory import Bytes, bytes_of, empty, require_apart
from lockstep.convert.movers import by_numba, by_numpy
from lockstep.convert.parts import Part, parts, shared
from lockstep.convert.plan import Plan
from lockstep.cores import cores
from lockstep.errors import LockstepError

PAST_CACHE = 32 << 20
"""Bytes of a destination from which on a last-level cache does not keep it."""
Mover = Callable[[Part, Bytes, Bytes], None]

ENGINES = ("numba", "numpy")
"""What copies, the first that is installed."""


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
        LockstepError: BAD_VALUE at a buffer of another length, that is not contiguous or writable,
            or that shares memory with the destination, or at `threads` below 1; LIBRARY_MISSING
            where the engine is not installed, USAGE where it is none.
    """
    made = destination
    if made is None:
        made = [empty(one.bytes) for one in plan.destination.buffers]
        if plan.padding:
            for one in made:
                one.fill(0)
    reads = bytes_of(source, plan.source.buffers, "source", writable=False)
    writes = bytes_of(made, plan.destination.buffers, "destination", writable=True)
    places = ([(one.ctypes.data, one.nbytes) for one in side] for side in (reads, writes))
    require_apart(plan, *places)
    move = _mover(engine, plan)
    if threads is None:
        threads = cores()
    if threads < 1:
        raise LockstepError("BAD_VALUE", "threads", "1 or more", threads)
    shares = [one for part in parts(plan) for one in shared(part, threads)]

    def run(part: Part) -> None:
        move(part, reads[part.source_buffer], writes[part.destination_buffer])

    if threads == 1 or len(shares) == 1:
        for share in shares:
            run(share)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(run, shares))
    return list(made)


def _mover(engine: str | None, plan: Plan) -> Mover:
    if engine is None:
        engine = "numba" if kernels.installed() else "numpy"
    if engine not in ENGINES:
        raise LockstepError("USAGE", "--engine", f"one of {', '.join(ENGINES)}", engine)
    if engine == "numpy":
        return by_numpy
    if not kernels.installed():
        hint = "Install the extra 'convert', or take the engine numpy."
        raise LockstepError("LIBRARY_MISSING", "--engine", "numba", "no such library", hint)
    return partial(by_numba, past_cache=plan.bytes >= PAST_CACHE)
