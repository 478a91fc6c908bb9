"""The copies of a plan within pairs of buffers, and shares of them for threads [CONV-3]."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from math import prod
from typing import NamedTuple

from lockstep.convert.buffers import APART
from lockstep.convert.copies import Loop
from lockstep.convert.kernels import LINE
from lockstep.convert.plan import Plan

LEAST_SHARE = 4 << 20
"""Bytes below which a thread of its own does not pay."""
STEPS = 16
"""Steps of a share, at least, where a step is more than one turn."""


class Part(NamedTuple):
    """A copy within one pair of buffers; addresses are offsets in them."""

    source_buffer: int
    destination_buffer: int
    source: int
    destination: int
    length: int
    loops: tuple[Loop, ...]


def parts(plan: Plan) -> Iterator[Part]:
    """Give a plan's copies, those that go over several buffers once for each pair of them."""
    for copy in plan.copies:
        over = [loop for loop in copy.loops if _crosses(loop)]
        inner = tuple(loop for loop in copy.loops if not _crosses(loop))
        for source, destination in starts(copy.source, copy.destination, over):
            yield Part(
                source // APART, destination // APART, source % APART, destination % APART,
                copy.length, inner,
            )  # fmt: skip


def starts(source: int, destination: int, loops: Sequence[Loop]) -> Iterator[tuple[int, int]]:
    """Go through loops from a place on both sides, and give the places that they come to."""
    for places in product(*(range(loop.times) for loop in loops)):
        steps = list(zip(places, loops, strict=True))
        yield (
            source + sum(place * loop.source for place, loop in steps),
            destination + sum(place * loop.destination for place, loop in steps),
        )


def _crosses(loop: Loop) -> bool:
    """Whether a loop leaves a buffer; none is as long as half the distance of two."""
    return max(abs(loop.source), abs(loop.destination)) >= APART // 2


def shared(part: Part, threads: int) -> list[Part]:
    """Cut a part along its longest loop, or its run, into so many shares or fewer that pay."""
    shares = min(threads, part.length * prod(loop.times for loop in part.loops) // LEAST_SHARE)
    if shares < 2:
        return [part]
    longest = max(part.loops, key=lambda loop: loop.times, default=Loop(0, 0, 0))
    if longest.times < shares:
        return _cut_run(part, shares) if not part.loops else [part]
    at = part.loops.index(longest)
    # In steps that keep a share's beginning at a line where the part's is, if there are many.
    step = LINE
    while step > 1 and longest.times < STEPS * step * shares:
        step //= 2
    cut = [longest.times // step * share // shares * step for share in range(shares)]
    cut.append(longest.times)
    return [
        part._replace(
            source=part.source + first * longest.source,
            destination=part.destination + first * longest.destination,
            loops=(*part.loops[:at], longest._replace(times=last - first), *part.loops[at + 1 :]),
        )
        for first, last in pairwise(cut)
    ]


def _cut_run(part: Part, shares: int) -> list[Part]:
    step = -(-part.length // shares // LINE) * LINE
    return [
        part._replace(
            source=part.source + at,
            destination=part.destination + at,
            length=min(step, part.length - at),
        )
        for at in range(0, part.length, step)
    ]
