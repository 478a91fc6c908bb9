"""A plan as a document, which another program can carry out [CONV-8]."""

from __future__ import annotations

from typing import Any

from lockstep.convert.buffers import APART, Side
from lockstep.convert.copies import Copy
from lockstep.convert.plan import Plan

FORMAT = "lockstep-conversion-plan/1"


def document(plan: Plan) -> dict[str, Any]:
    """Give the plan as a document of integers and texts."""
    return {
        "format": FORMAT,
        "geometry": plan.geometry.as_json(),
        "source": _side(plan.source),
        "destination": _side(plan.destination),
        "copies": [_copy(copy) for copy in plan.copies],
        "bytes": plan.bytes,
        "padding": plan.padding,
    }


def _side(side: Side) -> dict[str, Any]:
    return {
        "layout": side.layout.name,
        "source": side.layout.source_path,
        "block": side.layout.block,
        "ranks": side.layout.ranks,
        "buffers": [
            {
                "tensor": one.tensor,
                "layer": one.layer,
                "rank": one.rank,
                "shape": list(one.shape),
                "bits": one.bits,
                "bytes": one.bytes,
            }
            for one in side.buffers
        ],
    }


def _copy(copy: Copy) -> dict[str, Any]:
    return {
        "source": _address(copy.source),
        "destination": _address(copy.destination),
        "length": copy.length,
        "loops": [
            {
                "times": loop.times,
                "source": _address(loop.source),
                "destination": _address(loop.destination),
            }
            for loop in copy.loops
        ],
    }


def _address(value: int) -> dict[str, int]:
    """Part an address, or a step, into a number of buffers and bytes, which may be negative."""
    buffers = (value + APART // 2) // APART
    return {"buffer": buffers, "offset": value - buffers * APART}
