"""The model of a hunt: weights under which the decode says something about the cache."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lockstep import limits
from lockstep.hunt.decode import STEPS, decode
from lockstep.hunt.element_types import from_real
from lockstep.hunt.native import Arrays, Cache
from lockstep.hunt.transfer import Bench

Tokens = tuple[int, ...]


def choose_models(
    bench: Bench, anchors: Mapping[str, Cache], first_seed: int
) -> tuple[int, dict[str, Tokens], bool]:
    """Give a weights seed, the reference tokens by anchor, and whether both guards hold.

    Seeds are tried in turn until each reference has two or more distinct tokens and one
    corrupted cache position changes it. References come from the untranslated state.
    """
    seed, references, holds = first_seed, dict[str, Tokens](), False
    for seed in range(first_seed, first_seed + limits.MODEL_SEEDS):
        by_kind: dict[bool, tuple[Tokens, bool]] = {}
        for cache in anchors.values():
            kind = cache.realised.layout.holds_latent
            if kind not in by_kind:
                tokens = reference_tokens(bench, cache, seed)
                heeded = corrupted_tokens(bench, cache, seed) != tokens
                by_kind[kind] = (tokens, heeded and len(set(tokens)) > 1)
        references = {
            name: by_kind[cache.realised.layout.holds_latent][0] for name, cache in anchors.items()
        }
        holds = all(good for _, good in by_kind.values())
        if holds:
            break
    return seed, references, holds


def reference_tokens(bench: Bench, cache: Cache, seed: int, steps: int = STEPS) -> Tokens:
    """Decode from the untranslated state."""
    return decode([bench.reference_cache(cache, layer) for layer in bench.layers], seed, steps)


def corrupted_tokens(bench: Bench, cache: Cache, seed: int, steps: int = STEPS) -> Tokens:
    """Decode from the layout's own image after one token's cached key in layer 0 is overwritten.

    The native slots are overwritten, through the index map, so that reading goes the same way
    as in any row.
    """
    image = bench.image(cache, bench.layers[0])
    broken = bench.read(cache, corrupt(bench, cache, image))
    rest = [bench.reference_cache(cache, layer) for layer in bench.layers[1:]]
    return decode([broken, *rest], seed, steps)


def corrupt(bench: Bench, cache: Cache, image: Arrays) -> Arrays:
    """Overwrite the key (or latent) of the cached token 0 with a large value in every dimension."""
    tensor, part = cache.realised.components[0]
    row = part.heads * part.head_dim
    first = cache.index()[part.canonical_base : part.canonical_base + row] - tensor.base
    broken = {name: array.copy() for name, array in image.items()}
    value = from_real(np.full(1, 7.0, dtype=np.float32), bench.geometry.dtype)
    broken[tensor.name].reshape(-1)[first] = value
    return broken
