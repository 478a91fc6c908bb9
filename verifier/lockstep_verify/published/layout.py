"""The published document's declared layouts and what follows from two of them.

Everything here is computed from an engine's axes, block, vector width and
element type, and from the document's geometry (spec/published/seed-004.md,
[PUB-7] to [PUB-13]). Shapes are in axis extents, positions in element slots of
one layer, K and V together, padding included.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

X1 = "X1_LATENT_KV"
X2 = "X2_HEAD_GATHER"
X4 = "X4_GEOMETRY_UNREPRESENTABLE"

_COARSE = {"Tb": "T", "T": "T", "Dg": "D", "D": "D", "H": "H"}
_TOKEN_PAIR = ("Tb", "Ti")
_DIM_PAIR = ("Dg", "Dx")


@dataclass(frozen=True)
class Geometry:
    """The shape that every row speaks of ([PUB-6])."""

    tokens: int
    layers: int
    kv_heads: int
    head_dim: int
    decode_steps: int

    @property
    def canonical(self) -> int:
        """Elements of one layer's canonical (KV, T, H, D) tensor, C in the rules."""
        return 2 * self.tokens * self.kv_heads * self.head_dim


@dataclass(frozen=True)
class Layout:
    """One engine's declaration at the document's geometry ([PUB-7])."""

    geometry: Geometry
    name: str
    attention: str
    quant: str
    kv: str
    block: int
    declared_heads: int
    axes: tuple[tuple[str, ...], tuple[str, ...]]
    x: tuple[int, int]

    @property
    def interleaved(self) -> bool:
        """Whether K and V share one buffer."""
        return self.kv == "interleaved"

    @property
    def heads(self) -> int:
        """KV heads that this cache holds; a declared 0 means the geometry's."""
        return self.declared_heads or self.geometry.kv_heads

    @property
    def divides(self) -> bool:
        """Whether each vector width divides the head dimension."""
        return all(x == 0 or self.geometry.head_dim % x == 0 for x in self.x)

    @property
    def realisable(self) -> bool:
        """Whether the layout exists at this geometry ([PUB-8])."""
        return self.heads == self.geometry.kv_heads and self.divides

    @property
    def lossless(self) -> bool:
        """Whether the layout stores every element of a GQA cache unchanged ([PUB-9])."""
        return self.attention == "gqa" and self.quant == "none" and self.realisable

    def factors_each_axis_once(self) -> bool:
        """Whether the declared axes name each logical axis exactly once ([PUB-7])."""
        if self.interleaved and (self.axes[0] != self.axes[1] or self.x[0] != self.x[1]):
            return False
        for axes, x in zip(self.axes, self.x, strict=True):
            wanted = ["H", *(_TOKEN_PAIR if self.block else ("T",))]
            wanted += _DIM_PAIR if x else ("D",)
            wanted += ["KV"] if self.interleaved else []
            if sorted(axes) != sorted(wanted):
                return False
        return True

    def _extent(self, axis: str, x: int) -> int:
        geometry = self.geometry
        if axis == "Tb":
            return -(-geometry.tokens // self.block)
        if axis == "Dg":
            return geometry.head_dim // x
        return {
            "KV": 2,
            "T": geometry.tokens,
            "Ti": self.block,
            "H": self.heads,
            "D": geometry.head_dim,
            "Dx": x,
        }[axis]

    @cached_property
    def shapes(self) -> dict[str, list[int]]:
        """Native shapes by buffer, ``kv`` or ``k`` and ``v``; empty if not realisable ([PUB-8])."""
        if not self.realisable:
            return {}
        buffers = ("kv",) if self.interleaved else ("k", "v")
        return {
            buffer: [self._extent(axis, self.x[i]) for axis in self.axes[i]]
            for i, buffer in enumerate(buffers)
        }

    @cached_property
    def positions(self) -> int:
        """N, the element slots of one layer's native buffers ([PUB-8])."""
        return sum(math.prod(shape) for shape in self.shapes.values())

    @property
    def padding(self) -> int:
        """Slots of one layer that hold no element of the canonical tensor."""
        return self.positions - self.geometry.canonical

    @cached_property
    def image(self) -> tuple[int, ...]:
        """Position of each canonical element, in canonical order ([PUB-10]).

        Empty if the layout is not realisable. Buffers are counted one after
        another, K before V.
        """
        if not self.realisable:
            return ()
        slots: list[int] = []
        for tensor in (0, 1):
            axes, x = self.axes[tensor], self.x[tensor]
            stride, running = {}, 1
            for axis in reversed(axes):
                stride[axis] = running
                running *= self._extent(axis, x)
            base = tensor * (stride["KV"] if self.interleaved else math.prod(self.shapes["k"]))
            token = _digits(stride, "T", _TOKEN_PAIR, self.geometry.tokens, self.block)
            dim = _digits(stride, "D", _DIM_PAIR, self.geometry.head_dim, x)
            head = [h * stride["H"] for h in range(self.heads)]
            slots += [base + t + h + d for t in token for h in head for d in dim]
        return tuple(slots)

    @cached_property
    def bijective(self) -> bool:
        """Whether the enumerated image hits distinct slots within bounds ([PUB-10])."""
        image = self.image
        return len(set(image)) == self.geometry.canonical and max(image) < self.positions

    @property
    def is_identity(self) -> bool:
        """Whether every element lies at its canonical index ([PUB-10])."""
        return self.image == tuple(range(self.geometry.canonical))


def _digits(
    stride: dict[str, int], whole: str, parts: tuple[str, str], extent: int, factor: int
) -> list[int]:
    """Slot offsets along one logical axis, split by ``factor`` unless that is 0."""
    if not factor:
        return [i * stride[whole] for i in range(extent)]
    outer, inner = (stride[part] for part in parts)
    return [i // factor * outer + i % factor * inner for i in range(extent)]


def frontier_code(src: Layout, dst: Layout) -> str | None:
    """The reason why no exact map can exist, or None ([PUB-12])."""
    pair = (src, dst)
    if any(layout.attention != "gqa" for layout in pair):
        return X1
    if any(layout.heads != layout.geometry.kv_heads for layout in pair):
        return X2
    if not all(layout.divides for layout in pair):
        return X4
    return None


def transformations(src: Layout, dst: Layout) -> list[str]:
    """The words, sorted, in which the two declarations differ ([PUB-11])."""
    words = set()
    if src.block != dst.block:
        words.add("reblock")
    if src.kv != dst.kv:
        words.add("kv_split" if src.interleaved else "kv_merge")
    for x_src, x_dst in zip(src.x, dst.x, strict=True):
        if x_src != x_dst and x_dst:
            words.add("head_dim_vectorize")
        if x_src != x_dst and x_src:
            words.add("head_dim_devectorize")
    if src.quant != dst.quant:
        words.add("requantize")
    for tensor in (0, 1):
        a, b = src.axes[tensor], dst.axes[tensor]
        heads = _order(a, "H") != _order(b, "H")
        dims = tensor == 1 and _order(a, "D") != _order(b, "D")
        if heads:
            words.add("head_order_transpose")
        if dims:
            words.add("v_dim_transpose")
        if not heads and not dims:
            drop_kv = src.kv != dst.kv
            if _fine(a, drop_kv) != _fine(b, drop_kv):
                words.add("axis_permute")
    return sorted(words)


def _order(axes: tuple[str, ...], other: str) -> list[str]:
    """The coarse order of the token axis and one other ([PUB-11])."""
    coarse = [_COARSE[axis] for axis in axes if axis in _COARSE]
    return [axis for axis in coarse if axis in ("T", other)]


def _fine(axes: tuple[str, ...], drop_kv: bool) -> list[str]:
    """The fine order: adjacent factors joined first, KV dropped afterwards ([PUB-11])."""
    joined: list[str] = []
    for axis in axes:
        if joined and (joined[-1], axis) in (_TOKEN_PAIR, _DIM_PAIR):
            joined[-1] = _COARSE[joined[-1]]
        else:
            joined.append(axis)
    return [axis for axis in joined if not (drop_kv and axis == "KV")]
