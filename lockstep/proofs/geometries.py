"""Cases of a proof: one tensor of a layout at a geometry, the token count fixed or any [SMT-2..4].

The layer axis belongs to a case: an offset counts the slots of a tensor over all its layers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lockstep import spec
from lockstep.layouts.declaration import Layout
from lockstep.layouts.geometry import Geometry
from lockstep.layouts.realise import Realised, RealisedTensor, realise

OUTER_TOKEN_AXES = ("T", "Tb")
"""The axes whose extent grows with the token count."""


@dataclass(frozen=True)
class Axis:
    """An axis of a case; its extent, if it grows with the tokens, is that at the geometry's."""

    name: str
    extent: int
    stride: int


@dataclass(frozen=True)
class Case:
    """One tensor of a layout at a geometry.

    Attributes:
        layout: the declared layout.
        geometry: the sizes by name in spec/smt.json.
        mode: `fixed`, or `any` where the token count is a variable.
        realised: the layout at the geometry.
        tensor: which of its tensors.
        axes: its axes from the slowest on, in slots of all layers; L comes first where layers lie
            apart and the count is fixed, `1` is left out.
        pad_tokens: the tensor's own, as declared.
    """

    layout: Layout
    geometry: str
    mode: str
    realised: Realised
    tensor: RealisedTensor
    axes: tuple[Axis, ...]
    pad_tokens: int

    @property
    def name(self) -> str:
        """Layout, tensor, geometry and mode, joined by `/`."""
        return f"{self.layout.name}/{self.tensor.name}/{self.geometry}/{self.mode}"

    @property
    def size(self) -> int:
        """Slots of the tensor at the geometry's token count."""
        return self.axes[0].extent * self.axes[0].stride

    @property
    def outer(self) -> Axis:
        """The axis that grows with the tokens."""
        return next(axis for axis in self.axes if axis.name in OUTER_TOKEN_AXES)

    @property
    def heads(self) -> int:
        """Extent of the head coordinate."""
        return self.tensor.components[0].heads

    @property
    def head_dims(self) -> tuple[int, ...]:
        """D extents of the tensor's components."""
        return tuple(part.head_dim for part in self.tensor.components)

    def has(self, axis: str) -> bool:
        """Tell whether an axis is part of the case."""
        return any(own.name == axis for own in self.axes)


@dataclass(frozen=True)
class Excluded:
    """A layout, geometry and mode without a case; the reason is a word of spec/smt.json."""

    layout: str
    geometry: str
    mode: str
    reason: str


def geometries() -> dict[str, Geometry]:
    """Give the geometries of spec/smt.json by name, in its order."""
    data = spec.load("smt.json")
    return {entry["name"]: _geometry(entry, data["dtype"]) for entry in data["geometries"]}


def plan(layouts: tuple[Layout, ...]) -> tuple[Case | Excluded, ...]:
    """Give the cases, or why there is none, of each layout, geometry and mode, in that order."""
    data = spec.load("smt.json")
    attentions = {entry["name"]: entry["attention"] for entry in data["geometries"]}
    found: list[Case | Excluded] = []
    for layout in layouts:
        for name, geometry in geometries().items():
            realised = realise(layout, geometry)
            for mode in data["modes"]:
                if layout.quantisation != "none":
                    reason = "lossy"
                elif layout.attention != attentions[name]:
                    reason = "other_attention"
                elif realised is None:
                    reason = "not_realisable"
                elif mode == "any" and not _tokens_are_outermost(layout):
                    reason = "strides_hold_tokens"
                else:
                    found += _cases(layout, name, mode, realised)
                    continue
                found.append(Excluded(layout.name, name, mode, reason))
    return tuple(found)


def _geometry(entry: dict[str, Any], dtype: str) -> Geometry:
    sizes = ("tokens", "layers", "kv_heads", "head_dim", "latent_dim", "rope_dim")
    return Geometry(**{size: entry[size] for size in sizes}, dtype=dtype)


def _tokens_are_outermost(layout: Layout) -> bool:
    """Decide whether no stride of the layout holds the token count [SMT-3]."""
    firsts = (next(axis for axis in tensor.opened if axis != "1") for tensor in layout.tensors)
    return all(axis in OUTER_TOKEN_AXES for axis in firsts)


def _cases(layout: Layout, geometry: str, mode: str, realised: Realised) -> list[Case]:
    found = []
    for declared, tensor in zip(layout.tensors, realised.tensors, strict=True):
        axes = tuple(
            Axis(*axis)
            for axis in zip(tensor.axes, tensor.extents, tensor.strides, strict=True)
            if axis[0] != "1"
        )
        if mode == "fixed" and "L" not in tensor.axes:
            axes = (Axis("L", realised.geometry.layers, tensor.positions), *axes)
        found.append(Case(layout, geometry, mode, realised, tensor, axes, declared.pad_tokens))
    return found
