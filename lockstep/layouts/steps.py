"""Layouts as compositions of named steps, and recipes that can be run [LAY-20].

Nothing here uses strides: a step reshapes, swaps, pads, stacks or copies arrays. What the steps
give is therefore held against the index map, and the other way round.

Arrays are of one layer. A component's canonical array has axes (T, H, D) or (T, D), D counted
in slots of its tensor; a native array has its tensor's shape, the layer axis left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lockstep.errors import LockstepError
from lockstep.layouts.declaration import Layout
from lockstep.layouts.frontier import frontier_code
from lockstep.layouts.geometry import Geometry
from lockstep.layouts.realise import RealisedComponent, RealisedTensor, realise

Arrays = dict[str, NDArray[Any]]

NATIVE = "native:"
"""Prefix of the keys of native tensors, which may bear a component's name."""

INVERSE = {
    "pad": "crop",
    "reserve": "unreserve",
    "split": "merge",
    "exchange": "exchange",
    "stack": "separate",
    "join": "cut",
    "replicate": "select",
    "place": "take",
}
INVERSE |= {inverse: step for step, inverse in INVERSE.items()}


@dataclass(frozen=True)
class Step:
    """One step: it takes the arrays `inputs` and leaves `outputs` in their place.

    `axis` is where it acts. `sizes` are, for pad and crop, the extents without and with the
    padding; for reserve and replicate the number of slots and copies; for split, merge, join
    and cut the parts' extents. `meaning` is for people.
    """

    kind: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    axis: int = 0
    sizes: tuple[int, ...] = ()
    meaning: str = field(default="", compare=False)

    @property
    def inverse(self) -> "Step":
        """The step that undoes this one."""
        kind = INVERSE[self.kind]
        return Step(kind, self.outputs, self.inputs, self.axis, self.sizes, self.meaning)

    def __str__(self) -> str:
        """Name the arrays, the step, the axes and the sizes, for people."""
        arrays = [
            " and ".join(keys).replace(NATIVE, "native ") for keys in (self.inputs, self.outputs)
        ]
        what = arrays[0] if arrays[0] == arrays[1] else f"{arrays[0]} to {arrays[1]}"
        sizes = f" ({', '.join(str(size) for size in self.sizes)})" if self.sizes else ""
        place = "" if self.kind in ("place", "take") else f" axis {self.axis}"
        meaning = f": {self.meaning}" if self.meaning else ""
        return f"{self.kind:9} {what}{place}{sizes}{meaning}"


class _Builder:
    """Collects the steps of one array and keeps track of its axes."""

    def __init__(self, key: str, axes: list[str]) -> None:
        self.key = key
        self.axes = axes
        self.steps: list[Step] = []

    def act(self, kind: str, axis: str, sizes: tuple[int, ...], axes: tuple[str, ...]) -> None:
        """Add a step at an axis, in whose place `axes` then stand."""
        place = self.axes.index(axis)
        self.steps.append(Step(kind, (self.key,), (self.key,), place, sizes, axis))
        self.axes[place : place + 1] = axes

    def order(self, wanted: list[str]) -> None:
        """Exchange adjacent axes until they stand as wanted."""
        for place, axis in enumerate(wanted):
            for left in range(self.axes.index(axis) - 1, place - 1, -1):
                meaning = f"{self.axes[left]} and {axis}"
                self.steps.append(Step("exchange", (self.key,), (self.key,), left, meaning=meaning))
                self.axes[left : left + 2] = [axis, self.axes[left]]


def steps(layout: Layout, geometry: Geometry) -> tuple[Step, ...]:
    """Give the steps that lead from the canonical tensors to the native ones.

    Raises:
        LockstepError: X4_GEOMETRY_UNREPRESENTABLE where the layout is not realisable.
    """
    realised = realise(layout, geometry)
    if realised is None:
        raise LockstepError(
            "X4_GEOMETRY_UNREPRESENTABLE", layout.source_path, "a realisable layout", layout.name
        )
    found: list[Step] = []
    for tensor, declared in zip(realised.tensors, layout.tensors, strict=True):
        parts = [_component(tensor, part, layout, realised.replicas) for part in tensor.components]
        for part in parts:
            found += part.steps
        names = tuple(part.key for part in parts)
        whole = _Builder("+".join(names), parts[0].axes)
        if "C" in tensor.axes:
            place = whole.axes.index("D")
            joined = tuple(part.head_dim * part.width for part in tensor.components)
            found.append(Step("join", names, (whole.key,), place, joined, "along D"))
            whole.axes[place] = "C"
        elif "KV" in tensor.axes:
            found.append(Step("stack", names, (whole.key,), meaning="along KV"))
            whole.axes.insert(0, "KV")
        whole.order([axis for axis in tensor.axes if axis not in ("1", "L")])
        _group(whole, tensor, declared.axes)
        found += whole.steps
        found.append(Step("place", (whole.key,), (NATIVE + tensor.name,), meaning=tensor.name))
    return tuple(found)


def _component(
    tensor: RealisedTensor, part: RealisedComponent, layout: Layout, replicas: int
) -> _Builder:
    """Pad, split and replicate one component's axes."""
    heads = part.name in ("K", "V")
    built = _Builder(part.name, ["T", "H", "D"] if heads else ["T", "D"])
    padded_dim = tensor.extent("D")
    if "D" in tensor.axes and padded_dim != part.head_dim:
        built.act("pad", "D", (part.head_dim, padded_dim), ("D",))
    if tensor.x:
        built.act("split", "D", (part.head_dim // tensor.x, tensor.x), ("Dg", "Dx"))
    outer = "Tb" if layout.block else "T"
    blocks = tensor.extent(outer) - tensor.reserve
    padded_tokens = blocks * (layout.block or 1)
    if padded_tokens != part.tokens:
        built.act("pad", "T", (part.tokens, padded_tokens), ("T",))
    if layout.block:
        built.act("split", "T", (blocks, layout.block), ("Tb", "Ti"))
    if tensor.reserve:
        built.act("reserve", outer, (tensor.reserve,), (outer,))
    if layout.rank_axis == "sharded" and heads:
        share = part.heads // layout.ranks
        built.act("split", "H", (layout.ranks, share), ("R", "H"))
    elif layout.rank_axis == "replicated" and heads:
        built.act("replicate", "H", (replicas,), ("H", "R"))
        # The copies of a head are adjacent ranks, each of which holds that head alone.
        built.steps.append(
            Step("merge", (built.key,), (built.key,), built.axes.index("H"), (part.heads, replicas))
        )
        built.axes.remove("H")
        built.act("split", "R", (layout.ranks, 1), ("R", "H"))
    elif layout.ranks > 1:
        built.act("replicate", outer, (replicas,), (outer, "R"))
    return built


def _group(whole: _Builder, tensor: RealisedTensor, declared: tuple[str, ...]) -> None:
    """Insert unit axes and merge the groups, the layer axis being left out."""
    place = 0
    for group in declared:
        members = [axis for axis in group.strip("()").split() if axis != "L"]
        for offset, axis in enumerate(members):
            if axis == "1":
                at = max(place + offset - 1, 0)
                size = prod(tensor.extent(part) for part in whole.axes[at].strip("()").split())
                first = place + offset == 0
                parts = (1, size) if first else (size, 1)
                pair = ("1", whole.axes[at]) if first else (whole.axes[at], "1")
                whole.steps.append(
                    Step("split", (whole.key,), (whole.key,), at, parts, "a unit axis")
                )
                whole.axes[at : at + 1] = pair
        if len(members) > 1:
            sizes = tuple(tensor.extent(axis) for axis in members)
            meaning = " ".join(members)
            whole.steps.append(Step("merge", (whole.key,), (whole.key,), place, sizes, meaning))
            whole.axes[place : place + len(members)] = [f"({meaning})"]
        place += bool(members)


def recipe(src: Layout, dst: Layout, geometry: Geometry) -> tuple[Step, ...]:
    """Give the steps from one layout's native tensors to another's, equal neighbours cancelled.

    Raises:
        LockstepError: the pair's frontier code, or BAD_VALUE where the two hold different
            components or element widths, so that a value transform stands between them.
    """
    code = frontier_code(src, dst, geometry)
    if code:
        raise LockstepError(code, f"{src.name}->{dst.name}", "a pair within the frontier")
    if _slots(src, geometry) != _slots(dst, geometry):
        raise LockstepError(
            "BAD_VALUE",
            f"{src.name}->{dst.name}",
            "the same components and widths on both sides",
            hint="A cast or scale stands between the two; a recipe moves positions only.",
        )
    undo = [step.inverse for step in reversed(steps(src, geometry))]
    return _cancel([*undo, *steps(dst, geometry)])


def _slots(layout: Layout, geometry: Geometry) -> dict[str, int]:
    realised = realise(layout, geometry)
    return {part.name: part.width for _, part in realised.components} if realised else {}


def _cancel(found: list[Step]) -> tuple[Step, ...]:
    """Remove pairs of inverse steps with nothing between them that touches their arrays."""
    place = 0
    while place < len(found):
        step = found[place]
        keys = {*step.inputs, *step.outputs}
        for later in range(place + 1, len(found)):
            if keys & {*found[later].inputs, *found[later].outputs}:
                if found[later] == step.inverse:
                    del found[later], found[place]
                    place = -1
                break
        place += 1
    return tuple(found)


def run(
    found: tuple[Step, ...],
    arrays: Mapping[str, NDArray[Any]],
    fill: Mapping[str, NDArray[Any]] | None = None,
) -> Arrays:
    """Run a recipe on native arrays by tensor name, giving native arrays by tensor name.

    What a step pads comes from `fill`, native arrays of the destination, or is 0 without it.
    The arrays of `layout.steps` alone are keyed by component; both kinds are accepted.
    """
    values = _run(found, arrays, np.zeros((), dtype=np.int64))
    if fill is None:
        return values
    nothing = {name: np.zeros(array.shape, dtype=np.bool_) for name, array in arrays.items()}
    padded = _run(found, nothing, np.ones((), dtype=np.bool_))
    return {name: np.where(padded[name], fill[name], array) for name, array in values.items()}


def _run(
    found: tuple[Step, ...], arrays: Mapping[str, NDArray[Any]], filler: NDArray[Any]
) -> Arrays:
    takes = {key for step in found if step.kind == "take" for key in step.inputs}
    held: Arrays = {
        NATIVE + name if NATIVE + name in takes else name: array for name, array in arrays.items()
    }
    for step in found:
        taken = [held.pop(key) for key in step.inputs]
        held.update(zip(step.outputs, _apply(step, taken, filler), strict=True))
    return {key.removeprefix(NATIVE): array for key, array in held.items()}


def _apply(step: Step, taken: list[NDArray[Any]], filler: NDArray[Any]) -> list[NDArray[Any]]:
    """Do one step."""
    array, axis, sizes = taken[0], step.axis, step.sizes
    shape = array.shape
    if step.kind in ("pad", "reserve"):
        extra = list(shape)
        extra[axis] = sizes[1] - sizes[0] if step.kind == "pad" else sizes[0]
        padding = np.full(extra, filler, dtype=array.dtype)
        order = [array, padding] if step.kind == "pad" else [padding, array]
        return [np.concatenate(order, axis=axis)]
    if step.kind in ("crop", "unreserve"):
        first, last = (0, sizes[0]) if step.kind == "crop" else (sizes[0], shape[axis])
        return [array[(slice(None),) * axis + (slice(first, last),)]]
    if step.kind == "split":
        return [array.reshape(shape[:axis] + sizes + shape[axis + 1 :])]
    if step.kind == "merge":
        return [array.reshape((*shape[:axis], -1, *shape[axis + len(sizes) :]))]
    if step.kind == "exchange":
        return [array.swapaxes(axis, axis + 1)]
    if step.kind == "stack":
        return [np.stack(taken)]
    if step.kind == "separate":
        return list(array)
    if step.kind == "join":
        return [np.concatenate(taken, axis=axis)]
    if step.kind == "cut":
        return np.split(array, np.cumsum(sizes)[:-1], axis=axis)
    if step.kind == "replicate":
        return [np.repeat(np.expand_dims(array, axis + 1), sizes[0], axis=axis + 1)]
    if step.kind == "select":
        return [array.take(0, axis=axis + 1)]
    return taken
