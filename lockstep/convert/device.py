"""A plan carried out on tensors of an accelerator, by a Triton kernel [CONV-9, CONV-10]."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, prod
from typing import TYPE_CHECKING, Any

import torch
import triton
import triton.language as tl

from lockstep.convert.copies import Loop
from lockstep.convert.memory import paired, require_apart, require_plain
from lockstep.convert.parts import Part, parts, starts
from lockstep.convert.plan import Plan
from lockstep.errors import LockstepError

if TYPE_CHECKING:
    from torch import Tensor

    from lockstep.convert.buffers import Buffer

ITEMS = {8: torch.int64, 4: torch.int32, 2: torch.int16, 1: torch.uint8}
"""Bytes of an item and the type that moves it."""
LOOPS = 4
"""Loops that the kernel takes; more are gone through by the host, the longest steps first."""
TILE = 2048
"""Items that a program of the kernel moves."""
LONGEST = TILE << 14
"""Items of a run that are moved at once; a grid's second axis has at most 65,535 programs."""


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


HOSTED = ("cpu", "meta") if isinstance(_copy, triton.JITFunction) else ("meta",)
"""Devices whose tensors the kernel cannot reach; interpreted, it reaches the CPU's."""


def convert(plan: Plan, source: Sequence[Tensor], destination: Sequence[Tensor]) -> None:
    """Carry a plan out on the tensors' device; what is enqueued need not have ended.

    Args:
        plan: of the conversion.
        source: the source's buffers, contiguous tensors of one device.
        destination: the destination's, likewise.

    Raises:
        LockstepError: BAD_VALUE at what is no tensor of an accelerator, at a tensor of another
            length, that is not contiguous, that lies on another device, or, in the destination,
            that is not apart from all others.
    """
    came = _bytes_of(source, plan.source.buffers, "source")
    to = _bytes_of(destination, plan.destination.buffers, "destination", came[0].device)
    came_at, to_at = ([(one.data_ptr(), one.numel()) for one in side] for side in (came, to))
    require_apart(plan, came_at, to_at)
    for part in parts(plan):
        _part(part, came[part.source_buffer], to[part.destination_buffer])


def _bytes_of(
    tensors: Sequence[Tensor], buffers: Sequence[Buffer], side: str, device: Any = None
) -> list[Tensor]:
    for one, buffer, where in paired(tensors, buffers, side):
        if not isinstance(one, torch.Tensor) or one.device.type in HOSTED:
            got = str(one.device) if isinstance(one, torch.Tensor) else type(one).__name__
            hint = "Use lockstep.convert.execute for memory of the CPU."
            raise LockstepError("BAD_VALUE", where, "a tensor of an accelerator", got, hint)
        require_plain(one, where)
        device = device or one.device
        size = one.numel() * one.element_size()
        if size != buffer.bytes or one.device != device:
            expected, got = f"{buffer.bytes} bytes on {device}", f"{size} bytes on {one.device}"
            raise LockstepError("BAD_VALUE", where, expected, got)
    return [one.reshape(-1).view(torch.uint8) for one in tensors]


def _part(part: Part, source: Tensor, destination: Tensor) -> None:
    steps = [value for loop in part.loops for value in loop[1:]]
    # A type is seen only in whole numbers of items, and read only where an item may begin.
    memory = [
        value
        for one in (source, destination)
        for value in (one.numel(), one.storage_offset(), one.data_ptr())
    ]
    common = gcd(part.length, part.source, part.destination, *steps, *memory)
    width = next(width for width in ITEMS if common % width == 0)
    loops = [Loop(one.times, one.source // width, one.destination // width) for one in part.loops]
    came, to = (one.view(ITEMS[width]) for one in (source, destination))
    for first, second in starts(part.source // width, part.destination // width, loops[:-LOOPS]):
        _launch(loops[-LOOPS:], part.length // width, came[first:], to[second:])


def _launch(inner: Sequence[Loop], run: int, source: Tensor, destination: Tensor) -> None:
    padded = [Loop(1, 0, 0)] * (LOOPS - len(inner)) + list(inner)
    runs = prod(loop.times for loop in padded)
    for start in range(0, run, LONGEST):
        length = min(run - start, LONGEST)
        columns = min(triton.next_power_of_2(length), TILE)
        rows = TILE // columns
        _copy[(triton.cdiv(runs, rows), triton.cdiv(length, columns))](
            source[start:], destination[start:], runs, length,
            *(value for loop in padded for value in loop), ROWS=rows, COLUMNS=columns,
        )  # fmt: skip
