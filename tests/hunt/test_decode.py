from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from lockstep.hunt.decode import VOCABULARY, LayerCache, decode, layer_cache
from lockstep.hunt.native import Arrays
from lockstep.hunt.transfer import full_state
from lockstep.layouts.geometry import Geometry

GQA = Geometry(40, 3, 2, 8, 0, 0, "float16")
MLA = Geometry(12, 2, 3, 8, 128, 6, "bfloat16")


def layers(geometry: Geometry, latent: bool) -> list[Arrays]:
    return [full_state(geometry, latent, 4, layer) for layer in range(geometry.layers)]


def caches(states: list[Arrays], dtype: str) -> list[LayerCache]:
    return [layer_cache(state, dtype) for state in states]


def test_tokens_are_pinned() -> None:
    # Integer arithmetic: these hold on every machine and at every thread count.
    assert decode(caches(layers(GQA, False), "float16"), 4) == (17, 26, 30, 26, 30, 26, 30, 26)


@pytest.mark.parametrize(("geometry", "latent"), [(GQA, False), (MLA, True)])
def test_every_cached_position_matters(geometry: Geometry, latent: bool) -> None:
    states = layers(geometry, latent)
    reference = decode(caches(states, geometry.dtype), 4)
    assert len(set(reference)) > 1
    assert max(reference) < VOCABULARY
    large: NDArray[Any] = np.full(1, 0x4700 if geometry.dtype == "float16" else 0x40E0, np.uint16)
    for token in range(geometry.tokens):
        name = "latent" if latent else "K"
        key = states[0][name].copy()
        key[token] = large
        broken = [{**states[0], name: key}, *states[1:]]
        assert decode(caches(broken, geometry.dtype), 4) != reference


def test_order_of_summation_does_not_matter() -> None:
    states = layers(GQA, False)
    order = np.random.default_rng(0).permutation(GQA.tokens)
    shuffled = [{name: part[order] for name, part in state.items()} for state in states]
    assert decode(caches(states, "float16"), 4) == decode(caches(shuffled, "float16"), 4)


@pytest.mark.parametrize("pattern", [0x7C01, 0xFE00, 0x7C00, 0xFC00, 0x7BFF])
def test_what_is_no_number_still_decodes(pattern: int) -> None:
    states = [
        {name: np.full_like(part, pattern) for name, part in state.items()}
        for state in layers(GQA, False)
    ]
    assert len(decode(caches(states, "float16"), 4)) == 8
