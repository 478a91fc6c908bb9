"""A plan carried out on tensors of an accelerator, by a Triton kernel [CONV-9, CONV-10]."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, prod
from typing import TYPE_CHECKING, Any

import torch
import triton
import triton.language as tl

from lockstep.convert.execute import Part, parts
from lockstep.convert.plan import Loop, Plan
from lockstep.errors import LockstepError

if TYPE_CHECKING:
    from torch import Tensor

ITEMS = {8: torch.int64, 4: torch.int32, 2: torch.int16, 1: torch.uint8}
"""Bytes of an item and the type that moves it."""
LOOPS = 4
"""Loops that the kernel takes; more are gone through by the host, the longest steps first."""
TILE = 2048
"""Items that a program of the kernel moves."""


@triton.jit  # type: ignore[untyped-decorator]
def _copy(  # type: ignore[no-untyped-def]
    source, destination, runs, run,
    n0, s0, d0, n1, s1, d1, n2, s2, d2, n3, s3, d3,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Copy ROWS runs, COLUMNS items of each; places and steps are in items."""
    number = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    item = tl.program_id(1).to(tl.int64) * COLUMNS + tl.arange(0, COLUMNS)
    left = number
    came = (left % n3) * s3
    to = (left % n3) * d3
    left = left // n3
    came += (left % n2) * s2
    to += (left % n2) * d2
    left = left // n2
    came += (left % n1) * s1
    to += (left % n1) * d1
    left = left // n1
    came += (left % n0) * s0
    to += (left % n0) * d0
    inside = (number < runs)[:, None] & (item < run)[None, :]
    moved = tl.load(source + came[:, None] + item[None, :], mask=inside)
    tl.store(destination + to[:, None] + item[None, :], moved, mask=inside)


def convert(plan: Plan, source: Sequence[Tensor], destination: Sequence[Tensor]) -> None:
    """Carry a plan out on the tensors' device; what is enqueued need not have ended.

    Args:
        plan: of the conversion.
        source: the source's buffers, contiguous tensors of one device.
        destination: the destination's, likewise.

    Raises:
        LockstepError: BAD_VALUE at a tensor of another length, that is not contiguous, or that
            lies on another device.
    """
    came = _bytes_of(source, plan.source.buffers, "source", source[0].device)
    to = _bytes_of(destination, plan.destination.buffers, "destination", source[0].device)
    for part in parts(plan):
        _part(part, came[part.source_buffer], to[part.destination_buffer])


def _bytes_of(tensors: Sequence[Tensor], buffers: Any, name: str, device: Any) -> list[Tensor]:
    if len(tensors) != len(buffers):
        raise LockstepError("BAD_VALUE", name, f"{len(buffers)} buffers", len(tensors))
    for number, (one, buffer) in enumerate(zip(tensors, buffers, strict=True)):
        size = one.numel() * one.element_size()
        if not one.is_contiguous() or size != buffer.bytes or one.device != device:
            expected = f"{buffer.bytes} contiguous bytes on {device}"
            got = f"{size} bytes on {one.device}, strides {one.stride()}"
            raise LockstepError("BAD_VALUE", f"{name} buffer {number}", expected, got)
    return [one.reshape(-1).view(torch.uint8) for one in tensors]


def _part(part: Part, source: Tensor, destination: Tensor) -> None:
    steps = [value for loop in part.loops for value in loop[1:]]
    common = gcd(part.length, part.source, part.destination, *steps)
    width = next(width for width in ITEMS if common % width == 0)
    loops = [Loop(one.times, one.source // width, one.destination // width) for one in part.loops]
    outer, inner = loops[:-LOOPS], loops[-LOOPS:]
    came, to = (
        memory[start:].view(ITEMS[width])
        for memory, start in ((source, part.source), (destination, part.destination))
    )
    _over(outer, inner, part.length // width, came, to)


def _over(
    outer: Sequence[Loop], inner: Sequence[Loop], run: int, source: Tensor, destination: Tensor
) -> None:
    """Go through the loops that the kernel does not take."""
    if outer:
        first, *rest = outer
        for place in range(first.times):
            _over(
                rest, inner, run, source[place * first.source :],
                destination[place * first.destination :],
            )  # fmt: skip
        return
    padded = [Loop(1, 0, 0)] * (LOOPS - len(inner)) + list(inner)
    columns = min(triton.next_power_of_2(run), TILE)
    rows = TILE // columns
    runs = prod(loop.times for loop in padded)
    _copy[(triton.cdiv(runs, rows), triton.cdiv(run, columns))](
        source, destination, runs, run, *(value for loop in padded for value in loop),
        ROWS=rows, COLUMNS=columns,
    )  # fmt: skip
