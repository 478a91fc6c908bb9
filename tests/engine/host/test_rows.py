"""Row independence [KERN-2]: a row's bits depend on the row, whatever else is in the batch."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from lockstep.engine.backend import Backend
from lockstep.engine.backends import open_backend

BATCHES = (1, 2, 3, 4, 8, 16, 31, 32, 33)
WIDTHS = (255, 256, 257)
ROWS = max(BATCHES)

Array = NDArray[Any]
Kernel = Callable[[Backend, Array], Array]
"""A kernel of one batch, every other operand fixed: float32 or float16 rows to rows."""


def same(one: Array, other: Array) -> bool:
    return (
        one.shape == other.shape and one.dtype == other.dtype and one.tobytes() == other.tobytes()
    )


def kernels(samples: ModuleType, width: int) -> dict[str, Kernel]:
    """Every kernel whose rows are [M, width]."""

    def fixed(backend: Backend, shape: tuple[int, ...], seed: int) -> Array:
        return samples.reals(shape, seed, backend.dtype)

    def matmul_deep(backend: Backend, x: Array) -> Array:
        return backend.matmul(x, backend.weight(fixed(backend, (40, width), 1)))

    def matmul_wide(backend: Backend, x: Array) -> Array:
        return backend.matmul(x[:, :40], backend.weight(fixed(backend, (width, 40), 2)))

    def logits(backend: Backend, x: Array) -> Array:
        return backend.logits(x, backend.weight(fixed(backend, (3, width), 3)))

    def rms_norm(backend: Backend, x: Array) -> Array:
        return backend.rms_norm(x, fixed(backend, (width,), 4), 1e-6)

    def swiglu(backend: Backend, x: Array) -> Array:
        return backend.swiglu(x, x[:, ::-1])

    def add(backend: Backend, x: Array) -> Array:
        return backend.add(x, x[:, ::-1])

    def log_softmax(backend: Backend, x: Array) -> Array:
        return backend.log_softmax(x.astype(np.float32))

    every = (matmul_deep, matmul_wide, logits, rms_norm, swiglu, add, log_softmax)
    return {kernel.__name__: kernel for kernel in every}


NAMES = (
    "matmul_deep",
    "matmul_wide",
    "logits",
    "rms_norm",
    "swiglu",
    "add",
    "log_softmax",
)


def differences(backend: Backend, kernel: Kernel, x: Array) -> list[str]:
    """Name the batches in which some row's bits are not those that it has among all of `x`."""
    whole = kernel(backend, x)
    found = [f"{m} rows" for m in BATCHES if not same(kernel(backend, x[:m]), whole[:m])]
    alone = [m for m in range(len(x)) if not same(kernel(backend, x[m : m + 1]), whole[m : m + 1])]
    found += [f"row {m} alone" for m in alone]
    for m in BATCHES:
        for turn in {1, m // 2, m - 1} - {0}:
            rolled = kernel(backend, np.roll(x[:m], turn, axis=0))
            if not same(np.roll(rolled, -turn, axis=0), whole[:m]):
                found.append(f"{m} rows rolled by {turn}")
    return found


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", NAMES)
def test_rows_are_independent(samples: ModuleType, name: str, width: int, dtype: str) -> None:
    kernel = kernels(samples, width)[name]
    x = samples.reals((ROWS, width), 5, dtype)
    assert differences(open_backend("host", dtype), kernel, x) == []


def test_every_kernel_is_in_the_list(samples: ModuleType) -> None:
    assert set(kernels(samples, 8)) == set(NAMES)


@pytest.mark.parametrize("name", ["matmul_deep", "rms_norm", "swiglu", "log_softmax"])
def test_a_wild_neighbour_changes_nothing(samples: ModuleType, name: str) -> None:
    kernel, backend = kernels(samples, 257)[name], open_backend("host")
    x = samples.reals((9, 257), 6)
    wild = x.copy()
    wild[1::2] = np.array([np.nan, np.inf, -np.inf, 3e38], dtype=np.float32)[:, None]
    assert same(kernel(backend, wild)[::2], kernel(backend, x)[::2])
    assert not same(kernel(backend, wild), kernel(backend, x))


def test_the_comparison_can_fail(samples: ModuleType) -> None:
    """A product that is scaled by its batch is caught by each of the three ways to look."""

    def scaled(backend: Backend, x: Array) -> Array:
        return x * np.float32(1 + len(x) * 2.0**-20)

    def placed(backend: Backend, x: Array) -> Array:
        return x + np.arange(len(x), dtype=np.float32)[:, None]

    x, backend = samples.reals((ROWS, 64), 7), open_backend("host")
    assert "1 rows" in differences(backend, scaled, x)
    assert "row 5 alone" in differences(backend, placed, x)
    assert "8 rows rolled by 4" in differences(backend, placed, x)


@pytest.mark.parametrize("head_dim", [16, 254, 256, 258])
def test_rope_rows_are_independent(samples: ModuleType, head_dim: int) -> None:
    """Heads have an even width."""
    half = head_dim // 2
    packed = samples.reals((ROWS, 2 * head_dim + 2 * half), 8)

    def kernel(backend: Backend, x: Array) -> Array:
        heads = x[:, : 2 * head_dim].reshape(len(x), 2, head_dim)
        return backend.rope(heads, x[:, -2 * half : -half], x[:, -half:])

    assert differences(open_backend("host"), kernel, packed) == []


def attend(
    samples: ModuleType, backend: Backend, lengths: list[int], seed: int
) -> Callable[[Backend, Array], Array]:
    """A kernel whose rows are queries [4 * 16] with the row's number before them."""
    keys, values, tables, counts = samples.paged(backend, lengths, seed)

    def kernel(backend: Backend, x: Array) -> Array:
        row = x[:, 0].astype(int)
        q = x[:, 1:].reshape(len(x), 4, 16)
        return backend.attention(q, keys, values, tables[row], counts[row], 0.25)

    return kernel


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_attention_rows_are_independent(samples: ModuleType, dtype: str) -> None:
    edges = [1, 2, 63, 64, 65, 128, 255, 256, 257, 511, 512, 513, 640, 1023, 1024, 1025, 1100]
    lengths = (edges * 2)[:ROWS]
    backend = open_backend("host", dtype)
    numbers = np.arange(ROWS, dtype=dtype)[:, None]
    x = np.concatenate([numbers, samples.reals((ROWS, 64), 9, dtype)], axis=1)
    assert differences(backend, attend(samples, backend, lengths, 10), x) == []


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("last", [40, 255, 256, 257, 600, 1040])
def test_a_chunk_is_its_rows_one_by_one(samples: ModuleType, dtype: str, last: int) -> None:
    """Rows of one request share keys and are computed in another layout: the bits are the same."""
    backend = open_backend("host", dtype)
    keys, values, tables, _ = samples.paged(backend, [70, last], 11)
    lengths = np.arange(last - 32, last + 1, dtype=np.int32)
    table = np.repeat(tables[1:], len(lengths), axis=0)
    q = samples.reals((len(lengths), 4, 16), 12, dtype)
    whole = backend.attention(q, keys, values, table, lengths, 0.25)
    for chunk in (1, 7, 8, 16, 31):
        parts = [
            backend.attention(
                q[i : i + chunk],
                keys,
                values,
                table[i : i + chunk],
                lengths[i : i + chunk],
                0.25,
            )
            for i in range(0, len(q), chunk)
        ]
        assert same(np.concatenate(parts), whole)
    neighbour = np.insert(table, 5, tables[0], axis=0)
    among = backend.attention(
        np.insert(q, 5, q[0], axis=0), keys, values, neighbour, np.insert(lengths, 5, 70), 0.25
    )
    assert same(np.delete(among, 5, axis=0), whole)


@pytest.mark.parametrize("block_size", [8, 16, 32, 64, 128])
def test_attention_does_not_see_where_blocks_lie(samples: ModuleType, block_size: int) -> None:
    backend, length = open_backend("host"), 600
    k, v = samples.reals((length, 2, 16), 13), samples.reals((length, 2, 16), 14)
    q = samples.reals((1, 4, 16), 15)
    results = []
    for size, seed in ((16, 1), (block_size, 2), (block_size, 3)):
        needed = -(-length // size)
        blocks = samples.permutation(2 * needed, seed)[:needed]
        keys, values = (backend.new_cache(2 * needed, size, 2, 16) for _ in range(2))
        position = np.arange(length)
        slots = blocks[position // size] * size + position % size
        backend.write(keys, k, slots)
        backend.write(values, v, slots)
        lengths = np.array([length], dtype=np.int32)
        results.append(backend.attention(q, keys, values, blocks[None], lengths, 0.25))
    assert same(results[0], results[1]) and same(results[1], results[2])


@pytest.mark.parametrize("poison", [np.nan, np.inf, 3e38])
def test_attention_does_not_see_what_a_row_may_not_read(samples: ModuleType, poison: float) -> None:
    """Later positions of the same request, the block's rest, and blocks of others [KERN-16]."""
    backend = open_backend("host")
    keys, values, tables, _ = samples.paged(backend, [600, 50], 16)
    lengths = np.arange(500, 520, dtype=np.int32)
    table = np.repeat(tables[:1], len(lengths), axis=0)
    q = samples.reals((len(lengths), 4, 16), 17)
    clean = backend.attention(q, keys, values, table, lengths, 0.25)
    for cache in (keys, values):
        flat = cache.reshape(-1, 2, 16)
        position = np.arange(510, 600)
        flat[tables[0, position // 16] * 16 + position % 16] = poison
        flat[tables[1, 0] * 16 : tables[1, 0] * 16 + 16] = poison
    poisoned = backend.attention(q, keys, values, table, lengths, 0.25)
    assert same(poisoned[lengths <= 510], clean[lengths <= 510])
    assert not same(poisoned, clean)


def test_an_empty_batch_gives_empty_rows(samples: ModuleType) -> None:
    backend = open_backend("host")
    keys, values, tables, lengths = samples.paged(backend, [5], 18)
    none = np.zeros((0, 4, 16), dtype=np.float32)
    result = backend.attention(none, keys, values, tables[:0], lengths[:0], 0.25)
    assert result.shape == (0, 4, 16)
    assert backend.matmul(none[:, 0], backend.weight(np.ones((3, 16)))).shape == (0, 3)
    assert backend.rms_norm(none, np.ones(16), 1e-6).shape == (0, 4, 16)
