"""Declared layouts: form, shapes, strides and where each element lies (LAY-1 to LAY-19).

A layout's index map is a sum of one term a logical axis, and each term is a number in two
digits. So it is held as a handful of strides, and shapes, bounds, padding, bijectivity, identity
and images are decided from them at a cost that the geometry does not enter. Positions are element
slots of one layer, padding included; native shapes alone speak of all layers.
"""

from math import gcd, prod
from typing import Any

from lockstep_verify import spec
from lockstep_verify.derive.layout_form import opened
from lockstep_verify.derive.layout_terms import Component, Geometry, normal


class Tensor:
    """One native tensor of a layout: its axes and their extents, without strides.

    Attributes:
        names: its components, in their order.
        axes: its axes, groups opened.
        dim: the D extent of its first component.
        extents: the extent of each axis; only where the layout is realisable.
    """

    def __init__(self, declared: dict[str, Any], layout: "Layout") -> None:
        self.declared = declared
        self.names: list[str] = [component["name"] for component in declared["components"]]
        self.axes = opened(declared["axes"])
        bits = [component["bits"] for component in declared["components"]]
        self.slot_bits = gcd(*bits)
        self.bits: dict[str, int] = dict(zip(self.names, bits, strict=True))
        self.x: int = declared["x"]
        self.reserve: int = declared["reserve"]
        self.dim: int = layout.geometry.dims[self.names[0]]
        self.extents: dict[str, int] = {}

    def width(self, name: str) -> int:
        """Give the slots of one element of a component (LAY-11)."""
        return self.bits[name] // self.slot_bits

    def dims_fit(self, dims: dict[str, int]) -> bool:
        """Tell whether D extents allow the tensor's axes (LAY-10)."""
        own = [dims[name] for name in self.names]
        if min(own) == 0 or (self.x and any(dim % self.x for dim in own)):
            return False
        return "KV" not in self.axes or len(set(own)) == 1

    def padded(self, which: str, tokens: int) -> int:
        """Give the extent to which tokens (`T`) or head dimensions (`D`) are padded, reserve apart.

        Where the axis does not stand as a whole it is not padded (LAY-6, LAY-7).
        """
        extent = tokens if which == "T" else self.dim
        unit = self.declared["pad_tokens" if which == "T" else "pad_head_dim"]
        return -(-extent // unit) * unit if unit else extent

    def measure(self, layout: "Layout") -> None:
        """Set the extents of a realisable layout's tensor (LAY-7)."""
        geometry, ranks, block = layout.geometry, layout.ranks, layout.block
        heads = layout.rank_heads
        if "R" in self.axes:
            heads = heads // ranks if layout.rank_axis == "sharded" else 1
        self.extents = {
            "1": 1,
            "L": geometry.layers,
            "KV": len(self.names),
            "C": sum(geometry.dims[name] * self.width(name) for name in self.names),
            "T": self.reserve + self.padded("T", geometry.tokens),
            "Tb": self.reserve + (-(-geometry.tokens // block) if block else 0),
            "Ti": block,
            "R": ranks,
            "H": heads,
            "D": self.padded("D", 0),
            "Dg": self.dim // self.x if self.x else 0,
            "Dx": self.x,
        }

    @property
    def positions(self) -> int:
        """Slots of one layer."""
        return prod(self.extents[axis] for axis in self.axes if axis != "L")

    @property
    def shape(self) -> list[int]:
        """The native shape (LAY-12)."""
        written: list[str] = self.declared["axes"]
        return [prod(self.extents[axis] for axis in opened([group])) for group in written]


class Layout:
    """A well-formed declaration at a geometry, and what follows from it.

    Attributes:
        heads: effective heads (LAY-10).
        rank_heads: the heads that a rank axis divides or multiplies.
        realisable: whether it exists here; the fields below are empty, 0 or false if not.
        components: where each component lies, in canonical order.
        positions: N (LAY-13).
        covered: slots that hold elements, replicas included (LAY-14).
        replicas: copies of each element.
    """

    def __init__(self, declared: dict[str, Any], geometry: Geometry) -> None:
        self.declared = declared
        self.geometry = geometry
        self.name: str = declared["name"]
        self.attention: str = declared["attention"]
        self.quantisation: str = declared["quantisation"]
        self.block: int = declared["block"]
        self.ranks: int = declared["ranks"]
        self.rank_axis: str = declared["rank_axis"]
        self.heads: int = declared["kv_heads"] or geometry.kv_heads
        self.tensors = [Tensor(tensor, self) for tensor in declared["tensors"]]
        self.tensor_of = {name: tensor for tensor in self.tensors for name in tensor.names}
        self.latent = "K" not in self.tensor_of
        self.rank_heads = 1 if self.latent else self.heads
        self.realisable = self._realisable()
        self.components: tuple[Component, ...] = ()
        self.positions = self.covered = self.replicas = self.native_bytes = 0
        self.bijective = self.identity = False
        if self.realisable:
            self._place()

    def _realisable(self) -> bool:
        dims, heads = self.geometry.dims, self.rank_heads
        if not self.latent and self.heads != self.geometry.kv_heads:
            return False
        if (self.rank_axis == "sharded" and heads % self.ranks) or (
            self.rank_axis == "replicated" and self.ranks % heads
        ):
            return False
        if "scale" in self.tensor_of and dims["latent"] % 128:
            return False
        return all(tensor.dims_fit(dims) for tensor in self.tensors)

    def _place(self) -> None:
        self.replicas = self.ranks // self.rank_heads if self.rank_axis == "replicated" else 1
        placed: list[Component] = []
        self.bijective = True
        for tensor in self.tensors:
            tensor.measure(self)
            strides = _strides(tensor)
            self.bijective &= self._distinct(tensor, strides)
            placed += self._components(tensor, strides)
            self.positions += tensor.positions
            self.native_bytes += -(-tensor.positions * tensor.slot_bits // 8)
        order = spec.load("hunt.json")["components"]
        self.components = tuple(sorted(placed, key=lambda component: order.index(component.name)))
        self.covered = sum(c.size * c.width * c.replicas for c in self.components)
        self.bijective &= self.covered <= self.positions
        self.identity = self.replicas == 1 and self._is_identity()

    def _distinct(self, tensor: Tensor, strides: dict[str, int]) -> bool:
        """Tell whether distinct digits give distinct slots within bounds (LAY-15).

        From the fastest axis to the slowest, each stride exceeds what all faster digits reach
        together; what all digits reach is within the tensor. That digits determine the element is
        a matter of form (LAY-8).
        """
        last = self.geometry.tokens - 1
        highest = {axis: tensor.extents[axis] - 1 for axis in strides}
        highest["T"] = tensor.reserve + last
        highest["Tb"] = tensor.reserve + (last // self.block if self.block else 0)
        highest["Ti"] = min(self.block, last + 1) - 1
        highest["D"] = tensor.dim - 1
        reached = 0
        for axis, stride in strides.items():
            if highest[axis] >= tensor.extents[axis] or (highest[axis] and stride <= reached):
                return False
            reached += highest[axis] * stride
        return reached < tensor.positions

    def _components(self, tensor: Tensor, strides: dict[str, int]) -> list[Component]:
        tokens, block = self.geometry.tokens, self.block
        start = self.positions + tensor.reserve * strides["Tb" if block else "T"]
        factor, outer, inner = (block, "Tb", "Ti") if block else (1, "T", "T")
        token = normal(tokens, factor, strides[outer], strides[inner])
        heads = 1 if self.latent else self.heads
        rank = strides.get("R", 0)
        head = normal(heads, 1, strides.get("H", 0), 0)
        if self.rank_axis == "sharded":
            head = normal(heads, heads // self.ranks, rank, strides["H"])
        elif self.rank_axis == "replicated":
            head = normal(heads, 1, self.replicas * rank, 0)
        placed = []
        before = 0
        for i, name in enumerate(tensor.names):
            dim, width = self.geometry.dims[name], tensor.width(name)
            base = start + i * strides.get("KV", 0) + before * strides.get("C", 0)
            before += dim * width
            if tensor.x:
                along = normal(dim, tensor.x, strides["Dg"], strides["Dx"])
            else:
                along = normal(dim, 1, strides["D"] if "D" in strides else width * strides["C"], 0)
            step = rank if self.replicas > 1 else 0
            extents = (tokens, heads, dim)
            placed.append(
                Component(name, base, extents, token, head, along, width, self.replicas, step)
            )
        return placed

    def _is_identity(self) -> bool:
        """Tell whether each element lies at its canonical index (LAY-16)."""
        start = 0
        for component in self.components:
            tokens, heads, dim = component.extents
            canonical = (
                normal(tokens, 1, heads * dim, 0),
                normal(heads, 1, dim, 0),
                normal(dim, 1, 1, 0),
            )
            if (
                component.token,
                component.head,
                component.dim,
            ) != canonical or component.base != start:
                return False
            start += component.size
        return True

    @property
    def image(self) -> tuple[int, tuple[Component, ...]]:
        """N and all positions; equal for two layouts exactly when they have one image (LAY-17)."""
        return self.positions, self.components

    @property
    def padding(self) -> int:
        """Slots of one layer that hold no element (LAY-14)."""
        return self.positions - self.covered

    @property
    def native_shapes(self) -> list[dict[str, Any]]:
        """Native shapes by tensor, as a predicate writes them (LAY-12)."""
        return [
            {"tensor": tensor.declared["name"], "extents": tensor.shape} for tensor in self.tensors
        ]


def _strides(tensor: Tensor) -> dict[str, int]:
    """Give the strides of a tensor's axes without L, in slots, from the fastest to the slowest."""
    strides, running = {}, 1
    for axis in reversed(tensor.axes):
        if axis not in ("1", "L"):
            strides[axis] = running
            running *= tensor.extents[axis]
    return strides
