"""The inverse of a layout's index map, decoded from native digits [LAY-7, LAY-13, LAY-15].

A position's canonical index is a sum over its digits, with one exception each for two things:
slots past the last token (the last block together with a late token in its block), and joined
components whose D extents differ (a token's weight then depends on the coordinate on C). The
digits are parted into slow and fast ones, so that a range costs one addition a position.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import prod

import numpy as np
from numpy.typing import NDArray

from lockstep.layouts.realise import Realised, RealisedTensor

Indices = NDArray[np.int64]

NOWHERE = -(1 << 60)
"""A digit's weight where no element lies; a sum with one or more of it stays below 0."""

FAST_SLOTS = 1 << 6
"""Least number of slots that the fast digits span, so that numpy's inner loops are long."""


@dataclass(frozen=True)
class Digit:
    """What a digit of one axis says: its weight, its token, its tokens' weight, its lateness.

    `weight` adds to the index. Where joined components are uneven, `token` and `token_weight`
    are multiplied over the axes. `last` marks the last block, `late` a token past its end.
    """

    weight: Indices
    token: Indices
    token_weight: Indices
    last: NDArray[np.bool_]
    late: NDArray[np.bool_]


def native_to_canonical(realised: Realised, start: int, stop: int) -> Indices:
    """Give the canonical index at native positions start..stop of a layer, -1 for padding.

    Every slot of an element gives its index. Nothing of the forward map is used.
    """
    out = np.empty(stop - start, dtype=np.int64)
    for tensor in realised.tensors:
        low, high = max(start, tensor.base), min(stop, tensor.base + tensor.positions)
        if low < high:
            target = out[low - start : high - start]
            _decode(realised, tensor, low - tensor.base, high - tensor.base, target)
    return out


def _decode(
    realised: Realised, tensor: RealisedTensor, start: int, stop: int, out: Indices
) -> None:
    """Decode slots start..stop of a tensor into `out`."""
    parted = _part(tensor)
    if parted.fast_slots > stop - start:
        # One fast axis is longer than the range, which then needs no parting.
        numbers = np.arange(start, stop, dtype=np.int64)
        whole = _combine(realised, tensor, parted.slow + parted.fast, numbers)
        np.maximum(whole.weight + _first_index(tensor), -1, out=out)
        return
    fast, fast_slots = _fast(realised, tensor), parted.fast_slots
    first, last = start // fast_slots, -(-stop // fast_slots)
    slow = _combine(realised, tensor, parted.slow, np.arange(first, last, dtype=np.int64))
    aligned = start == first * fast_slots and stop == last * fast_slots
    rows = out if aligned else np.empty((last - first) * fast_slots, dtype=np.int64)
    _add(slow, fast, rows.reshape(last - first, fast_slots))
    np.maximum(rows, -1, out=rows)
    if not aligned:
        out[:] = rows[start - first * fast_slots : stop - first * fast_slots]


@dataclass(frozen=True)
class Parted:
    """The axes of a tensor with their extents, parted into slow and fast ones."""

    slow: tuple[tuple[str, int], ...]
    fast: tuple[tuple[str, int], ...]
    fast_slots: int


def _part(tensor: RealisedTensor) -> Parted:
    """Take as fast the fewest last axes that span FAST_SLOTS, or all."""
    axes = tuple(
        (axis, extent)
        for axis, extent in zip(tensor.axes, tensor.extents, strict=True)
        if axis not in ("1", "L")
    )
    cut = len(axes)
    while cut and prod(extent for _, extent in axes[cut:]) < FAST_SLOTS:
        cut -= 1
    return Parted(axes[:cut], axes[cut:], prod(extent for _, extent in axes[cut:]))


@lru_cache(maxsize=4)
def _fast(realised: Realised, tensor: RealisedTensor) -> Digit:
    """Tabulate the fast digits, once for the ranges of a tensor, which come one by one."""
    parted = _part(tensor)
    fast = _combine(realised, tensor, parted.fast, np.arange(parted.fast_slots, dtype=np.int64))
    fast.weight[:] += _first_index(tensor)
    return fast


def _first_index(tensor: RealisedTensor) -> int:
    """Give the part of the index that no digit says: where a component alone begins."""
    joined = {"KV", "C"} & set(tensor.axes)
    return 0 if joined else tensor.components[0].canonical_base


def _add(slow: Digit, fast: Digit, rows: Indices) -> None:
    """Combine slow and fast digits into the rows, one row for each value of the slow ones."""
    np.add(slow.weight[:, None], fast.weight[None, :], out=rows)
    if fast.token_weight.any():
        rows += slow.token[:, None] * fast.token_weight[None, :]
    elif slow.token_weight.any():
        rows += slow.token_weight[:, None] * fast.token[None, :]
    # Lateness of both digits within one half is in that half's weight already.
    if slow.last.any() and fast.late.any():
        rows[slow.last] += np.where(fast.late, NOWHERE, 0)
    elif slow.late.any() and fast.last.any():
        rows[slow.late] += np.where(fast.last, NOWHERE, 0)


def _combine(
    realised: Realised, tensor: RealisedTensor, axes: tuple[tuple[str, int], ...], numbers: Indices
) -> Digit:
    """Read numbers as digits of the axes and sum up what the digits say."""
    size = len(numbers)
    weight = np.zeros(size, dtype=np.int64)
    token = np.zeros(size, dtype=np.int64)
    token_weight = np.zeros(size, dtype=np.int64)
    last = np.zeros(size, dtype=np.bool_)
    late = np.zeros(size, dtype=np.bool_)
    left = numbers
    for axis, extent in reversed(axes):
        left, digit = np.divmod(left, extent)
        said = _digit(realised, tensor, axis, np.arange(extent, dtype=np.int64))
        weight += said.weight[digit]
        token += said.token[digit]
        token_weight += said.token_weight[digit]
        last |= said.last[digit]
        late |= said.late[digit]
    weight += token * token_weight
    weight[last & late] += NOWHERE
    return Digit(weight, token, token_weight, last, late)


def _digit(realised: Realised, tensor: RealisedTensor, axis: str, values: Indices) -> Digit:
    """Say what each value of an axis contributes."""
    parts = tensor.components
    block = realised.layout.block
    tokens, heads, dim = parts[0].tokens, parts[0].heads, parts[0].head_dim
    uneven = len({part.head_dim for part in parts}) > 1
    weight = np.zeros_like(values)
    token = np.zeros_like(values)
    token_weight = np.zeros_like(values)
    last = np.zeros(len(values), dtype=np.bool_)
    late = np.zeros(len(values), dtype=np.bool_)
    if axis in ("T", "Tb", "Ti"):
        step = block if axis == "Tb" else 1
        token = (values - (0 if axis == "Ti" else tensor.reserve)) * step
        nowhere = (token < 0) | (token >= tokens) if axis != "Ti" else last
        if axis == "Tb":
            last = token == (tokens - 1) // block * block
        elif axis == "Ti":
            late = values > (tokens - 1) % block
        token = np.where(nowhere, 0, token)
        weight = np.where(nowhere, NOWHERE, 0 if uneven else token * (heads * dim))
    elif axis == "KV":
        weight = np.array([part.canonical_base for part in parts], dtype=np.int64)
    elif axis == "C":
        for part in parts:
            inside = (values >= part.joined_at) & (
                values < part.joined_at + part.head_dim * part.width
            )
            element = (values - part.joined_at) // part.width
            weight = np.where(inside, part.canonical_base + element, weight)
            token_weight = np.where(inside, part.head_dim if uneven else 0, token_weight)
    elif axis == "R":
        share = tensor.extent("H")
        if realised.layout.rank_axis == "sharded":
            weight = values * (share * dim)
        else:
            weight = values // realised.replicas * dim
    elif axis == "H":
        weight = values * dim
    elif axis == "D":
        weight = np.where(values < dim, values, NOWHERE)
    else:
        weight = values * (tensor.x if axis == "Dg" else 1)
    return Digit(weight, token if uneven else np.zeros_like(token), token_weight, last, late)
