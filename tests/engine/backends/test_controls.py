"""The controls: `fast` must show what `host` does not, or say that it cannot here."""

from __future__ import annotations

import numpy as np
import pytest

from lockstep.engine.backend import Backend
from lockstep.engine.backends import open_backend


def opened(name: str, dtype: str | None = None) -> Backend:
    if name == "fast_torch":
        pytest.importorskip("torch", reason="not run: torch is not installed")
    return open_backend(name, dtype)


def unlike_alone(backend: Backend) -> dict[str, int]:
    """Count the rows whose bits differ between a batch of 33 and the row alone, by kernel."""
    generator = np.random.Generator(np.random.PCG64(7))

    def reals(*shape: int) -> np.ndarray:
        return generator.uniform(-1, 1, shape).astype(backend.dtype)

    weight = backend.weight(reals(256, 1024))
    x, q = backend.array(reals(33, 1024)), backend.array(reals(33, 4, 16))
    keys, values = (backend.array(reals(200, 16, 2, 16)) for _ in range(2))
    tables = generator.integers(0, 200, (33, 50)).astype(np.int32)
    lengths = generator.integers(300, 800, 33).astype(np.int32)
    product = backend.numpy(backend.logits(x, weight))
    attended = backend.numpy(backend.attention(q, keys, values, tables, lengths, 0.25))
    counts = {"matmul": 0, "attention": 0}
    for row in range(33):
        one = slice(row, row + 1)
        alone = backend.numpy(backend.logits(x[one], weight))
        counts["matmul"] += alone.tobytes() != product[one].tobytes()
        alone = backend.numpy(
            backend.attention(q[one], keys, values, tables[one], lengths[one], 0.25)
        )
        counts["attention"] += alone.tobytes() != attended[one].tobytes()
    return counts


@pytest.mark.parametrize("name", ["fast", "fast_torch"])
def test_fast_differs_somewhere(name: str) -> None:
    """Cutting by the batch shows on every CPU; torch's choice of a kernel may not."""
    counts = unlike_alone(opened(name))
    assert counts["attention"] > 0
    if name == "fast_torch" and not counts["matmul"]:
        pytest.skip("NOT_COMPARABLE: torch gives a row the same bits in every batch here")
    assert counts["matmul"] == 33


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_host_differs_nowhere(dtype: str) -> None:
    assert unlike_alone(open_backend("host", dtype)) == {"matmul": 0, "attention": 0}


@pytest.mark.parametrize("name", ["fast", "fast_torch", "padded_tiles"])
@pytest.mark.parametrize(("dtype", "bound"), [("float32", 2e-5), ("float16", 0.02)])
def test_controls_compute_the_same_functions(name: str, dtype: str, bound: float) -> None:
    """A control is not invariant, and otherwise right: within rounding of `host`."""
    generator = np.random.Generator(np.random.PCG64(8))

    def reals(*shape: int) -> np.ndarray:
        return generator.uniform(-1, 1, shape).astype(dtype)

    x, w, up = reals(5, 96), reals(70, 96), reals(5, 96)
    q, cache = reals(5, 4, 16), reals(60, 16, 2, 16)
    tables = generator.integers(0, 60, (5, 40)).astype(np.int32)
    lengths = np.array([1, 17, 300, 512, 640])
    results = []
    for backend in (opened(name, dtype), open_backend("host", dtype)):
        given, caches = backend.array(x), backend.array(cache)
        outputs = [
            backend.matmul(given, backend.weight(w)),
            backend.rms_norm(given, backend.array(up[0]), 1e-6),
            backend.swiglu(given, backend.array(up)),
            backend.attention(backend.array(q), caches, caches, tables, lengths, 0.25),
            backend.log_softmax(backend.logits(given, backend.weight(w))),
        ]
        results.append([np.asarray(backend.numpy(value), dtype=np.float64) for value in outputs])
    for one, other in zip(*results, strict=True):
        assert np.abs(one - other).max() < bound


def test_fast_torch_tells_what_torch_is() -> None:
    environment = opened("fast_torch").environment()
    assert environment["torch"] and environment["torch_threads"] and environment["torch_cpu"]
