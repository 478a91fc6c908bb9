"""The decode leg: a small attention model that reads its keys and values from a cache.

The model is a grouped-query attention decoder, or, on latent caches, one whose latent vectors
serve as keys and values with a rope part appended to the keys. All of its arithmetic is on
integers: cache values count in units of 2^-8, weights are small integers, and attention weights
come from a table of powers of two. Products and sums stay below 2^53, so float64 holds them
exactly and no order of summation, thread count or vector unit can change a token.

Where a cache, read element by element through its layout's index map, holds the very bytes of
the state that the reference was decoded from, the decode is the same function of the same bytes.
At large geometries a row may therefore state the reference's tokens after that comparison
([HUNT-6]); a row whose bytes differ is always decoded.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from lockstep.hunt.element_types import Bits, to_real
from lockstep.hunt.payloads import splitmix64, stream_seed

Exact = NDArray[np.float64]
"""Integers held in float64, each and each sum of them below 2^53 in magnitude."""

VOCABULARY = 64
"""Token numbers of the model; the seed document's tokens lie below this too."""
STEPS = 8
"""Tokens decoded: enough to tell caches apart, few enough for 8,192 cached ones."""
_EMBEDDING = 32
_QUERIES_PER_HEAD = 2
_LATENT_QUERIES = 4
_CACHE_UNIT = 256
_CACHE_LIMIT = 2048
_HIDDEN_LIMIT = 127
_SCORE_UNIT = 256
_FAR = 24 * _SCORE_UNIT
_EXP2 = np.floor(2.0**16 * 2.0 ** (-np.arange(_SCORE_UNIT) / _SCORE_UNIT) + 0.5)


@dataclass(frozen=True)
class LayerCache:
    """Keys (heads, tokens, key dims) and values (heads, tokens, value dims), as integers."""

    keys: Exact
    values: Exact


@dataclass(frozen=True)
class _LayerWeights:
    query: Exact
    key: Exact
    value: Exact
    output: Exact


def layer_cache(state: dict[str, Bits], dtype: str) -> LayerCache:
    """Convert the state of a layer to what the model reads.

    Args:
        state: element bits by component: K and V of shape (tokens, heads, dims), or latent and
            rope of shape (tokens, dims).
        dtype: of the elements.
    """
    if "latent" in state:
        latent = _integers(state["latent"], dtype)[None]
        rope = _integers(state["rope"], dtype)[None]
        return LayerCache(np.concatenate([latent, rope], axis=2), latent)
    keys, values = (_integers(state[name], dtype).transpose(1, 0, 2) for name in ("K", "V"))
    return LayerCache(np.ascontiguousarray(keys), np.ascontiguousarray(values))


def _integers(elements: Bits, dtype: str) -> Exact:
    """Count values in units of 2^-8; sixteen-bit ones through a table of all their values."""
    if elements.dtype == np.uint16:
        values: Exact = _integer_table(dtype)[elements]
        return values
    return _counted(elements, dtype)


@cache
def _integer_table(dtype: str) -> Exact:
    return _counted(np.arange(1 << 16, dtype=np.uint16), dtype)


def _counted(elements: Bits, dtype: str) -> Exact:
    """What is not a number, or too large, still counts as some number."""
    values = np.nan_to_num(to_real(elements, dtype), nan=0.0, posinf=8.0, neginf=-8.0)
    counted = np.rint(values.astype(np.float64) * _CACHE_UNIT)
    return np.clip(counted, -_CACHE_LIMIT, _CACHE_LIMIT)


def decode(layers: list[LayerCache], weights_seed: int, steps: int = STEPS) -> tuple[int, ...]:
    """Decode greedily from the caches of the layers and give the tokens.

    The cached positions come from `layers`; those of the decoded tokens are appended apart.
    """
    weights = [_layer_weights(held, weights_seed, number) for number, held in enumerate(layers)]
    embedding = _small_integers(stream_seed(weights_seed, 1), (VOCABULARY, _EMBEDDING), 15)
    unembedding = _small_integers(stream_seed(weights_seed, 2), (VOCABULARY, _EMBEDDING), 3)
    added: list[list[tuple[Exact, Exact]]] = [[] for _ in layers]
    token = 0
    tokens: list[int] = []
    for _ in range(steps):
        hidden = embedding[token]
        for held, own, new in zip(layers, weights, added, strict=True):
            new.append((_project(own.key, hidden), _project(own.value, hidden)))
            context = _attend(held, new, _project(own.query, hidden))
            hidden = _bounded(hidden + np.floor(_dot(own.output, context.reshape(-1)) / 64))
        token = int(np.argmax(_dot(unembedding, hidden)))
        tokens.append(token)
    return tuple(tokens)


def _attend(held: LayerCache, new: list[tuple[Exact, Exact]], queries: Exact) -> Exact:
    """Give the weighted mean of the values for each query (heads, queries, value dims)."""
    keys = np.stack([key for key, _ in new], axis=1)
    values = np.stack([value for _, value in new], axis=1)
    scores = np.concatenate(
        [queries @ held.keys.transpose(0, 2, 1), queries @ keys.transpose(0, 2, 1)], axis=2
    )
    # Brings scores of keys of any dimension to a spread of a few powers of two.
    shift = 1 << (3 + held.keys.shape[2].bit_length() // 2)
    distance = np.floor((scores.max(axis=2, keepdims=True) - scores) / shift)
    distance = np.minimum(distance, _FAR).astype(np.int64)
    weight = np.floor(_EXP2[distance % _SCORE_UNIT] / 2.0 ** (distance // _SCORE_UNIT))
    cached = held.keys.shape[1]
    total = weight[:, :, :cached] @ held.values + weight[:, :, cached:] @ values
    mean: Exact = np.floor(total / weight.sum(axis=2, keepdims=True))
    return mean


def _layer_weights(held: LayerCache, seed: int, number: int) -> _LayerWeights:
    heads, _, key_dims = held.keys.shape
    value_dims = held.values.shape[2]
    queries = _QUERIES_PER_HEAD if heads > 1 else _LATENT_QUERIES

    def draw(part: int, shape: tuple[int, ...]) -> Exact:
        return _small_integers(stream_seed(seed, 3 + number, part), shape, 3)

    return _LayerWeights(
        query=draw(0, (heads, queries, key_dims, _EMBEDDING)),
        key=draw(1, (heads, key_dims, _EMBEDDING)),
        value=draw(2, (heads, value_dims, _EMBEDDING)),
        output=draw(3, (_EMBEDDING, heads * queries * value_dims)),
    )


def _small_integers(seed: int, shape: tuple[int, ...], limit: int) -> Exact:
    draws = splitmix64(seed, 0, int(np.prod(shape))) >> np.uint64(33)
    values: Exact = (draws % np.uint64(2 * limit + 1)).astype(np.float64) - limit
    return values.reshape(shape)


def _dot(matrix: Exact, vector: Exact) -> Exact:
    product: Exact = (matrix * vector).sum(axis=-1)
    return product


def _project(weights: Exact, hidden: Exact) -> Exact:
    return _bounded(np.floor(_dot(weights, hidden) / 4))


def _bounded(values: Exact) -> Exact:
    return np.clip(values, -_HIDDEN_LIMIT, _HIDDEN_LIMIT)
