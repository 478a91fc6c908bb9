"""What a hunt cannot show, each limit executed rather than stated ([HUNT-14])."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from lockstep.hunt import small_layouts
from lockstep.hunt.checks import grade
from lockstep.hunt.native import Arrays
from lockstep.hunt.payloads import PAYLOADS
from lockstep.hunt.probe import probe
from lockstep.hunt.reference import reference_tokens
from lockstep.hunt.transfer import (
    Translator,
    gather_agrees,
    observe,
    payload_slots,
    translator,
)
from lockstep.layouts.frontier import frontier_code


def no_engine_runs_here() -> bool:
    """A layout made up on the spot is graded EXACT_BYTE: declarations are taken at their word."""
    invented = small_layouts.made_up("invented", ("D", "H", "T"), ("H", "D", "T"))
    bench = small_layouts.bench()
    src, dst = small_layouts.cache(small_layouts.TOKEN_MAJOR), small_layouts.cache(invented)
    return grade(observe(bench, src, dst, small_layouts.model(bench))) == "EXACT_BYTE"


def zeroing(moves: Translator, value: int) -> Translator:
    """Give a translator that moves like another one and zeroes every element of one value."""

    def translate(arrays: Arrays, inverted: bool) -> Arrays:
        return {
            name: np.where(array == array.dtype.type(value), array.dtype.type(0), array)
            for name, array in moves(arrays, inverted).items()
        }

    return translate


def a_data_dependent_layout_passes_the_probes() -> bool:
    """A translator that zeroes one value passes every payload that does not hold the value."""
    bench = small_layouts.bench()
    src = small_layouts.cache(small_layouts.TOKEN_MAJOR)
    dst = small_layouts.cache(small_layouts.HEAD_MAJOR)
    held = [bench.state(src, layer) for layer in bench.layers]
    held += [payload_slots(src, place, bench.payload_seed) for place in range(len(PAYLOADS))]
    seen = np.concatenate(
        [part.reshape(-1).astype(np.uint64) for one in held for part in one.values()]
    )
    value = int(np.setdiff1d(np.arange(1, 1 << 16, dtype=np.uint64), seen)[0])
    there, back = (zeroing(translator(*sides), value) for sides in ((src, dst), (dst, src)))
    row = observe(bench, src, dst, small_layouts.model(bench), there, back)
    passes = grade(row) == "EXACT_BYTE" and gather_agrees(src, dst, bench.payload_seed, there)
    full = {
        tensor.name: np.full(tensor.shape, value, dtype=np.uint16)
        for tensor in src.realised.tensors
    }
    return passes and not any(array.any() for array in there(full, False).values())


def exactness_depends_on_the_geometry() -> bool:
    """A pair that is exact at head_dim 8 does not exist at 6, which its vector does not divide."""
    src, dst = small_layouts.TOKEN_MAJOR, small_layouts.VECTORISED
    bench = small_layouts.bench()
    row = observe(
        bench, small_layouts.cache(src), small_layouts.cache(dst), small_layouts.model(bench)
    )
    narrow = replace(small_layouts.GEOMETRY, head_dim=6)
    code = frontier_code(src, dst, narrow)
    return grade(row) == "EXACT_BYTE" and code == "X4_GEOMETRY_UNREPRESENTABLE"


def token_identity_is_relative_to_a_model() -> bool:
    """Other weights give other reference tokens from the same cache."""
    bench = small_layouts.bench()
    cache = small_layouts.cache(small_layouts.TOKEN_MAJOR)
    first = reference_tokens(bench, cache, small_layouts.SEED)
    return first != reference_tokens(bench, cache, small_layouts.SEED + 1)


def byte_or_token_depends_on_the_padding_model() -> bool:
    """With a tail of zeros every EXACT_TOKEN row becomes EXACT_BYTE, layouts being the same."""
    grades = []
    for zero_tail in (False, True):
        bench = small_layouts.bench(zero_tail)
        model = small_layouts.model(bench)
        caches = [small_layouts.cache(layout) for layout in small_layouts.ALL]
        grades.append(
            [
                grade(observe(bench, src, dst, model))
                for src in caches
                for dst in caches
                if src != dst
            ]
        )
    return set(grades[0]) == {"EXACT_BYTE", "EXACT_TOKEN"} and set(grades[1]) == {"EXACT_BYTE"}


def a_lemma_cannot_tell_which_permutation_an_engine_uses() -> bool:
    """A layout changed into another permutation is as bijective as before."""
    changed = small_layouts.made_up("blocked", ("Tb", "KV", "H", "Ti", "D"), block=4)
    one = probe(small_layouts.cache(small_layouts.BLOCKED).realised)
    other = probe(small_layouts.cache(changed).realised)
    same = one.positions == other.positions and one.image_sha256 == other.image_sha256
    return one.bijective and other.bijective and not same


LIMITS: dict[str, Callable[[], bool]] = {
    limit.__name__: limit
    for limit in (
        no_engine_runs_here,
        a_data_dependent_layout_passes_the_probes,
        exactness_depends_on_the_geometry,
        token_identity_is_relative_to_a_model,
        byte_or_token_depends_on_the_padding_model,
        a_lemma_cannot_tell_which_permutation_an_engine_uses,
    )
}
"""The limits of `hunt.json#/known_limits` by name."""


def execute_limits() -> dict[str, bool]:
    """Execute every limit."""
    return {name: limit() for name, limit in LIMITS.items()}
