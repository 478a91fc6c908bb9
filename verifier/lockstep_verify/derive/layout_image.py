"""Positions one by one: the image digest, and the walk that checks strides against digits.

The digest follows the strides (LAY-18). The walk goes the other way and does not use them: it
takes native positions in their order, reads their digits from the shape alone, and asks which
element stands there; the strides must lead from that element back to the same position (HUNT-17).
"""

import hashlib
import struct
from collections.abc import Callable, Iterable
from math import prod

from lockstep_verify import limits, spec
from lockstep_verify.derive.layout import Layout, Tensor
from lockstep_verify.derive.layout_terms import Component
from lockstep_verify.errors import Refusal

# A walked element as one number: token, component, slot of the element, replica, head, dimension.
_DIM, _HEAD, _REPLICA, _SLOT, _COMPONENT, _TOKEN = 0, 14, 25, 36, 43, 45
_REST = (1 << _TOKEN) - 1
_NOWHERE = -(1 << 60)


def image_sha256(layout: Layout) -> str:
    """Give the image digest of a realisable layout (LAY-18)."""
    sizes = [component.size for component in layout.components]
    total = sum(sizes)
    taken = spec.load("hunt.json")["limits"]["image_elements"] // layout.replicas
    windows = [(0, total)]
    if total > taken:
        windows = [(0, taken // 2), (total - taken // 2, total)]
    digest = hashlib.sha256()
    for start, stop in windows:
        before = 0
        for component, size in zip(layout.components, sizes, strict=True):
            low, high = max(start - before, 0), min(stop - before, size)
            if low < high:
                slots = _first_slots(component, low, high)
                digest.update(struct.pack(f"<{len(slots)}Q", *slots))
            before += size
    return digest.hexdigest()


def _first_slots(component: Component, low: int, high: int) -> list[int]:
    """Give the first slots, replicas side by side, of a range of a component's elements."""
    _, heads, dim = component.extents
    plane = heads * dim
    first, last = low // plane, (high - 1) // plane
    spans = [(first, first + 1, low - first * plane, plane), (first + 1, last, 0, plane)]
    spans.append((last, last + 1, 0, high - last * plane))
    if first == last:
        spans = [(first, first + 1, low - first * plane, high - first * plane)]
    slots: list[int] = []
    for start, stop, at, end in spans:
        if start < stop:
            plane_slots = _plane_slots(component, at, end)
            token = component.token.over(start, stop)
            slots += [t + slot for t in token for slot in plane_slots]
    return slots


def _plane_slots(component: Component, low: int, high: int) -> list[int]:
    """Give the slots of a range of one token's elements, the token's own term left out."""
    dim = component.extents[2]
    first, last = low // dim, (high - 1) // dim + 1
    along = component.dim.over(0, dim)
    across = [component.base + term for term in component.head.over(first, last)]
    slots = [h + d for h in across for d in along][low - first * dim : high - first * dim]
    if component.replicas > 1:
        copies = range(component.replicas)
        slots = [slot + copy * component.replica_stride for slot in slots for copy in copies]
    return slots


def walk(layouts: list[Layout], exhaustive: bool) -> int:
    """Walk the first and last positions of each distinct image; give how many were walked.

    Raises:
        Refusal: BIJECTION_NOT_DERIVED, where digits and strides disagree.
    """
    images = {layout.image: layout for layout in layouts if layout.realisable}
    share = min(limits.WALKED_POSITIONS, limits.WALKED_TOTAL // max(len(images), 1))
    walked = 0
    for layout in images.values():
        start = 0
        found = 0
        for tensor in layout.tensors:
            size = tensor.positions
            bound = share * size // layout.positions
            windows: Iterable[tuple[int, int]] = [(0, size)]
            if size > bound:
                windows = [(0, bound // 2), (size - bound // 2, size)]
            if exhaustive:
                step = limits.WALKED_POSITIONS
                windows = ((low, min(low + step, size)) for low in range(0, size, step))
            for low, high in windows:
                if low == high:
                    continue
                found += _walk_window(layout, tensor, start, low, high)
                walked += high - low
            start += size
        if (exhaustive or layout.positions <= share) and found != layout.covered:
            raise Refusal("BIJECTION_NOT_DERIVED", "/predicate/layouts", layout.covered, found)
    return walked


class _Terms(dict[int, int]):
    """Terms of the index map by a part of the walked number, each computed when first met."""

    def __init__(self, compute: Callable[[int], int]) -> None:
        super().__init__()
        self.compute = compute

    def __missing__(self, key: int) -> int:
        term = self[key] = self.compute(key)
        return term


def _walk_window(layout: Layout, tensor: Tensor, start: int, low: int, high: int) -> int:
    """Walk positions low to high of a tensor; give how many hold an element."""
    tokens = layout.geometry.tokens
    components = [c for name in tensor.names for c in layout.components if c.name == name]

    def token_term(index: int) -> int:
        if 0 <= index < tokens:
            return index // factor * outer + index % factor * inner
        return _NOWHERE

    def rest_term(rest: int) -> int:
        heads, dims, base, hf, ho, hi, df, do, di, copies = parts[rest >> _COMPONENT]
        head, dim = rest >> _HEAD & 0x7FF, rest & 0x3FFF
        if head >= heads or dim >= dims:
            return _NOWHERE
        base += (rest >> _SLOT & 0x7F) * slot_stride + (rest >> _REPLICA & 0x7FF) * copies
        return base + head // hf * ho + head % hf * hi + dim // df * do + dim % df * di

    factor, outer, inner = components[0].token
    parts = [(*c.extents[1:], c.base, *c.head, *c.dim, c.replica_stride) for c in components]
    # Slots of one element lie side by side along C, and nowhere else has an element several.
    slot_stride = 1
    for axis in reversed(tensor.axes):
        if axis == "C":
            break
        if axis not in ("1", "L"):
            slot_stride *= tensor.extents[axis]
    terms, rests = _Terms(token_term), _Terms(rest_term)
    axes = [axis for axis in tensor.axes if axis not in ("1", "L")]
    numbers = _numbers(layout, tensor, axes, low, high)
    strided = [terms[number >> _TOKEN] + rests[number & _REST] for number in numbers]
    wrong = [slot for at, slot in enumerate(strided, start + low) if slot != at]
    if wrong and max(wrong) >= 0:
        expected = "the slot that was walked"
        raise Refusal("BIJECTION_NOT_DERIVED", "/predicate/layouts", expected, max(wrong))
    return high - low - len(wrong)


def _numbers(layout: Layout, tensor: Tensor, axes: list[str], low: int, high: int) -> list[int]:
    """Give the elements at positions low to high of the axes, as numbers, from digits alone."""
    inner = prod(tensor.extents[axis] for axis in axes[1:])
    first, last = low // inner, (high - 1) // inner
    digits = _digits(layout, tensor, axes[0], first, last + 1)
    if inner == 1:
        return digits
    rest = axes[1:]
    start, end = low - first * inner, high - last * inner
    if first == last:
        return [digits[0] + n for n in _numbers(layout, tensor, rest, start, end)]
    # Only the first and the last digit may see a part of the faster axes.
    numbers: list[int] = []
    if start:
        digit = digits.pop(0)
        numbers = [digit + n for n in _numbers(layout, tensor, rest, start, inner)]
    tail = digits.pop() if end < inner else None
    if digits:
        whole = _numbers(layout, tensor, rest, 0, inner)
        numbers += [digit + n for digit in digits for n in whole]
    if tail is not None:
        numbers += [tail + n for n in _numbers(layout, tensor, rest, 0, end)]
    return numbers


def _digits(layout: Layout, tensor: Tensor, axis: str, start: int, stop: int) -> list[int]:
    """Give what a range of an axis's digits says of the element (LAY-7, read backwards)."""
    block, digits = layout.block, range(start, stop)
    if axis == "T":
        return [(digit - tensor.reserve) << _TOKEN for digit in digits]
    if axis == "Tb":
        return [(digit - tensor.reserve) * block << _TOKEN for digit in digits]
    if axis == "C":
        parts: list[int] = []
        before = 0
        for i, name in enumerate(tensor.names):
            width = tensor.width(name)
            end = before + layout.geometry.dims[name] * width
            own = range(max(start, before) - before, min(stop, end) - before)
            parts += [i << _COMPONENT | c // width | c % width << _SLOT for c in own]
            before = end
        return parts
    if axis == "R" and layout.rank_axis == "replicated":
        copies = layout.ranks // layout.rank_heads
        return [digit // copies << _HEAD | digit % copies << _REPLICA for digit in digits]
    shift = {"KV": _COMPONENT, "Ti": _TOKEN, "R": _HEAD, "H": _HEAD}.get(axis, _DIM)
    unit = {"R": layout.rank_heads // layout.ranks, "Dg": tensor.x}.get(axis, 1)
    return [digit * unit << shift for digit in digits]
