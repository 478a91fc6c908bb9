"""Copies of a plan: runs and loops, as whole numbers, and where they go [CONV-5, CONV-7]."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from math import prod
from operator import index
from typing import NamedTuple

import numpy as np

from lockstep.convert.buffers import APART
from lockstep.errors import LockstepError

HINT = "`lockstep.convert.plan.plan` makes copies that hold; mend those that were changed or added."
"""What to do where copies are refused."""


class Loop(NamedTuple):
    """So many times, each so many bytes behind the one before."""

    times: int
    source: int
    destination: int


class Copy(NamedTuple):
    """Runs of `length` bytes, repeated by loops, the outermost first; addresses of [CONV-3]."""

    source: int
    destination: int
    length: int
    loops: tuple[Loop, ...]

    @property
    def runs(self) -> int:
        """Number of runs."""
        return prod(loop.times for loop in self.loops)

    @property
    def bytes(self) -> int:
        """Bytes that are copied."""
        return self.length * self.runs


def owned(copies: Iterable[Copy]) -> tuple[Copy, ...]:
    """Give copies as tuples of whole numbers, without loops that are gone through once."""
    try:
        found = []
        for source, destination, length, loops in copies:
            whole = (Loop(*map(index, loop)) for loop in loops)
            kept = tuple(loop for loop in whole if loop.times != 1)
            found.append(Copy(index(source), index(destination), index(length), kept))
    except (TypeError, ValueError) as fault:
        expected = "copies of whole numbers, as [CONV-5] has them"
        raise LockstepError("BAD_VALUE", "plan", expected, str(fault), HINT) from None
    return tuple(found)


def runs_lie_apart(copy: Copy) -> bool:
    """Whether no two runs of a copy overlap in the destination.

    The innermost loops that step over all that those within them span are one stretch; the starts
    of these stretches, where a table has put them anywhere, are looked at one by one.
    """
    span, inner = copy.length, len(copy.loops)
    for loop in reversed(copy.loops):
        if abs(loop.destination) < span:
            break
        span += abs(loop.destination) * (loop.times - 1)
        inner -= 1
    stretches = list(copy.loops[inner:])
    while True:
        starts = np.zeros(1, dtype=np.int64)
        for loop in copy.loops[:inner]:
            steps = np.arange(loop.times, dtype=np.int64) * loop.destination
            starts = (starts[:, None] + steps).reshape(-1)
        starts.sort()
        if len(starts) == 1 or int(np.diff(starts).min()) >= span:
            return True
        if not stretches:
            return False
        widest = stretches.pop(0)
        span -= abs(widest.destination) * (widest.times - 1)
        inner += 1


def within(copy: Copy, name: str, lengths: Sequence[int]) -> bool:
    """Whether each run lies in a buffer of one side."""
    start = getattr(copy, name)
    steps = [(loop.times, getattr(loop, name)) for loop in copy.loops]
    low, high = _reach(steps)
    if start + low < 0 or start + high >= len(lengths) * APART:
        return False
    far = [range(0, times * step, step) for times, step in steps if abs(step) >= APART // 2]
    low, high = _reach([(times, step) for times, step in steps if abs(step) < APART // 2])
    for places in product(*far):
        number, offset = divmod(start + sum(places), APART)
        if offset + low < 0 or offset + high + copy.length > lengths[number]:
            return False
    return True


def _reach(steps: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Give how far loops go before and behind where they begin."""
    ends = [(times - 1) * step for times, step in steps]
    return sum(end for end in ends if end < 0), sum(end for end in ends if end > 0)
