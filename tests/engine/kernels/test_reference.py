"""Each kernel against the same function in binary64 (the backend `float64`).

Bounds are on the largest absolute error, in units of 2^-24, outputs being of the order of 1 to
100; what a compute dtype of binary16 loses at the end is a unit of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lockstep.engine.backend import Backend
from lockstep.engine.backends import open_backend

pytestmark = pytest.mark.xdist_group("triton")

BOUNDS = {
    # name: (in float32 in units of 2^-24, in float16 in units of 2^-11)
    "logits": (150, 0.1),
    "matmul": (150, 30),
    "rms_norm": (10, 4),
    "rope": (8, 4),
    "swiglu": (20, 8),
    "attention": (10, 4),
    "log_softmax": (60, 0.01),
}


def outputs(backend: Backend, dtype: str) -> dict[str, Any]:
    random = np.random.Generator(np.random.PCG64(5))

    def reals(*shape: int) -> Any:
        return random.uniform(-2, 2, shape).astype(dtype)

    x, w, by, up = reals(5, 77), reals(70, 77), reals(77), reals(5, 77)
    q, cache, other = reals(3, 4, 16), reals(40, 16, 2, 16), reals(40, 16, 2, 16)
    angles = random.uniform(0, 7, (3, 8)).astype(np.float32)
    logits = (random.uniform(-2, 2, (2, 300)) * 8).astype(np.float32)
    tables = random.permutation(40)[:36].reshape(1, 36).repeat(3, axis=0).astype(np.int32)
    lengths = np.array([1, 65, 530], dtype=np.int32)
    rows = backend.array(x)
    made = {
        "logits": backend.logits(rows, backend.weight(w)),
        "matmul": backend.matmul(rows, backend.weight(w)),
        "rms_norm": backend.rms_norm(rows, backend.array(by), 1e-6),
        "rope": backend.rope(
            backend.array(q), backend.array(np.cos(angles)), backend.array(np.sin(angles))
        ),
        "swiglu": backend.swiglu(rows, backend.array(up)),
        "attention": backend.attention(
            backend.array(q), backend.array(cache), backend.array(other), tables, lengths, 0.25
        ),
        "log_softmax": backend.log_softmax(backend.array(logits)),
    }
    return {
        name: np.asarray(backend.numpy(value), dtype=np.float64) for name, value in made.items()
    }


@pytest.mark.parametrize(("dtype", "unit"), [("float32", 2.0**-24), ("float16", 2.0**-11)])
def test_kernels_mean_what_the_reference_means(
    interpreted: Callable[[str], Backend], dtype: str, unit: float
) -> None:
    own, true = outputs(interpreted(dtype), dtype), outputs(open_backend("float64"), dtype)
    errors = {name: float(np.abs(own[name] - true[name]).max()) / unit for name in BOUNDS}
    bounds = {name: pair[dtype == "float16"] for name, pair in BOUNDS.items()}
    assert {name: error for name, error in errors.items() if error > bounds[name]} == {}
    # A bound that is far from what it bounds would not notice a wrong constant.
    assert {name: error for name, error in errors.items() if error * 40 < bounds[name]} == {}


def test_constants_are_those_of_the_host(interpreted: Callable[[str], Backend]) -> None:
    """A last bit of a leading coefficient changes no result among tens of thousands."""
    from lockstep.engine.host import exp as host_exp
    from lockstep.engine.host import log as host_log
    from lockstep.engine.kernels import exp, log

    assert [getattr(exp, f"P{n}").value for n in range(6)] == list(host_exp.COEFFICIENTS)
    assert [getattr(log, f"L{n}").value for n in range(9)] == list(host_log.COEFFICIENTS)
    for name in ("LOWEST", "HIGHEST", "LOG2_E", "LN2_HIGH", "LN2_LOW"):
        assert getattr(exp, name).value == getattr(host_exp, name)
    assert log.ROOT_HALF.value == host_log.ROOT_HALF
