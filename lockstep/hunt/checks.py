"""The attested checks that need no hunt of their own, executed ([HUNT-13])."""

from __future__ import annotations

from itertools import permutations
from math import prod

import numpy as np
from numpy.typing import NDArray

from lockstep.claims.verdict import verdict
from lockstep.hunt import small_layouts
from lockstep.hunt.native import Arrays, Cache, native_shape
from lockstep.hunt.observe import RowObservation
from lockstep.hunt.transfer import Translator, observe
from lockstep.layouts.steps import Step, run

EXTENTS = (2, 3, 4, 5, 6)


def grade(row: RowObservation) -> str:
    """Give the verdict of a row without a frontier code."""
    return verdict(
        None,
        row.forward_reproduces_target,
        row.roundtrip_byte_identical,
        row.roundtrip_diff_is_exactly_unread_padding,
        row.tokens_identical,
    )


def relabel(dst: Cache) -> Translator:
    """Give the translator that takes the source's bytes for the destination's, moving nothing."""

    def translate(arrays: Arrays, inverted: bool) -> Arrays:
        flat = np.concatenate([array.reshape(-1) for array in arrays.values()])
        return {
            tensor.name: flat[tensor.base : tensor.base + tensor.positions].reshape(
                native_shape(tensor)
            )
            for tensor in dst.realised.tensors
        }

    return translate


def round_trip_alone_is_not_exactness() -> bool:
    """Check that a translator whose round trip is perfect can still be graded NOT_EXACT."""
    src = small_layouts.cache(small_layouts.TOKEN_MAJOR)
    dst = small_layouts.cache(small_layouts.HEAD_MAJOR)
    bench = small_layouts.bench()
    row = observe(bench, src, dst, small_layouts.model(bench), relabel(dst), relabel(src))
    return row.roundtrip_byte_identical is True and grade(row) == "NOT_EXACT"


def axis_exchange_equals_numpy_transpose() -> bool:
    """Compare the exchange of two adjacent axes with numpy's transpose and with arithmetic.

    Over all stacks of two to five axes whose extents are distinct and between 2 and 6, at every
    place in the stack.
    """
    for rank in range(2, 6):
        for extents in permutations(EXTENTS, rank):
            numbers = np.arange(prod(extents)).reshape(extents)
            for axis in range(rank - 1):
                order = list(range(rank))
                order[axis : axis + 2] = axis + 1, axis
                wanted = numbers.transpose(order)
                exchange = (Step("exchange", ("a",), ("a",), axis),)
                exchanged = run(exchange, {"a": numbers})["a"]
                if not np.array_equal(exchanged, wanted) or not np.array_equal(
                    exchanged_index(extents, axis), wanted.reshape(-1)
                ):
                    return False
    return True


def exchanged_index(extents: tuple[int, ...], axis: int) -> NDArray[np.int64]:
    """Give, for each flat index after the exchange, the one before it, by arithmetic alone."""
    inner = prod(extents[axis + 2 :])
    first, second = extents[axis : axis + 2]
    after = np.arange(prod(extents), dtype=np.int64)
    outer, rest = np.divmod(after, first * second * inner)
    place_second, rest = np.divmod(rest, first * inner)
    place_first, place_inner = np.divmod(rest, inner)
    return ((outer * first + place_first) * second + place_second) * inner + place_inner
