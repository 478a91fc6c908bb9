"""Counterexamples to planted strides, replayed through the index map in NumPy [SMT-11].

A model's digits are told as an element's coordinates; the forward map with the planted stride and
the inverse map with the true ones then say whether the layout breaks as the query says.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from lockstep.errors import LockstepError
from lockstep.layouts.index_map import forward_tables, native_to_canonical
from lockstep.layouts.realise import Realised, RealisedTensor, realise
from lockstep.proofs.geometries import Case
from lockstep.proofs.layout_queries import Guard, Planted
from lockstep.proofs.solvers import Model

Element = tuple[int, int, int, int, int, int]
"""Component, layer, token, head, copy, dimension; those that a tensor lacks are 0."""


@dataclass(frozen=True)
class Counterexample:
    """What a planted stride breaks: one element, or two at one offset."""

    tokens: int
    elements: tuple[Element, ...]
    offset: int

    def as_json(self) -> dict[str, Any]:
        """Give it as a certificate carries it."""
        return {
            "tokens": self.tokens,
            "elements": [list(element) for element in self.elements],
            "offset": self.offset,
        }


def replay(case: Case, guard: Guard, model: Model) -> Counterexample:
    """Tell a model as a counterexample and see that the layout breaks by it.

    Raises:
        LockstepError: COUNTEREXAMPLE_NOT_REPLAYED where it does not.
    """
    subjects = ("a", "b") if guard.kind == "injective" else ("a",)
    found = Counterexample(
        tokens=int(model["n"]),
        elements=tuple(_element(case, model, of) for of in subjects),
        offset=int(model["q.p" if guard.kind == "padding" else "a.p"]),
    )
    if not breaks(case, guard.kind, guard.planted, found):
        raise LockstepError(
            "COUNTEREXAMPLE_NOT_REPLAYED",
            f"query {guard.query.name}",
            f"a break of {guard.kind} by stride {guard.planted.stride} of {guard.planted.axis}",
            found.as_json(),
        )
    return found


def breaks(case: Case, kind: str, planted: Planted, found: Counterexample) -> bool:
    """Decide whether a counterexample breaks a case with a planted stride [SMT-11]."""
    realised = case.realised
    if found.tokens > realised.geometry.tokens:
        return False
    if found.tokens != realised.geometry.tokens:
        geometry = dataclasses.replace(realised.geometry, tokens=found.tokens)
        moved = realise(case.layout, geometry) if case.mode == "any" else None
        if moved is None:
            return False
        realised = moved
    number = case.realised.tensors.index(case.tensor)
    tensor = realised.tensors[number]
    layers = realised.geometry.layers if case.has("L") else 1
    size = tensor.positions * layers
    places = [
        _place(realised, tensor, _strides(case, tensor, planted), element)
        for element in found.elements
    ]
    if kind == "padding" and 0 <= found.offset < size:
        held = _read(realised, tensor, _strides(case, tensor, None), found.offset)
        if held == found.elements[0]:
            return places[0] != found.offset
        return held is None and places[0] == found.offset
    if kind == "padding" or set(places) != {found.offset}:
        return False
    if kind == "injective":
        return len(set(found.elements)) == 2
    if kind == "in-bounds":
        return not 0 <= found.offset < size
    if not 0 <= found.offset < size:
        return True
    return _read(realised, tensor, _strides(case, tensor, None), found.offset) != found.elements[0]


def _element(case: Case, model: Model, of: str) -> Element:
    """Give the coordinates that a model's digits stand for."""

    def digit(name: str) -> int:
        return int(model.get(f"{of}.{name}", 0))

    head = digit("h")
    if case.layout.rank_axis == "sharded":
        head = digit("r") * (case.heads // case.layout.ranks) + digit("s")
    token = digit("tb") * case.layout.block + digit("ti") if case.layout.block else digit("t")
    dim = digit("g") * case.tensor.x + digit("x") if case.tensor.x else digit("d")
    return digit("k"), digit("l"), token, head, digit("c"), dim


def _strides(case: Case, tensor: RealisedTensor, planted: Planted | None) -> dict[str, int]:
    """Give strides in slots of all layers by axis, one of them planted."""
    strides = dict(zip(tensor.axes, tensor.strides, strict=True))
    if case.has("L"):
        strides.setdefault("L", tensor.positions)
    if planted is not None:
        strides[planted.axis] = planted.stride
    return strides


def _place(
    realised: Realised, tensor: RealisedTensor, strides: dict[str, int], element: Element
) -> int:
    """Give an element's offset by the tables of the forward map, made with some strides."""
    component, layer, token, head, copy, dim = element
    within = tuple(0 if axis == "L" else strides[axis] for axis in tensor.axes)
    moved = dataclasses.replace(tensor, base=0, position_strides=within)
    tables = forward_tables(realised, moved, tensor.components[component])
    there = tables.base + int(tables.tokens[token] + tables.heads[head, copy] + tables.dims[dim])
    return there + layer * strides.get("L", 0)


def _read(
    realised: Realised, tensor: RealisedTensor, strides: dict[str, int], offset: int
) -> Element | None:
    """Give the element that the inverse map finds at an offset, None for padding."""
    left, layer, position, copy = offset, 0, tensor.base, 0
    for axis, stride in sorted(strides.items(), key=lambda item: -item[1]):
        if axis == "1":
            continue
        digit, left = divmod(left, stride)
        if axis == "L":
            layer = digit
            continue
        position += digit * tensor.stride(axis)
        if axis == "R" and realised.layout.rank_axis == "replicated":
            copy = digit % realised.replicas
    index = int(native_to_canonical(realised, position, position + 1)[0])
    if index < 0:
        return None
    for number, part in enumerate(tensor.components):
        if part.canonical_base <= index < part.canonical_base + part.elements:
            token, rest = divmod(index - part.canonical_base, part.heads * part.head_dim)
            head, dim = divmod(rest, part.head_dim)
            return number, layer, token, head, copy, dim
    return None
