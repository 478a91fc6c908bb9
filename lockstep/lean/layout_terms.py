"""A layout's steps as terms of lean/Lockstep/Steps.lean, and what they do to coordinates.

The steps are those that `lockstep.layouts.steps` gives. Alongside each array's shape goes a term
for each coordinate, so that a component's whole map is at hand as one term; Lean compares it with
the steps by unfolding definitions, and refuses it where it is anything else.
"""

from dataclasses import dataclass
from math import prod

from lockstep.errors import LockstepError
from lockstep.layouts.realise import Realised, RealisedComponent, RealisedTensor
from lockstep.layouts.steps import Step, steps

_VARIABLES = {"K": "t h d", "V": "t h d", "latent": "t d", "rope": "t d"}
_COPY = "copy"


@dataclass(frozen=True)
class LeanLayout:
    """Shapes and steps of a layout at a geometry, and each component's map, as Lean terms.

    `canonical` and `native` are the shapes of the arrays; where ranks replicate elements, the copy
    is the last axis of `canonical`. `maps` take an element's number within its component.
    """

    canonical: tuple[tuple[int, ...], ...]
    native: tuple[tuple[int, ...], ...]
    steps: tuple[str, ...]
    maps: tuple[str, ...]


class _Array:
    """An array on its way: its shape, and the coordinates of each component's element in it."""

    def __init__(self, key: str, shape: list[int], coordinates: dict[str, list[str]]) -> None:
        self.key = key
        self.shape = shape
        self.coordinates = coordinates


class _Translation:
    """Follows steps on a list of arrays, as `ExactTransform.applySteps` does."""

    def __init__(self, realised: Realised) -> None:
        self.steps: list[str] = []
        self.arrays: list[_Array] = []
        for _, part in realised.components:
            names = _variables(part, _copies(realised)).split()
            shape = list(_canonical_shape(part, _copies(realised)))
            self.arrays.append(_Array(part.name, shape, {part.name: names}))

    def follow(self, step: Step) -> None:
        """Translate one step.

        Raises:
            LockstepError: INTERNAL where the step is of a kind that Lean's model does not know.
        """
        if step.kind == "place":
            return
        place = next(at for at, array in enumerate(self.arrays) if array.key == step.inputs[0])
        if step.kind in ("stack", "join"):
            self._join(step, place)
        else:
            self._move(step, place)

    def _move(self, step: Step, place: int) -> None:
        array, axis, sizes = self.arrays[place], step.axis, step.sizes
        extent = array.shape[axis]
        if step.kind == "pad":
            self._on(place, axis, f"(.pad {sizes[0]} {sizes[1]})")
            array.shape[axis] = sizes[1]
        elif step.kind == "reserve":
            self._on(place, axis, f"(.reserve {extent} {sizes[0]})")
            array.shape[axis] = sizes[0] + extent
            for held in array.coordinates.values():
                held[axis] = f"Nat.add {sizes[0]} {_inner(held[axis])}"
        elif step.kind == "split":
            self._split(place, axis, sizes[0], sizes[1])
        elif step.kind == "merge":
            # Lean merges two axes at a time.
            for size in sizes[1:]:
                self._merge(place, axis, array.shape[axis], size)
        elif step.kind == "exchange":
            self._on(place, axis, ".exchange")
            array.shape[axis : axis + 2] = array.shape[axis : axis + 2][::-1]
            for held in array.coordinates.values():
                held[axis : axis + 2] = held[axis : axis + 2][::-1]
        elif step.kind == "replicate":
            # The copy's axis stands last and comes behind the axis that the step names.
            self._on(place, axis + 1, f"(.replicate {sizes[0]})")
            array.shape.insert(axis + 1, array.shape.pop())
            for held in array.coordinates.values():
                held.insert(axis + 1, held.pop())
        else:
            raise LockstepError("INTERNAL", step.kind, "a step that lean/Lockstep/Steps.lean has")

    def _on(self, place: int, axis: int, move: str) -> None:
        self.steps.append(f".on {place} {axis} {move}")

    def _split(self, place: int, axis: int, outer: int, inner: int) -> None:
        self._on(place, axis, f"(.split {outer} {inner})")
        array = self.arrays[place]
        array.shape[axis : axis + 1] = [outer, inner]
        for held in array.coordinates.values():
            term = _inner(held[axis])
            held[axis : axis + 1] = [f"Nat.div {term} {inner}", f"Nat.mod {term} {inner}"]

    def _merge(self, place: int, axis: int, outer: int, inner: int) -> None:
        self._on(place, axis, f"(.merge {outer} {inner})")
        array = self.arrays[place]
        array.shape[axis : axis + 2] = [outer * inner]
        for held in array.coordinates.values():
            slow, fast = _inner(held[axis]), _inner(held[axis + 1])
            held[axis : axis + 2] = [f"Nat.add (Nat.mul {slow} {inner}) {fast}"]

    def _join(self, step: Step, place: int) -> None:
        """Append the arrays after the first one to it; a stack splits off a new axis before."""
        if step.kind == "stack":
            for later in range(place, place + len(step.inputs)):
                self._split(later, 0, 1, self.arrays[later].shape[0])
        first = self.arrays[place]
        for _ in step.inputs[1:]:
            second = self.arrays.pop(place + 1)
            sizes = first.shape[step.axis], second.shape[step.axis]
            self.steps.append(f".join {place} {step.axis} {sizes[0]} {sizes[1]}")
            first.shape[step.axis] = sum(sizes)
            for name, held in second.coordinates.items():
                held[step.axis] = f"Nat.add {sizes[0]} {_inner(held[step.axis])}"
                first.coordinates[name] = held
        first.key = step.outputs[0]


def lean_layout(realised: Realised, followed: tuple[Step, ...] = ()) -> LeanLayout:
    """Translate a layout at a geometry; each element is one slot wide, as in a lossless layout.

    Args:
        realised: the layout.
        followed: the steps to translate, where they are not those of `lockstep.layouts.steps`.

    Raises:
        LockstepError: INTERNAL where the layout is none that Lean's model can state.
    """
    if any(part.width != 1 for _, part in realised.components):
        raise LockstepError("INTERNAL", realised.layout.name, "elements of one slot")
    translation = _Translation(realised)
    for step in followed or steps(realised.layout, realised.geometry):
        translation.follow(step)
    parts = [part for _, part in realised.components]
    return LeanLayout(
        tuple(_canonical_shape(part, _copies(realised)) for part in parts),
        tuple(_native_shape(realised, tensor) for tensor in realised.tensors),
        tuple(translation.steps),
        tuple(_map(translation.arrays, part, _copies(realised)) for part in parts),
    )


def _copies(realised: Realised) -> tuple[int, ...]:
    """Give the extent of the copy's axis, which elements have where ranks replicate them."""
    return (realised.replicas,) if realised.layout.rank_axis == "replicated" else ()


def _canonical_shape(part: RealisedComponent, copies: tuple[int, ...]) -> tuple[int, ...]:
    heads = (part.heads,) if part.name in ("K", "V") else ()
    return (part.tokens, *heads, part.head_dim, *copies)


def _native_shape(realised: Realised, tensor: RealisedTensor) -> tuple[int, ...]:
    """Give the tensor's shape, the layer axis left out [LAY-19]."""
    declared = next(one for one in realised.layout.tensors if one.name == tensor.name)
    groups = [
        [axis for axis in group.strip("()").split() if axis != "L"] for group in declared.axes
    ]
    return tuple(prod(tensor.extent(axis) for axis in group) for group in groups if group)


def _variables(part: RealisedComponent, copies: tuple[int, ...]) -> str:
    return _VARIABLES[part.name] + (f" {_COPY}" if copies else "")


def _map(arrays: list[_Array], part: RealisedComponent, copies: tuple[int, ...]) -> str:
    """Give the term that maps an element's number in its component to its position.

    The term is what `Layout.run` of `unravel` unfolds to.
    """
    number = "n"
    digits: list[str] = []
    shape = _canonical_shape(part, copies)
    for axis in range(len(shape)):
        within = prod(shape[axis + 1 :])
        digits.append(f"(Nat.div {number} {within})")
        number = f"(Nat.mod {number} {within})"
    summands: list[str] = []
    for array in arrays:
        if part.name in array.coordinates:
            break
        summands.append(str(prod(array.shape)))
    for axis, coordinate in enumerate(array.coordinates[part.name]):
        stride = prod(array.shape[axis + 1 :])
        summands.append(f"(Nat.mul {_inner(coordinate)} {stride})")
    lines = "".join(f"\n        Nat.add {summand} (" for summand in summands)
    position = f"{lines}0{')' * len(summands)}"
    return (
        f"fun n =>\n      (fun {_variables(part, copies)} =>{position})\n      {' '.join(digits)}"
    )


def _inner(term: str) -> str:
    """Give a term as an argument."""
    return f"({term})" if " " in term else term
