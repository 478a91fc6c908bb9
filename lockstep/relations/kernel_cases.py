"""What KERNEL-EQ compares: each kernel of `host` with the Triton one, over shapes [REL-25].

Results are compared as the kernels leave them, in binary32 and before any rounding. Rows are
rolled, and positions lie in other blocks, on one of the two sides: so equal bits also say that
neither side looks at where a row or a block lies.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
import triton.language as tl
from numpy.typing import NDArray

from lockstep.engine.backend import Backend
from lockstep.engine.backends.host import HostBackend
from lockstep.engine.backends.triton import TritonBackend
from lockstep.engine.host import attention as host_attention
from lockstep.engine.host import exp as host_exp
from lockstep.engine.host import log as host_log
from lockstep.engine.host import log_softmax as host_log_softmax
from lockstep.engine.host import matmul as host_matmul
from lockstep.engine.host import rms_norm as host_rms_norm
from lockstep.engine.host import rope as host_rope
from lockstep.engine.host import swiglu as host_swiglu
from lockstep.engine.kernels import attention, log_softmax, matmul, rms_norm, rope, swiglu
from lockstep.engine.kernels import combine as combining
from lockstep.engine.kernels.exp import exp
from lockstep.engine.kernels.launch import kernel, launch
from lockstep.engine.kernels.log import log

Values = NDArray[Any]
RAW = torch.float32
SIZES = (1, 2, 3, 4, 8, 16, 31, 32, 33)
"""Rows of a batch in the full sweep."""

MANY = 16
"""Rows from which on all are not-a-numbers, where sums are compared; their neighbours are not."""

ROLL = 5
"""Places that rows are rolled by."""


ELEMENTS = 1 << 15
"""Arguments that exp and log are compared at."""


@kernel()
def elementary_kernel(
    x: tl.tensor, y: tl.tensor, LOGARITHM: tl.constexpr, ELEMENTS: tl.constexpr
) -> None:
    """Apply exp or log, which kernels call and which are no kernels by themselves."""
    i = tl.arange(0, ELEMENTS)
    value = tl.load(x + i)
    tl.store(y + i, log(value) if LOGARITHM else exp(value))


class Case(NamedTuple):
    """One comparison: a kernel at a shape."""

    kernel: str
    shape: str
    host: Values
    triton: Values


class Sweep:
    """The cases of one block size.

    Args:
        block_size: of the caches.
        seed: of all values.
        full: whether all shapes are swept; else some, which takes seconds.
    """

    def __init__(self, block_size: int, seed: int, full: bool) -> None:
        self.block_size = block_size
        self.full = full
        self._random = np.random.Generator(np.random.PCG64([seed, block_size]))

    def cases(self) -> Iterator[Case]:
        """Give all cases, kernel after kernel, in both compute dtypes."""
        for dtype in ("float32", "float16"):
            for family in (self._matmul, self._rms_norm, self._rope, self._swiglu):
                yield from family(dtype)
            yield from self._attention(dtype)
            yield from self._backend(dtype)
        yield from self._log_softmax()
        yield from self._elementary()

    def _reals(self, shape: tuple[int, ...], dtype: str = "float32") -> Values:
        """Give values from -2 to 2."""
        return self._random.uniform(-2, 2, shape).astype(dtype)

    def _shapes(self, few: list[tuple[int, int]], widths: tuple[int, ...]) -> list[tuple[int, int]]:
        """Give rows and widths."""
        return [(rows, width) for rows in SIZES for width in widths] if self.full else few

    def _matmul(self, dtype: str) -> Iterator[Case]:
        shapes = self._shapes([(1, 64), (17, 77), (33, 256)], (255, 256, 257))
        for rows, depth in shapes:
            x, w = self._reals((rows, depth), dtype), self._reals((96, depth), dtype)
            x[MANY:] = np.nan
            expected = host_matmul.matmul(_wide(x), host_matmul.pack(w))
            got = matmul.matmul(_rolled(x), torch.from_numpy(w), RAW)
            yield Case("matmul", f"{dtype} [{rows}, {depth}] [96, {depth}]", expected, _back(got))

    def _rms_norm(self, dtype: str) -> Iterator[Case]:
        for rows, width in self._shapes([(1, 16), (33, 255), (3, 1100)], (16, 255, 256, 257)):
            x, w = self._reals((rows, width), dtype), self._reals((width,), dtype)
            x[MANY:] = np.nan
            expected = host_rms_norm.rms_norm(_wide(x), _wide(w), 1e-6)
            got = rms_norm.rms_norm(_rolled(x), torch.from_numpy(w), 1e-6, RAW)
            yield Case("rms_norm", f"{dtype} [{rows}, {width}]", expected, _back(got))

    def _rope(self, dtype: str) -> Iterator[Case]:
        for rows, width in self._shapes([(1, 16), (5, 64), (33, 16)], (16, 64, 128)):
            x = self._reals((rows, 4, width), dtype)
            cos, sin = self._reals((rows, width // 2)), self._reals((rows, width // 2))
            expected = host_rope.rope(_wide(x), cos, sin)
            got = rope.rope(_rolled(x), _rolled(cos), _rolled(sin), RAW)
            yield Case("rope", f"{dtype} [{rows}, 4, {width}]", expected, _back(got))

    def _swiglu(self, dtype: str) -> Iterator[Case]:
        for rows, width in self._shapes([(1, 257), (33, 128)], (255, 256, 257)):
            gate, up = self._reals((rows, width), dtype) * 8, self._reals((rows, width), dtype)
            expected = host_swiglu.swiglu(_wide(gate), _wide(up))
            got = swiglu.swiglu(_rolled(gate), _rolled(up), RAW)
            yield Case("swiglu", f"{dtype} [{rows}, {width}]", expected, _back(got))

    def _attention(self, dtype: str) -> Iterator[Case]:
        """Compare splits, and by themselves their combinations."""
        size = self.block_size
        batches = [((1, 15, size, size + 1, 65), 4, 2, 16), ((511, 513, 1030), 2, 1, 40)]
        if self.full:
            batches += [((size,) * rows, 2, 1, 16) for rows in SIZES]
            batches += [((255, 256, 257), 4, 2, 64), ((1, 512, 1024, 1025, 1100), 8, 2, 128)]
        for lengths, heads, kv_heads, head_dim in batches:
            count = np.array(lengths, dtype=np.int32)
            q = self._reals((len(lengths), heads, head_dim), dtype)
            scale = float(np.float32(1.0 / math.sqrt(head_dim)))
            keys, values, tables = self._paged(lengths, kv_heads, head_dim, dtype)
            expected = host_attention.split_partials(
                _wide(q), keys, values, tables, count, np.float32(scale)
            )
            moved, tables = _shifted((keys, values), tables)
            got = attention.split_partials(
                _rolled(q),
                torch.from_numpy(moved[0]),
                torch.from_numpy(moved[1]),
                _rolled(tables),
                _rolled(count),
                max(lengths),
                scale,
            )
            name = f"{dtype} [{len(lengths)}, {heads}, {head_dim}] over {lengths}"
            for member in ("largest", "total", "output"):
                unrolled = _back(getattr(got, member))[expected.row, expected.split]
                yield Case("attention", f"{name}: {member}", getattr(expected, member), unrolled)
            combined = combining.combine(got, _rolled(count), RAW)
            whole = host_attention.combine(expected, len(lengths))
            yield Case("combine", name, whole, _back(combined))

    def _paged(
        self, lengths: tuple[int, ...], kv_heads: int, head_dim: int, dtype: str
    ) -> tuple[Values, Values, Values]:
        """Give caches, not-a-numbers where nothing was written, and tables."""
        used = [-(-length // self.block_size) for length in lengths]
        # One block more than is ever used: shifted, it is block 0, which masked places point at.
        blocks = self._random.permutation(sum(used) + 2)
        tables = np.full((len(lengths), max(used)), -1, dtype=np.int32)
        backend = HostBackend(dtype)
        keys, values = (
            backend.new_cache(sum(used) + 3, self.block_size, kv_heads, head_dim) for _ in range(2)
        )
        for row, length in enumerate(lengths):
            tables[row, : used[row]], blocks = blocks[: used[row]], blocks[used[row] :]
            place = np.arange(length)
            slots = tables[row, place // self.block_size] * self.block_size
            # Scores grow, so that later splits hold larger ones than earlier splits.
            growing = (1 + place / 512)[:, None, None].astype(dtype)
            for cache, factor in ((keys, growing), (values, np.ones_like(growing))):
                own = self._reals((length, kv_heads, head_dim), dtype) * factor
                backend.write(cache, own, slots + place % self.block_size)
        return keys, values, tables

    def _log_softmax(self) -> Iterator[Case]:
        shapes = self._shapes([(1, 256), (5, 257), (2, 1500)], (255, 256, 257, 1500))
        for rows, width in shapes:
            logits, name = self._reals((rows, width)) * np.float32(8), f"[{rows}, {width}]"
            expected = host_log_softmax.log_softmax(logits)
            got = log_softmax.log_softmax(_rolled(logits))
            yield Case("log_softmax", name, expected, _back(got))

    def _elementary(self) -> Iterator[Case]:
        """Compare exp and log along lines, in steps that differ by more than a multiple."""
        line = np.linspace(-95, 95, ELEMENTS - 8).astype(np.float32)
        edges = [0.0, -0.0, -87.0, 88.0, np.inf, -np.inf, np.nan, np.nextafter(88, 89)]
        line = np.concatenate([line, np.array(edges, dtype=np.float32)])
        above = np.exp(np.linspace(0, 80, ELEMENTS)).astype(np.float32)
        for name, values, function in (("exp", line, host_exp.exp), ("log", above, host_log.log)):
            y = torch.empty(ELEMENTS, dtype=RAW)
            chosen = {"LOGARITHM": name == "log", "ELEMENTS": ELEMENTS}
            launch(elementary_kernel, (1,), torch.from_numpy(values), y, **chosen)
            yield Case(name, f"[{ELEMENTS}]", function(values), y.numpy())

    def _backend(self, dtype: str) -> Iterator[Case]:
        """Compare what a backend does without a kernel, and its last rounding."""
        results: list[dict[str, Values]] = []
        table, x, y = (self._reals(shape, dtype) * 300 for shape in ((50, 24), (7, 24), (7, 24)))
        up, rows = self._reals((24,), dtype), self._reals((3, 2, 8), dtype)
        backends: tuple[Backend, ...] = (HostBackend(dtype), TritonBackend(dtype))
        for backend in backends:
            cache = backend.new_cache(3, self.block_size, 2, 8)
            backend.write(cache, backend.array(rows), np.array([1, 2 * self.block_size, 5]))
            one, other = backend.array(x), backend.array(y)
            made = {
                "embed": backend.embed(backend.array(table), np.array([0, 49, 7, 7])),
                "add": backend.add(one, other),
                "write": cache,
                "rounding": backend.rms_norm(one, backend.array(up), 1e-6),
            }
            results.append({name: backend.numpy(values) for name, values in made.items()})
        for name, expected in results[0].items():
            yield Case(name, f"{dtype} {list(expected.shape)}", expected, results[1][name])


def _wide(values: Values) -> NDArray[np.float32]:
    wide: NDArray[np.float32] = values.astype(np.float32)
    return wide


def _rolled(values: Values) -> torch.Tensor:
    """Give the rows for the Triton side, rolled."""
    return torch.from_numpy(np.roll(values, ROLL, axis=0))


def _back(values: torch.Tensor) -> Values:
    """Give rows of the Triton side, rolled back."""
    rolled: Values = values.numpy()
    return np.roll(rolled, -ROLL, axis=0)


def _shifted(caches: tuple[Values, Values], tables: Values) -> tuple[list[Values], Values]:
    """Give the caches with every block one place further, and tables that say so."""
    blocks = len(caches[0])
    moved = [np.roll(cache, 1, axis=0) for cache in caches]
    return moved, np.where(tables < 0, tables, (tables + 1) % blocks).astype(np.int32)
