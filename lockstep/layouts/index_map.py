"""The index map of a layout and, apart from it, its inverse, in ranges [LAY-7, LAY-13..18].

The forward map adds three tables, over tokens, heads and head dimensions, which are made from
coordinates and strides. The inverse reads native digits and never the forward tables, so that
each can be held against the other. Both work on ranges and cost additions only.
"""

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lockstep.layouts.geometry import limit
from lockstep.layouts.inverse_map import native_to_canonical
from lockstep.layouts.realise import Realised, RealisedComponent, RealisedTensor

__all__ = [
    "ForwardTables",
    "canonical_to_native",
    "forward_tables",
    "image_sha256",
    "is_identity",
    "native_to_canonical",
    "same_image",
]

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class ForwardTables:
    """Positions of one component as sums: base + tokens[t] + heads[h, replica] + dims[d]."""

    base: int
    tokens: Indices
    heads: Indices
    dims: Indices


def forward_tables(
    realised: Realised, tensor: RealisedTensor, part: RealisedComponent
) -> ForwardTables:
    """Tabulate the coordinates of [LAY-7] times their strides, for layer 0."""
    block = realised.layout.block
    t = np.arange(part.tokens, dtype=np.int64)
    h = np.arange(part.heads, dtype=np.int64)
    d = np.arange(part.head_dim, dtype=np.int64)
    if block:
        tokens = (tensor.reserve + t // block) * tensor.stride("Tb") + t % block * tensor.stride(
            "Ti"
        )
    else:
        tokens = (tensor.reserve + t) * tensor.stride("T")
    if tensor.x:
        dims = d // tensor.x * tensor.stride("Dg") + d % tensor.x * tensor.stride("Dx")
    else:
        dims = d * tensor.stride("D") + (part.joined_at + d * part.width) * tensor.stride("C")
    replica = np.arange(realised.replicas, dtype=np.int64)
    if realised.layout.rank_axis == "sharded":
        share = tensor.extent("H")
        heads = (h // share * tensor.stride("R") + h % share * tensor.stride("H"))[:, None]
    elif realised.layout.rank_axis == "replicated":
        heads = (h[:, None] * realised.replicas + replica) * tensor.stride("R")
    else:
        heads = (h * tensor.stride("H"))[:, None]
    return ForwardTables(tensor.base + part.place * tensor.stride("KV"), tokens, heads, dims)


def canonical_to_native(realised: Realised, start: int, stop: int) -> Indices:
    """Give the first slots of canonical elements start..stop, shape (stop - start, replicas).

    Layer 0; replicas in ascending order of position.
    """
    out = np.empty((stop - start, realised.replicas), dtype=np.int64)
    for tensor, part in realised.components:
        low = max(start, part.canonical_base)
        high = min(stop, part.canonical_base + part.elements)
        if low >= high:
            continue
        tables = forward_tables(realised, tensor, part)
        plane = part.heads * part.head_dim
        first, last = low - part.canonical_base, high - part.canonical_base
        t_first, t_last = first // plane, -(-last // plane)
        inner = tables.base + tables.heads[:, None, :] + tables.dims[None, :, None]
        rows = tables.tokens[t_first:t_last, None, None, None] + inner
        flat = rows.reshape(-1, realised.replicas)
        out[low - start : high - start] = flat[first - t_first * plane : last - t_first * plane]
    return out


def is_identity(realised: Realised) -> bool:
    """Decide whether every element's position is its canonical index [LAY-16]."""
    if realised.replicas != 1:
        return False
    for tensor, part in realised.components:
        tables = forward_tables(realised, tensor, part)
        heads = tables.heads[:, 0]
        first = tables.base + int(tables.tokens[0] + heads[0] + tables.dims[0])
        wanted = (part.heads * part.head_dim, part.head_dim, 1)
        if first != part.canonical_base:
            return False
        for table, stride in zip((tables.tokens, heads, tables.dims), wanted, strict=True):
            if not np.array_equal(table - table[0], np.arange(len(table)) * stride):
                return False
    return True


def same_image(one: Realised, other: Realised) -> bool:
    """Decide whether two layouts place every canonical element alike [LAY-17]."""
    names = [part.name for _, part in one.components]
    if one.positions != other.positions or names != [part.name for _, part in other.components]:
        return False
    return all(
        _normal_form(one, *pair) == _normal_form(other, *against)
        for pair, against in zip(one.components, other.components, strict=True)
    )


def _normal_form(
    realised: Realised, tensor: RealisedTensor, part: RealisedComponent
) -> tuple[object, ...]:
    """Give base, width and the tables less their first entries, equal for equal images."""
    tables = forward_tables(realised, tensor, part)
    first = tables.base + int(tables.tokens[0] + tables.heads[0, 0] + tables.dims[0])
    return (
        first,
        part.width,
        (tables.tokens - tables.tokens[0]).tobytes(),
        tables.heads.shape,
        (tables.heads - tables.heads[0, 0]).tobytes(),
        (tables.dims - tables.dims[0]).tobytes(),
    )


def image_sha256(realised: Realised) -> str:
    """Give the image digest, of all elements or of the first and last ones [LAY-18]."""
    count, most = realised.canonical_elements, limit("image_elements") // realised.replicas
    half = most // 2
    ranges = [(0, count)] if count <= most else [(0, half), (count - half, count)]
    digest = hashlib.sha256()
    for start, stop in ranges:
        digest.update(canonical_to_native(realised, start, stop).astype("<u8").tobytes())
    return digest.hexdigest()
