"""Each kernel against the same function in binary64 (the backend `float64`).

The bound of a case is on the largest absolute error, the outputs being of the order of 1 to 100;
2^-24 is half a unit of a float32 near 1, 2^-11 of a float16.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from lockstep.engine.backends import open_backend
from lockstep.engine.host.exp import exp
from lockstep.engine.host.log import log

BOUNDS = {
    # name: (bound in float32 in units of 2^-24, bound in float16 in units of 2^-11)
    "embed": (0, 0),
    "matmul": (150, 30),
    "matmul_tail": (200, 50),
    "matmul_deep": (1500, 120),
    "logits": (100, 0.1),
    "rms_norm": (10, 4),
    "rms_norm_wide": (10, 4),
    "rope_cos": (0, 0),
    "rope_sin": (0, 0),
    "rope": (4, 4),
    "swiglu": (10, 4),
    "add": (0, 4),
    "attention": (10, 4),
    "attention_chunk": (10, 4),
    "log_softmax": (60, 0.01),
}


@pytest.mark.parametrize(("dtype", "unit"), [("float32", 2.0**-24), ("float16", 2.0**-11)])
def test_kernels_mean_what_the_reference_means(
    samples: ModuleType, dtype: str, unit: float
) -> None:
    class Reference(type(open_backend("float64"))):  # type: ignore[misc]
        """Takes the inputs that the kernel gets, rounded to its dtype."""

        def __init__(self) -> None:
            super().__init__()
            self.dtype = dtype

    own = samples.outputs(open_backend("host", dtype))
    reference = samples.outputs(Reference())
    assert set(own) == set(reference) == set(BOUNDS)
    errors = {
        name: float(np.abs(own[name].astype(np.float64) - reference[name]).max()) / unit
        for name in BOUNDS
    }
    bounds = {name: pair[dtype == "float16"] for name, pair in BOUNDS.items()}
    assert {name: error for name, error in errors.items() if error > bounds[name]} == {}
    # A bound that is far from what it bounds would not notice a wrong constant.
    loose = {
        name: error
        for name, error in errors.items()
        if bounds[name] > 0 and error * 20 < bounds[name]
    }
    assert loose == {}


def test_exp_is_within_1_4_halves_of_a_unit() -> None:
    x = np.linspace(-87, 88, 1_000_003).astype(np.float32)
    true = np.exp(x.astype(np.float64))
    assert np.abs(exp(x) / true - 1).max() < 1.4 * 2.0**-24


def test_log_is_within_a_unit() -> None:
    x = np.exp(np.linspace(0, 20, 1_000_003)).astype(np.float32)
    true = np.log(x.astype(np.float64))
    unit = np.spacing(np.maximum(true, 2.0**-20).astype(np.float32))
    assert (np.abs(log(x) - true) / unit).max() < 1
