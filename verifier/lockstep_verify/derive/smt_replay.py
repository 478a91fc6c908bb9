"""Counterexamples to planted strides, replayed through the index map (SMT-11).

The map is written once more here, with quotients and remainders, apart from the texts.
"""

from typing import Any

from lockstep_verify.derive.layout import Layout
from lockstep_verify.derive.smt_texts import Case, case_of
from lockstep_verify.errors import Refusal

Element = tuple[int, int, int, int, int, int]
"""Component, layer, token, head, copy, dimension."""


def check_counterexample(
    case: Case, kind: str, wrong: tuple[str, int], declared: dict[str, Any], at: str
) -> None:
    """See that a counterexample breaks the layout with its planted stride.

    Raises:
        Refusal: COUNTEREXAMPLE_NOT_REPLAYED, at the counterexample.
    """
    fault = _fault(case, kind, wrong, declared)
    if fault:
        raise Refusal("COUNTEREXAMPLE_NOT_REPLAYED", at, fault, declared)


def _fault(case: Case, kind: str, wrong: tuple[str, int], declared: dict[str, Any]) -> str | None:
    """Name what the counterexample lacks, None where it breaks the layout."""
    tokens, offset = declared["tokens"], declared["offset"]
    elements: list[Element] = [tuple(element) for element in declared["elements"]]
    most = case.layout.geometry.tokens
    if not (1 <= tokens <= most if case.mode == "any" else tokens == most):
        return "the token count of the geometry, or in mode any one of at most that"
    here = _at(case, tokens)
    if len(elements) != (2 if kind == "injective" else 1):
        return "two elements where they meet, else one"
    if not all(_exists(here, element) for element in elements):
        return "elements of the layout"
    strides = {axis: stride for axis, _, stride in here.axes}
    planted = {**strides, wrong[0]: wrong[1]}
    first = elements[0]
    if kind == "padding" and 0 <= offset < here.size:
        read = _read(here, offset)
        if read == first:
            broken = _place(here, first, planted) != offset
        else:
            broken = read is None and _place(here, first, planted) == offset
        return None if broken else "padding that is used, or an element that lies elsewhere"
    if any(_place(here, element, planted) != offset for element in elements):
        return "the offset where the planted stride leads"
    broken = {
        "in-bounds": not 0 <= offset < here.size,
        "injective": len(set(elements)) == 2,
        "round-trip": _read(here, offset) != first,
        "padding": False,
    }
    return None if broken[kind] else f"a break of {kind}"


def _at(case: Case, tokens: int) -> Case:
    """Give the case at another token count."""
    if tokens == case.layout.geometry.tokens:
        return case
    layout = Layout(case.layout.declared, case.layout.geometry._replace(tokens=tokens))
    number = [tensor.names for tensor in layout.tensors].index(case.tensor.names)
    geometry = case.name.split("/")[2]
    return case_of(layout, layout.tensors[number], geometry, case.mode)


def _exists(case: Case, element: Element) -> bool:
    """Whether an element's coordinates are in range; those that the case lacks are 0."""
    geometry, dims = case.layout.geometry, case.dims
    component, layer, token, head, copy, dim = element
    return (
        0 <= component < len(dims)
        and 0 <= layer < (geometry.layers if case.holds("L") else 1)
        and 0 <= token < geometry.tokens
        and 0 <= head < (case.layout.rank_heads if case.holds("H", "R") else 1)
        and 0 <= copy < case.layout.replicas
        and 0 <= dim < dims[component]
    )


def _place(case: Case, element: Element, strides: dict[str, int]) -> int:
    """Give an element's offset under some strides (LAY-7)."""
    layout, tensor = case.layout, case.tensor
    component, layer, token, head, copy, dim = element
    share = layout.rank_heads // layout.ranks or 1
    along = {"L": layer, "KV": component, "T": tensor.reserve + token, "H": head, "D": dim}
    along["C"] = sum(case.dims[:component]) + dim
    if layout.block:
        along["Tb"] = tensor.reserve + token // layout.block
        along["Ti"] = token % layout.block
    if layout.rank_axis == "sharded":
        along["R"], along["H"] = divmod(head, share)
    elif layout.rank_axis == "replicated":
        along["R"], along["H"] = head * layout.replicas + copy, 0
    if tensor.x:
        along["Dg"], along["Dx"] = divmod(dim, tensor.x)
    return sum(stride * along[axis] for axis, stride in strides.items())


def _read(case: Case, offset: int) -> Element | None:
    """Read an offset's digits by the true strides; None where they say padding (SMT-8)."""
    layout, tensor, dims = case.layout, case.tensor, case.dims
    if not 0 <= offset < case.size:
        return None
    said: dict[str, int] = {}
    for axis, _, stride in case.axes:
        said[axis], offset = divmod(offset, stride)
    component, dim = said.get("KV", 0), said.get("D", 0)
    if "C" in said:
        component = int(said["C"] >= dims[0])
        dim = said["C"] - component * dims[0]
    if tensor.x:
        dim = said["Dg"] * tensor.x + said["Dx"]
    token = said.get("T", 0) - tensor.reserve
    if layout.block:
        token = (said["Tb"] - tensor.reserve) * layout.block + said["Ti"]
    head, copy = said.get("H", 0), 0
    if layout.rank_axis == "sharded":
        head += said["R"] * (layout.rank_heads // layout.ranks)
    elif layout.rank_axis == "replicated":
        head, copy = divmod(said["R"], layout.replicas)
    element = (component, said.get("L", 0), token, head, copy, dim)
    return element if _exists(case, element) else None
