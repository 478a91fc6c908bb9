"""Moving a cache from one layout to another and back, and comparing what arrives.

The source is written by its own steps and holds padding that is not zero. A recipe, or a cast
between the steps of two layouts where one of them is lossy, moves it; padding that the
destination introduces is what the destination's own writer would have found there, so that
whole buffers can be compared; padding that the way back introduces differs at every slot from
what the source held.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from lockstep import limits
from lockstep.hunt import element_types
from lockstep.hunt.decode import STEPS, LayerCache, decode, layer_cache
from lockstep.hunt.native import (
    Arrays,
    Cache,
    canonical_shape,
    finish,
    read_by_index,
    same,
    to_elements,
    to_slots,
    write_by_index,
    write_by_steps,
)
from lockstep.hunt.observe import RowObservation
from lockstep.hunt.payloads import PAYLOADS, state, stream_seed
from lockstep.layouts.geometry import Geometry
from lockstep.layouts.steps import recipe, run

Translator = Callable[[Arrays, bool], Arrays]
"""Moves one layer's native arrays; the flag asks for the inverted padding fill."""

COMPONENTS = ("K", "V", "latent", "rope")


def full_state(geometry: Geometry, latent: bool, seed: int, layer: int) -> Arrays:
    """Give the full-precision state of a layer: element bits by component."""
    names = ("latent", "rope") if latent else ("K", "V")
    found: Arrays = {}
    for name in names:
        dims = geometry.head_dim_of(name)
        shape = (geometry.tokens, dims) if latent else (geometry.tokens, geometry.kv_heads, dims)
        stream = stream_seed(seed, layer, COMPONENTS.index(name))
        count = geometry.tokens * geometry.heads_of(name) * dims
        found[name] = state(stream, count, geometry.dtype).reshape(shape)
    return found


@dataclass
class Bench:
    """The contents of one hunt: states and each layout's own image of them, kept while they fit.

    Attributes:
        geometry: of the caches.
        layers: that are moved.
        payload_seed: of the contents.
        zero_tail: whether padding holds zeros on either way, as no engine promises.
    """

    geometry: Geometry
    layers: tuple[int, ...]
    payload_seed: int
    zero_tail: bool = False
    _states: dict[tuple[bool, int], Arrays] = field(default_factory=dict)
    _images: dict[tuple[str, int], Arrays] = field(default_factory=dict)
    _agreed: dict[tuple[str, int], bool] = field(default_factory=dict)
    _held_bytes: int = 0

    def state(self, cache: Cache, layer: int) -> Arrays:
        """Give the full-precision state that a layout's layer stands for."""
        key = (cache.realised.layout.holds_latent, layer)
        if key not in self._states:
            self._states[key] = full_state(self.geometry, key[0], self.payload_seed, layer)
        return self._states[key]

    def image(self, cache: Cache, layer: int) -> Arrays:
        """Give what the layout's own writer makes of the state."""
        key = (cache.name, layer)
        if key in self._images:
            return self._images[key]
        stored = stored_elements(cache, self.state(cache, layer))
        image = write_by_steps(cache, to_slots(cache, stored), self.zero_tail)
        size = sum(array.nbytes for array in image.values())
        if self._held_bytes + size <= limits.IMAGE_BYTES:
            self._images[key] = image
            self._held_bytes += size
        return image

    def index_agrees(self, cache: Cache, layer: int) -> bool:
        """Compare a layout's image with what its index map makes of the state."""
        key = (cache.name, layer)
        if key not in self._agreed:
            stored = to_slots(cache, stored_elements(cache, self.state(cache, layer)))
            image = self.image(cache, layer)
            self._agreed[key] = same(image, write_by_index(cache, stored, self.zero_tail)) and all(
                same(read_by_index(cache, image, replica), stored)
                for replica in range(cache.realised.replicas)
            )
        return self._agreed[key]

    def stands_for_state(self, cache: Cache, layer: int) -> bool:
        """Decide whether a cache that equals the layout's image need not be decoded again.

        So it is in a large layer whose image, read through the index map, was compared bitwise
        with the state that the reference is decoded from. Small layers are always decoded.
        """
        large = cache.realised.canonical_elements > limits.PAIR_WALK_ELEMENTS
        lossless = cache.realised.layout.quantisation == "none"
        return large and lossless and self.index_agrees(cache, layer)

    def read(self, cache: Cache, native: Arrays) -> LayerCache:
        """Read a layer's keys and values from native arrays, through the index map."""
        return layer_cache(read_state(cache, read_by_index(cache, native)), self.geometry.dtype)

    def reference_cache(self, cache: Cache, layer: int) -> LayerCache:
        """Give a layer's keys and values as the untranslated state has them."""
        return layer_cache(self.state(cache, layer), self.geometry.dtype)


def stored_elements(cache: Cache, full: Arrays) -> Arrays:
    """Give the elements that a layout stores for a full-precision state."""
    layout = cache.realised.layout
    return element_types.encode(
        full, layout.quantisation, cache.bits, cache.realised.geometry.dtype
    )


def read_state(cache: Cache, slots: Arrays) -> Arrays:
    """Give the full-precision state that canonical arrays (in slots) of a layout stand for."""
    realised = cache.realised
    elements = to_elements(cache, slots)
    return element_types.decode(
        elements, realised.layout.quantisation, cache.bits, realised.geometry.dtype
    )


def translator(src: Cache, dst: Cache, zero_tail: bool = False) -> Translator:
    """Give the translator of a pair: its recipe, or casts between the steps of both layouts."""
    if src.realised.layout.quantisation == dst.realised.layout.quantisation:
        moves = recipe(src.realised.layout, dst.realised.layout, src.realised.geometry)

        def by_recipe(arrays: Arrays, inverted: bool) -> Arrays:
            return finish(dst, run(moves, arrays), zero_tail, inverted)

        return by_recipe

    def with_casts(arrays: Arrays, inverted: bool) -> Arrays:
        full = read_state(src, run(src.undo, arrays))
        slots = to_slots(dst, stored_elements(dst, full))
        return finish(dst, run(dst.steps, slots), zero_tail, inverted)

    return with_casts


@dataclass(frozen=True)
class Model:
    """What a row's decode is held against: the model's seed and the reference tokens."""

    weights_seed: int
    reference: tuple[int, ...]
    steps: int = STEPS


def observe(
    bench: Bench,
    src: Cache,
    dst: Cache,
    model: Model | None,
    there: Translator | None = None,
    back: Translator | None = None,
) -> RowObservation:
    """Move a pair's contents in every layer of the bench and observe what [HUNT-6] asks.

    Args:
        bench: contents and layers.
        src: source.
        dst: destination.
        model: of the decode, or None for a hunt that does not decode.
        there: moves src's arrays; the pair's own translator if None.
        back: moves dst's arrays.
    """
    there = there or translator(src, dst, bench.zero_tail)
    back = back or translator(dst, src, bench.zero_tail)
    forward, differing, exact = True, 0, True
    read: list[LayerCache | None] = []
    for layer in bench.layers:
        source, target = bench.image(src, layer), bench.image(dst, layer)
        moved = there(source, False)
        arrived = same(moved, target)
        forward &= arrived
        count, matches = _difference(src, source, back(moved, True), bench.zero_tail)
        differing += count
        exact &= matches
        if model:
            read.append(
                None if arrived and bench.stands_for_state(dst, layer) else bench.read(dst, moved)
            )
    tokens = _tokens(bench, dst, read, model) if model else None
    return RowObservation(
        forward_reproduces_target=forward,
        roundtrip_byte_identical=differing == 0,
        roundtrip_diff_is_exactly_unread_padding=exact,
        tokens_identical=tokens == model.reference if model else None,
        roundtrip_diff_positions=differing,
        decoded_tokens=tokens,
    )


def _tokens(
    bench: Bench, dst: Cache, read: list[LayerCache | None], model: Model
) -> tuple[int, ...]:
    """Decode from what was read; None stands for a layer whose bytes are those of the state."""
    if all(cache is None for cache in read):
        return model.reference
    layers = [
        cache or bench.reference_cache(dst, layer)
        for layer, cache in zip(bench.layers, read, strict=True)
    ]
    return decode(layers, model.weights_seed, model.steps)


def _difference(src: Cache, source: Arrays, returned: Arrays, zero_tail: bool) -> tuple[int, bool]:
    """Count the slots that a round trip changed, and whether they are the padding exactly.

    Where padding holds zeros on either way, none of it may change.
    """
    count, exact = 0, True
    for name, array in source.items():
        changed = array.reshape(-1) != returned[name].reshape(-1)
        found = int(np.count_nonzero(changed))
        padding = src.padding[name][: 0 if zero_tail else None]
        count += found
        exact &= found == len(padding) and bool(changed[padding].all())
    return count, exact


def gather_agrees(src: Cache, dst: Cache, seed: int, there: Translator | None = None) -> bool:
    """Move every payload by recipe and by index map and compare bitwise.

    Where a lossy record stands on one side the two hold different components; then each side's
    steps are compared with its own index map, on the way in and on the way out.
    """
    widths = [
        {part.name: part.width for _, part in side.realised.components} for side in (src, dst)
    ]
    if widths[0] != widths[1]:
        return all(
            _steps_agree(side, payload_slots(side, place, seed))
            for side in (src, dst)
            for place in range(len(PAYLOADS))
        )
    if there is None:
        moves = recipe(src.realised.layout, dst.realised.layout, src.realised.geometry)

        def there(arrays: Arrays, inverted: bool) -> Arrays:
            return finish(dst, run(moves, arrays), inverted=inverted)

    for place in range(len(PAYLOADS)):
        native = write_by_index(src, payload_slots(src, place, seed))
        moved = there(native, False)
        if not same(moved, write_by_index(dst, read_by_index(src, native))):
            return False
    return True


def _steps_agree(cache: Cache, slots: Arrays) -> bool:
    native = write_by_index(cache, slots)
    undone = {name: np.ascontiguousarray(array) for name, array in run(cache.undo, native).items()}
    return same(write_by_steps(cache, slots), native) and same(undone, slots)


def payload_slots(cache: Cache, place: int, seed: int) -> Arrays:
    """Give a payload as canonical arrays (in slots), by its place in `PAYLOADS`."""
    _, bits, contents = PAYLOADS[place]
    total = sum(part.elements * part.width for _, part in cache.realised.components)
    values = contents(total, bits, stream_seed(seed, place))
    found: Arrays = {}
    start = 0
    for _, part in cache.realised.components:
        shape = canonical_shape(part)
        count = part.elements * part.width
        found[part.name] = values[start : start + count].reshape(
            (*shape[:-1], shape[-1] * part.width)
        )
        start += count
    return found
