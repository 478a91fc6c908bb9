"""Inputs that are the same everywhere, and digests of what the kernels make of them.

Run as a program it prints, as one JSON object, the digests, what computes (`machine`), and how
controls behave in this process: products by BLAS and NumPy's own exponential.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lockstep.engine.backend import Backend
from lockstep.engine.backends import machine, open_backend
from lockstep.engine.host.exp import exp
from lockstep.engine.host.log import log
from lockstep.engine.rope_tables import rope_tables

BLOCK_SIZE = 16
BLOCKS = 96


def bits(count: int, seed: int) -> NDArray[np.uint64]:
    """Give `count` numbers of 64 bits by SplitMix64, whose steps are integer arithmetic."""
    state = np.arange(1, count + 1, dtype=np.uint64) + np.uint64(seed << 32)
    z = state * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def reals(shape: Sequence[int], seed: int, dtype: str = "float32") -> NDArray[np.floating]:
    """Give numbers from -2 to 2 in steps of 2^-22, rounded to `dtype`."""
    whole = (bits(math.prod(shape), seed) >> np.uint64(40)).astype(np.float32)
    return (whole * np.float32(2.0**-22) - np.float32(2)).reshape(shape).astype(dtype)


def permutation(count: int, seed: int) -> NDArray[np.int32]:
    return np.argsort(bits(count, seed), kind="stable").astype(np.int32)


def paged(
    backend: Backend, lengths: Sequence[int], seed: int, kv_heads: int = 2, head_dim: int = 16
) -> tuple[Any, Any, NDArray[np.int32], NDArray[np.int32]]:
    """Give caches, tables and lengths: each row is the last of its own request."""
    used = [-(-length // BLOCK_SIZE) for length in lengths]
    width = max(used, default=1)
    blocks = permutation(max(BLOCKS, sum(used)), seed)
    tables = np.zeros((len(lengths), width), dtype=np.int32)
    keys, values = (
        backend.new_cache(len(blocks), BLOCK_SIZE, kv_heads, head_dim) for _ in range(2)
    )
    start = 0
    for row, (length, count) in enumerate(zip(lengths, used, strict=True)):
        tables[row, :count] = blocks[start : start + count]
        start += count
        position = np.arange(length)
        slots = tables[row, position // BLOCK_SIZE] * BLOCK_SIZE + position % BLOCK_SIZE
        for cache, offset in ((keys, 0), (values, 1)):
            own = reals((length, kv_heads, head_dim), seed + 1000 + 2 * row + offset, backend.dtype)
            backend.write(cache, backend.array(own), slots)
    return keys, values, tables, np.array(lengths, dtype=np.int32)


def outputs(backend: Backend) -> dict[str, NDArray[Any]]:
    """Run every kernel once over inputs that cross what it cuts: chunks, folds, splits."""
    dtype = backend.dtype

    def given(shape: Sequence[int], seed: int) -> Any:
        return backend.array(reals(shape, seed, dtype))

    result: dict[str, Any] = {}
    table = given((300, 48), 1)
    result["embed"] = backend.embed(table, (bits(20, 2) % np.uint64(300)).astype(np.int64))
    for name, (rows, depth, width) in {
        "matmul": (5, 64, 96),
        "matmul_tail": (17, 77, 257),
        "matmul_deep": (3, 2100, 33),
    }.items():
        weight = backend.weight(reals((width, depth), 4, dtype))
        result[name] = backend.matmul(given((rows, depth), 3), weight)
    result["logits"] = backend.logits(given((4, 64), 5), backend.weight(reals((256, 64), 6, dtype)))
    result["rms_norm"] = backend.rms_norm(given((9, 64), 7), given((64,), 8), 1e-6)
    result["rms_norm_wide"] = backend.rms_norm(given((3, 2500), 9), given((2500,), 10), 1e-5)
    cos, sin = rope_tables(1e6, 32, np.array([0, 1, 7, 511, 512, 40959, (1 << 20) - 1]))
    result["rope_cos"], result["rope_sin"] = cos, sin
    result["rope"] = backend.rope(given((7, 4, 32), 11), backend.array(cos), backend.array(sin))
    result["swiglu"] = backend.swiglu(given((5, 257), 12), given((5, 257), 13))
    result["add"] = backend.add(given((5, 33), 14), given((5, 33), 15))
    keys, values, tables, lengths = paged(backend, [1, 15, 64, 65, 511, 512, 513, 1100], 16)
    q = given((len(lengths), 4, 16), 17)
    result["attention"] = backend.attention(q, keys, values, tables, lengths, 0.25)
    whole = np.repeat(tables[-1:], 40, axis=0)
    chunk = np.arange(490, 530, dtype=np.int32)
    q = given((40, 4, 16), 18)
    result["attention_chunk"] = backend.attention(q, keys, values, whole, chunk, 0.25)
    logits = reals((4, 1500), 19) * np.float32(8)
    result["log_softmax"] = backend.log_softmax(backend.array(logits))
    return {name: np.asarray(backend.numpy(value)) for name, value in result.items()}


def digest(values: NDArray[Any]) -> str:
    """Give the SHA-256 over type, shape and bytes."""
    head = f"{values.dtype.str}{list(values.shape)}\n".encode("ascii")
    return hashlib.sha256(head + np.ascontiguousarray(values).tobytes()).hexdigest()


def digests() -> dict[str, str]:
    """Digest every output of `host` in both compute dtypes, and the elementary functions."""
    result = {}
    for dtype in ("float32", "float16"):
        for name, values in outputs(open_backend("host", dtype)).items():
            result[f"{dtype} {name}"] = digest(values)
    line = np.linspace(-90, 90, 100_003).astype(np.float32)
    result["exp"] = digest(exp(line))
    result["log"] = digest(log(np.abs(line) * np.float32(1000) + np.float32(1)))
    return result


def rolls(backend: Backend, roll: bool) -> int:
    """Count, of 32 batches of 33 rows, those in which a row's product differs from the first.

    Args:
        backend: whose matrix product.
        roll: whether the rows are rolled by one place a batch; else they stay, and only the
            other rows change.
    """
    weight = backend.weight(reals((256, 64), 31))
    rows = reals((33, 64), 32)
    own = backend.numpy(backend.logits(backend.array(rows), weight))[:8]
    differing = 0
    for turn in range(1, 33):
        if roll:
            moved = backend.array(np.roll(rows, turn, axis=0))
            again = np.roll(backend.numpy(backend.logits(moved, weight)), -turn, axis=0)[:8]
        else:
            others = np.concatenate([rows[:8], reals((25, 64), 33 + turn)])
            again = backend.numpy(backend.logits(backend.array(others), weight))[:8]
        differing += not np.array_equal(own, again)
    return differing


def report() -> dict[str, Any]:
    """Tell what this process computes, and what computes it."""
    blas = np.matmul(reals((33, 96), 41), reals((96, 257), 42))
    line = np.linspace(-80, 5, 100_003).astype(np.float32)
    padded: Callable[[bool], int] = lambda roll: rolls(open_backend("padded_tiles"), roll)  # noqa: E731
    return {
        "digests": digests(),
        "machine": machine.describe(),
        "blas": digest(blas),
        "numpy_exp": digest(np.exp(line)),
        "padded_rolled": padded(True),
        "padded_in_place": padded(False),
        "host_rolled": rolls(open_backend("host"), True),
    }


if __name__ == "__main__":
    print(json.dumps(report()))
