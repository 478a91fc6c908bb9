"""A plan as a program of its own, for NumPy or torch, that needs nothing of Lockstep [CONV-12]."""

from __future__ import annotations

from math import gcd

from lockstep.convert.parts import Part, parts
from lockstep.convert.plan import Plan
from lockstep.errors import LockstepError

LIBRARIES = {"numpy": "one.ctypes.data", "torch": "one.data_ptr()"}
"""Libraries of programs, and how each gives a buffer's address."""

_APART = '''def _require_apart(source, destination):
    """Hold that no buffer of the destination has memory of another."""
    spans = [
        ({address}, {address} + len(one), side)
        for side, buffers in enumerate((source, destination))
        for one in buffers
    ]
    ends = [0, 0]
    for start, end, side in sorted(spans):
        assert start >= (max(ends) if side else ends[1]), "a destination shares memory"
        ends[side] = max(ends[side], end)'''

_NUMPY = '''"""{title}"""

import numpy as np
from numpy.lib.stride_tricks import as_strided


def _copy(source, destination, item, counts, came, to):
    """Copy items between two strided views; (offset, strides) in items."""
    source, destination = source.view(f"V{{item}}"), destination.view(f"V{{item}}")
    steps = [tuple(item * step for step in side[1]) for side in (came, to)]
    target = as_strided(destination[to[0]:], counts, steps[1])
    target[...] = as_strided(source[came[0]:], counts, steps[0], writeable=False)


{apart}


def convert(source, destination):
    """Fill the destination's buffers; both are lists of contiguous arrays of bytes (uint8)."""
{lengths}
    for one in (*source, *destination):
        assert one.dtype == np.uint8 and one.ndim == 1 and one.flags.c_contiguous, "bytes, 1-D"
    _require_apart(source, destination)
{lines}
'''

_TORCH = '''"""{title}"""

import torch

ITEMS = {{1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64, 16: torch.complex128}}


def _copy(source, destination, item, counts, came, to):
    """Copy items between two strided views; (offset, strides) in items."""
    for axis, steps in enumerate(zip(came[1], to[1])):
        if min(steps) < 0:  # torch has no negative strides
            rest = [(*one[:axis], *one[axis + 1 :]) for one in (counts, came[1], to[1])]
            for place in range(counts[axis]):
                at = [one[0] + place * step for one, step in zip((came, to), steps)]
                _copy(source, destination, item, rest[0], (at[0], rest[1]), (at[1], rest[2]))
            return
    while any(one.storage_offset() % item for one in (source, destination)):
        # torch views memory as items only where it begins at one
        item, counts = item // 2, (*counts[:-1], 2 * counts[-1])
        came, to = ((2 * at, (*(2 * step for step in by[:-1]), 1)) for at, by in (came, to))
    source, destination = source.view(ITEMS[item]), destination.view(ITEMS[item])
    # as_strided begins where its tensor does, unless told a place in the whole allocation
    target = destination[to[0] :].as_strided(counts, to[1])
    target.copy_(source[came[0] :].as_strided(counts, came[1]))


{apart}


def convert(source, destination):
    """Fill the destination's buffers; both are lists of contiguous 1-D tensors of torch.uint8."""
{lengths}
    for one in (*source, *destination):
        assert one.dtype == torch.uint8 and one.ndim == 1 and one.is_contiguous(), "bytes, 1-D"
    _require_apart(source, destination)
{lines}
'''


def program(plan: Plan, library: str, pair: str | None = None) -> str:
    """Give the program.

    Args:
        plan: of the conversion.
        library: one of LIBRARIES.
        pair: what its title calls both layouts; else their names.

    Raises:
        LockstepError: USAGE.
    """
    if library not in LIBRARIES:
        raise LockstepError("USAGE", "--code", f"one of {', '.join(LIBRARIES)}", library)
    template = _NUMPY if library == "numpy" else _TORCH
    pair = pair or f"{plan.source.layout.name} to {plan.destination.layout.name}"
    title = f"{pair}: {plan.geometry.tokens} tokens, {plan.geometry.layers} layers."
    lengths = "\n".join(
        f"    assert [len(one) for one in {name}] == {[one.bytes for one in side.buffers]}, "
        f'"lengths of the {name}\'s buffers, in bytes"'
        for name, side in (("source", plan.source), ("destination", plan.destination))
    )
    lines = "\n".join(_line(part, plan) for part in parts(plan))
    apart = _APART.format(address=LIBRARIES[library])
    return template.format(title=title, apart=apart, lengths=lengths, lines=lines)


def _line(part: Part, plan: Plan) -> str:
    """Give the call for one copy."""
    steps = [value for loop in part.loops for value in loop[1:]]
    # Both buffers are seen as items, and are to be whole numbers of them.
    came = plan.source.buffers[part.source_buffer].bytes
    to = plan.destination.buffers[part.destination_buffer].bytes
    common = gcd(part.length, part.source, part.destination, *steps, came, to)
    item = next(width for width in (16, 8, 4, 2, 1) if common % width == 0)
    counts = (*(loop.times for loop in part.loops), part.length // item)
    sides = [
        (start // item, (*(loop[place] // item for loop in part.loops), 1))
        for start, place in ((part.source, 1), (part.destination, 2))
    ]
    return (
        f"    _copy(source[{part.source_buffer}], destination[{part.destination_buffer}], {item}, "
        f"{counts}, {sides[0]}, {sides[1]})"
    )
