"""Row independence [KERN-2]: a row's bits are its own, in every batch and at every place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from lockstep.engine.backend import Backend

pytestmark = pytest.mark.xdist_group("triton")

Values = NDArray[Any]
Kernel = Callable[[Backend, slice], Any]

ALL = (1, 2, 3, 4, 8, 16, 31, 32, 33)
SOME = (1, 3, 16)
"""The full range of sizes and widths is run by the slow tests."""

MOST = 33


def of_width(kernel: str, width: int, dtype: str) -> Kernel:
    """Give a kernel over 33 rows, as a function of which of them are in the batch."""
    random = np.random.Generator(np.random.PCG64(width))

    def reals(*shape: int) -> Values:
        return random.uniform(-2, 2, shape).astype(dtype)

    x, y, w, by = reals(MOST, width), reals(MOST, width), reals(48, width), reals(width)
    q, cos, sin = reals(MOST, 3, 2 * width), reals(MOST, width), reals(MOST, width)
    cos, sin = cos.astype(np.float32), sin.astype(np.float32)
    logits = x.astype(np.float32) * np.float32(8)
    size, kv_heads, head_dim = 16, 1, 16
    used = -(-width // size)
    keys, values = reals(40, size, kv_heads, head_dim), reals(40, size, kv_heads, head_dim)
    tables = random.integers(0, 40, (MOST, used)).astype(np.int32)
    lengths = random.integers(max(1, width - 20), width + 1, MOST).astype(np.int32)
    heads = reals(MOST, 2, head_dim)
    kernels: dict[str, Kernel] = {
        "matmul": lambda b, rows: b.logits(b.array(x[rows]), b.weight(w)),
        "rms_norm": lambda b, rows: b.rms_norm(b.array(x[rows]), b.array(by), 1e-6),
        "rope": lambda b, rows: b.rope(b.array(q[rows]), b.array(cos[rows]), b.array(sin[rows])),
        "swiglu": lambda b, rows: b.swiglu(b.array(x[rows]), b.array(y[rows])),
        "add": lambda b, rows: b.add(b.array(x[rows]), b.array(y[rows])),
        "log_softmax": lambda b, rows: b.log_softmax(b.array(logits[rows])),
        "attention": lambda b, rows: b.attention(
            b.array(heads[rows]), b.array(keys), b.array(values), tables[rows], lengths[rows], 0.25
        ),
    }
    return kernels[kernel]


def dependent(backend: Backend, kernel: Kernel, sizes: tuple[int, ...]) -> list[int]:
    """Give the sizes of batches in which a row's bits are not those it has among all 33.

    A batch of n is the last n rows, so that its rows lie at other places than among all.
    """
    whole = backend.numpy(kernel(backend, slice(0, MOST)))
    return [
        size
        for size in sizes
        if backend.numpy(kernel(backend, slice(MOST - size, MOST))).tobytes()
        != whole[MOST - size :].tobytes()
    ]


KERNELS = (
    *("matmul", "rms_norm", "rope", "swiglu", "add", "log_softmax"),
    "attention",
)


@pytest.mark.parametrize("kernel", KERNELS)
def test_rows_are_independent(interpreted: Callable[[str], Backend], kernel: str) -> None:
    width = 33 if kernel == "attention" else 257
    assert dependent(interpreted("float32"), of_width(kernel, width, "float32"), SOME) == []


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("width", [255, 256, 257, 520])
@pytest.mark.parametrize("kernel", KERNELS)
def test_rows_are_independent_at_all_sizes(
    interpreted: Callable[[str], Backend], kernel: str, width: int, dtype: str
) -> None:
    assert dependent(interpreted(dtype), of_width(kernel, width, dtype), ALL) == []


def test_a_tile_that_follows_the_batch_is_seen(
    interpreted: Callable[[str], Backend], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chunk of K that follows M: the gate would not let it pass, and its bits do not either."""
    from lockstep.engine.kernels import matmul

    class Adapting:
        def __getitem__(self, grid: tuple[int, ...]) -> Any:
            def run(*arguments: Any, CHUNK: int, **others: Any) -> None:
                original[grid](*arguments, CHUNK=CHUNK if arguments[3] > 8 else 16, **others)

            return run

    original = matmul.matmul_kernel
    monkeypatch.setattr(matmul, "matmul_kernel", Adapting())
    kernel = of_width("matmul", 257, "float32")
    assert dependent(interpreted("float32"), kernel, SOME) == [1, 3]
