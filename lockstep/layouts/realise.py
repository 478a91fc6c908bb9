"""A layout at a geometry: shapes, strides, position counts and digests of it [LAY-10..19]."""

from dataclasses import dataclass
from math import gcd, prod

from lockstep.errors import LockstepError
from lockstep.layouts.declaration import Layout, Tensor
from lockstep.layouts.geometry import SCALE_GROUP, Geometry, limit


@dataclass(frozen=True)
class RealisedComponent:
    """A component in its tensor; offsets and widths of the canonical and the native side.

    `canonical_base` is the canonical index of its first element, `place` its number in the
    tensor, `width` its element's width in slots, `joined_at` its first coordinate on C.
    """

    name: str
    place: int
    canonical_base: int
    tokens: int
    heads: int
    head_dim: int
    bits: int
    width: int
    joined_at: int

    @property
    def elements(self) -> int:
        """Number of elements in one layer."""
        return self.tokens * self.heads * self.head_dim


@dataclass(frozen=True)
class RealisedTensor:
    """A native tensor: its opened axes with extents and strides in slots.

    `strides` count the layer axis in [LAY-12]; `position_strides` leave it out, its own stride
    being 0 there, and `base` is the tensor's first position in its layer [LAY-13].
    """

    name: str
    shape: tuple[int, ...]
    axes: tuple[str, ...]
    extents: tuple[int, ...]
    strides: tuple[int, ...]
    position_strides: tuple[int, ...]
    slot_bits: int
    base: int
    positions: int
    reserve: int
    x: int
    components: tuple[RealisedComponent, ...]

    @property
    def layer_stride(self) -> int:
        """Slots from a layer's element to the next layer's, 0 where layers lie apart [LAY-19]."""
        return self.strides[self.axes.index("L")] if "L" in self.axes else 0

    def extent(self, axis: str) -> int:
        """Give an axis's extent, 1 where the tensor does not have it."""
        return self.extents[self.axes.index(axis)] if axis in self.axes else 1

    def stride(self, axis: str) -> int:
        """Give an axis's stride in positions, 0 where the tensor does not have it."""
        return self.position_strides[self.axes.index(axis)] if axis in self.axes else 0


@dataclass(frozen=True)
class Realised:
    """What follows from a layout at a geometry at which it is realisable."""

    layout: Layout
    geometry: Geometry
    tensors: tuple[RealisedTensor, ...]
    canonical_elements: int
    positions: int
    padding_positions: int
    replicas: int
    native_bytes: int

    @property
    def native_shapes(self) -> dict[str, tuple[int, ...]]:
        """The native shape of each tensor by its name [LAY-12]."""
        return {tensor.name: tensor.shape for tensor in self.tensors}

    @property
    def components(self) -> tuple[tuple[RealisedTensor, RealisedComponent], ...]:
        """The components in canonical order, each with its tensor."""
        pairs = [(tensor, part) for tensor in self.tensors for part in tensor.components]
        return tuple(sorted(pairs, key=lambda pair: pair[1].canonical_base))


def is_realisable(layout: Layout, geometry: Geometry) -> bool:
    """Decide whether a layout exists at a geometry [LAY-10]."""
    heads = geometry.kv_heads
    if layout.holds_latent:
        heads = 1
    elif layout.effective_heads(geometry) != heads:
        return False
    if layout.rank_axis == "sharded" and heads % layout.ranks:
        return False
    if layout.rank_axis == "replicated" and layout.ranks % heads:
        return False
    if "scale" in layout.component_names and geometry.latent_dim % SCALE_GROUP:
        return False
    for tensor in layout.tensors:
        dims = {geometry.head_dim_of(name) for name in tensor.component_names}
        if 0 in dims or any(tensor.x and dim % tensor.x for dim in dims):
            return False
        if "KV" in tensor.opened and len(dims) > 1:
            return False
    return True


def realise(layout: Layout, geometry: Geometry) -> Realised | None:
    """Derive what follows from a layout at a geometry, None where it is not realisable.

    Raises:
        LockstepError: BAD_VALUE where a layer's positions are above the limit of spec/hunt.json.
    """
    if not is_realisable(layout, geometry):
        return None
    canonical_base: dict[str, int] = {}
    canonical = 0
    for name in layout.component_names:
        canonical_base[name] = canonical
        canonical += geometry.tokens * geometry.heads_of(name) * geometry.head_dim_of(name)
    tensors: list[RealisedTensor] = []
    base = 0
    for tensor in layout.tensors:
        realised = _realise_tensor(layout, tensor, geometry, base, canonical_base)
        base += realised.positions
        tensors.append(realised)
    if base > limit("positions"):
        raise LockstepError(
            "BAD_VALUE", f"{layout.source_path}:", f"at most {limit('positions')} positions", base
        )
    replicas = 1
    if layout.rank_axis == "replicated":
        replicas = layout.ranks // (1 if layout.holds_latent else geometry.kv_heads)
    covered = replicas * sum(
        part.elements * part.width for tensor in tensors for part in tensor.components
    )
    return Realised(
        layout=layout,
        geometry=geometry,
        tensors=tuple(tensors),
        canonical_elements=canonical,
        positions=base,
        padding_positions=base - covered,
        replicas=replicas,
        native_bytes=sum(-(-tensor.positions * tensor.slot_bits // 8) for tensor in tensors),
    )


def _realise_tensor(
    layout: Layout,
    tensor: Tensor,
    geometry: Geometry,
    base: int,
    canonical_base: dict[str, int],
) -> RealisedTensor:
    slot_bits = gcd(*(layout.bits(part, geometry) for part in tensor.components))
    components: list[RealisedComponent] = []
    joined = 0
    for place, part in enumerate(tensor.components):
        width = layout.bits(part, geometry) // slot_bits
        realised = RealisedComponent(
            name=part.name,
            place=place,
            canonical_base=canonical_base[part.name],
            tokens=geometry.tokens,
            heads=geometry.heads_of(part.name),
            head_dim=geometry.head_dim_of(part.name),
            bits=layout.bits(part, geometry),
            width=width,
            joined_at=joined,
        )
        joined += realised.head_dim * width
        components.append(realised)
    extent_of = _extents(layout, tensor, geometry, joined)
    axes = tensor.opened
    extents = tuple(extent_of[axis] for axis in axes)
    within = tuple(1 if axis == "L" else extent_of[axis] for axis in axes)
    position_strides = tuple(
        0 if axis == "L" else stride for axis, stride in zip(axes, row_major(within), strict=True)
    )
    return RealisedTensor(
        name=tensor.name,
        shape=tuple(
            prod(extent_of[axis] for axis in group.strip("()").split()) for group in tensor.axes
        ),
        axes=axes,
        extents=extents,
        strides=row_major(extents),
        position_strides=position_strides,
        slot_bits=slot_bits,
        base=base,
        positions=prod(within),
        reserve=tensor.reserve,
        x=tensor.x,
        components=tuple(components),
    )


def _extents(layout: Layout, tensor: Tensor, geometry: Geometry, joined: int) -> dict[str, int]:
    """Give the extent of every axis that the tensor may have [LAY-7]."""
    names = tensor.component_names
    dim = geometry.head_dim_of(names[0])
    heads = geometry.heads_of(names[0])
    if layout.rank_axis == "sharded":
        heads //= layout.ranks
    elif layout.rank_axis == "replicated":
        heads = 1
    return {
        "1": 1,
        "L": geometry.layers,
        "KV": len(names),
        "C": joined,
        "T": tensor.reserve + _round_up(geometry.tokens, tensor.pad_tokens or 1),
        "Tb": tensor.reserve + -(-geometry.tokens // (layout.block or 1)),
        "Ti": layout.block,
        "R": layout.ranks,
        "H": heads,
        "D": _round_up(dim, tensor.pad_head_dim or 1),
        "Dg": dim // (tensor.x or 1),
        "Dx": tensor.x,
    }


def _round_up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple


def row_major(extents: tuple[int, ...]) -> tuple[int, ...]:
    """Give the row-major strides of the extents."""
    return tuple(prod(extents[place + 1 :]) for place in range(len(extents)))
