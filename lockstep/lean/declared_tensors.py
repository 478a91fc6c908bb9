"""A layout's tensors as terms of lean/Lockstep/Declared.lean, with variables for their sizes.

Each canonical axis becomes what the declaration's axes say [LAY-7], and the tensor's axes are then
exchanged into their order. Beside the term go the proof that the tensor is well made and the steps
that the term stands for at one geometry.
"""

from dataclasses import dataclass

from lockstep.layouts.declaration import Layout, Tensor
from lockstep.layouts.realise import Realised, RealisedTensor
from lockstep.layouts.steps import NATIVE, Step

DIMENSIONS = {"K": "head_dim", "V": "head_dim", "latent": "latent_dim", "rope": "rope_dim"}
"""The variable that a component's D extent is."""
COPY = "copy"
"""The axis of an element's copies."""


@dataclass(frozen=True)
class Plan:
    """What becomes of one canonical axis.

    `axes` are the axes that it becomes, `extent` its extent and `term` the plan as Lean terms,
    `fit` the proof that the axes have room, `steps` kinds and sizes at the geometry.
    """

    axes: tuple[str, ...]
    extent: str
    term: str
    fit: str
    steps: tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True)
class DeclaredTensor:
    """A tensor as a Lean term, the proof that it is well made, and its steps at the geometry."""

    term: str
    made: str
    steps: tuple[Step, ...]


def declared_tensors(realised: Realised, layered: bool = False) -> tuple[DeclaredTensor, ...]:
    """Give a layout's tensors, in declared order.

    They are of one layer; where `layered` they are of all, and the layer is the last coordinate of
    an element. A layout in which no axis is the layer has no such tensors.
    """
    pairs = zip(realised.layout.tensors, realised.tensors, strict=True)
    return tuple(_tensor(realised, tensor, at, layered) for tensor, at in pairs)


def _tensor(
    realised: Realised, tensor: Tensor, at: RealisedTensor, layered: bool
) -> DeclaredTensor:
    """Give a tensor: one component alone, several stacked, or several joined along D."""
    layout = realised.layout
    dims = [DIMENSIONS[name] for name in tensor.component_names]
    plans = [_tokens(layout, tensor, at)]
    if not layout.holds_latent:
        plans.append(_heads(layout, at))
    last = [_copies(layout, realised.replicas)] if realised.replicas > 1 else []
    if layered:
        layers = realised.geometry.layers
        last.append(_whole("L", "layers", layers, 0, layers, 0))
    if "C" in tensor.opened:
        axes = [*_axes(plans), "C", *_axes(last)]
        rest = _list([plan.extent for plan in last])
        kind, tail = "joining", f"{rest} {dims[0]} {_list(dims[1:])}"
        head = _terms(plans)
    else:
        plans += [_dimension(tensor, at, dims[0]), *last]
        axes = _axes(plans)
        head = f"({plans[0].term})\n      {_terms(plans[1:])}"
        kind, tail = "holding", ""
        if "KV" in tensor.opened:
            kind, tail = "stacking", f"{len(dims) - 1}"
            axes.insert(0, "KV")
    exchanged = _exchanges(axes, _order(layout, tensor, layered))
    fits = ",\n      ".join([*(plan.fit for plan in plans), "True.intro"])
    return DeclaredTensor(
        f"{kind} {head}\n      {f'{tail} {_list(exchanged)}'.strip()}",
        f"{kind}_made ⟨\n      {fits}⟩ (meets_of rfl)",
        _steps(tensor, at, plans, kind, exchanged),
    )


def _tokens(layout: Layout, tensor: Tensor, at: RealisedTensor) -> Plan:
    tokens, reserve = at.components[0].tokens, at.reserve
    if layout.block:
        blocks = at.extent("Tb") - reserve
        return Plan(
            ("Tb", "Ti"),
            "tokens",
            f".parts tokens (blocks tokens {layout.block}) {layout.block} {reserve}",
            f"blocks_fit tokens {reserve} (zero_lt_succ _)",
            (
                ("pad", (tokens, blocks * layout.block)),
                ("split", (blocks, layout.block)),
                ("reserve", (reserve,)),
            ),
        )
    return _whole("T", "tokens", tokens, tensor.pad_tokens, at.extent("T") - reserve, reserve)


def _heads(layout: Layout, at: RealisedTensor) -> Plan:
    heads, extent = at.components[0].heads, str(layout.kv_heads or "heads")
    if layout.rank_axis == "sharded":
        return _parts(("R", "H"), extent, (layout.ranks, heads // layout.ranks), "shards")
    return _whole("H", extent, heads, 0, heads, 0)


def _dimension(tensor: Tensor, at: RealisedTensor, extent: str) -> Plan:
    dim = at.components[0].head_dim
    if tensor.x:
        return _parts(("Dg", "Dx"), extent, (dim // tensor.x, tensor.x), "vectors")
    return _whole("D", extent, dim, tensor.pad_head_dim, at.extent("D"), 0)


def _copies(layout: Layout, replicas: int) -> Plan:
    """Give the axis of copies: how many ranks hold a head, or the latent."""
    extent = str(layout.ranks)
    if not layout.holds_latent:
        extent = f"({layout.ranks} / {layout.kv_heads or 'heads'})"
    return _whole(COPY, extent, replicas, 0, replicas, 0)


def _whole(axis: str, extent: str, size: int, multiple: int, padded: int, reserve: int) -> Plan:
    """Give the plan of an axis that stays one, rounded up to a multiple where that is above 0."""
    room = f"(blocks {extent} {multiple} * {multiple})" if multiple else extent
    return Plan(
        (axis,),
        extent,
        f".whole {extent} {room} {reserve}",
        f"(blocks_hold {extent} (zero_lt_succ _)).1" if multiple else "le_refl _",
        (("pad", (size, padded)), ("reserve", (reserve,))),
    )


def _parts(axes: tuple[str, str], extent: str, sizes: tuple[int, int], condition: str) -> Plan:
    """Give the plan of an axis that ranks, or vectors, divide, as the condition says."""
    outer, inner = sizes
    parts = f"{outer} ({extent} / {outer})"
    if condition == "vectors":
        parts = f"({extent} / {inner}) {inner}"
    return Plan(
        axes,
        extent,
        f".parts {extent} {parts} 0",
        f"{condition}_fit {condition}",
        (("pad", (outer * inner, outer * inner)), ("split", sizes), ("reserve", (0,))),
    )


def _axes(plans: list[Plan]) -> list[str]:
    return [axis for plan in plans for axis in plan.axes]


def _order(layout: Layout, tensor: Tensor, layered: bool) -> list[str]:
    """List the axes in their order: opened, without units, a rank's copies apart.

    Where heads are replicated a rank's number is that of its head and of the copy, and the axis of
    the heads of a rank is a unit [LAY-7].
    """
    left_out = ("1",) if layered else ("1", "L")
    axes = [axis for axis in tensor.opened if axis not in left_out]
    if layout.rank_axis != "replicated":
        return axes
    ranks = [COPY] if layout.holds_latent else ["H", COPY]
    at = axes.index("R")
    return [*_without_heads(axes[:at]), *ranks, *_without_heads(axes[at + 1 :])]


def _without_heads(axes: list[str]) -> list[str]:
    return [axis for axis in axes if axis != "H"]


def _exchanges(axes: list[str], wanted: list[str]) -> list[int]:
    """List the exchanges of adjacent axes that bring `axes` into the order wanted."""
    standing, found = list(axes), []
    for place, axis in enumerate(wanted):
        for left in range(standing.index(axis) - 1, place - 1, -1):
            found.append(left)
            standing[left : left + 2] = [axis, standing[left]]
    return found


def _steps(
    tensor: Tensor, at: RealisedTensor, plans: list[Plan], kind: str, exchanged: list[int]
) -> tuple[Step, ...]:
    """Give the steps that the term stands for: each component's, the last axis first."""
    names = tensor.component_names
    found = [
        Step(move, (name,), (name,), axis, sizes)
        for name in names
        for axis, plan in reversed(list(enumerate(plans)))
        for move, sizes in plan.steps
    ]
    whole = "+".join(names)
    if kind == "stacking":
        found.append(Step("stack", names, (whole,)))
    elif kind == "joining":
        widths = tuple(part.head_dim * part.width for part in at.components)
        found.append(Step("join", names, (whole,), sum(len(plan.axes) for plan in plans), widths))
    found += [Step("exchange", (whole,), (whole,), left) for left in exchanged]
    return (*found, Step("place", (whole,), (NATIVE + tensor.name,)))


def _terms(plans: list[Plan]) -> str:
    terms = ",\n        ".join(plan.term for plan in plans)
    return f"[ {terms} ]"


def _list(entries: list[str] | list[int]) -> str:
    return f"[{', '.join(str(entry) for entry in entries)}]"
