"""The launch on a GPU, as far as it goes without one: arguments are bound and code is compiled.

A stand-in for the driver says that there is an H100; what would be launched is compiled and not
run. What the code computes there is not run here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.xdist_group("triton"), pytest.mark.slow]

PROGRAM = """
import json, sys
import numpy as np, torch, triton
from triton.backends.compiler import GPUTarget
from triton.runtime import driver

class Standing:
    def get_current_target(self): return GPUTarget("cuda", 90, 32)
    def get_current_device(self): return 0
    def get_current_stream(self, device): return 0

if sys.argv[1:] == ["specialised"]:
    jit = triton.jit
    triton.jit = lambda *functions, **options: jit(*functions)
driver.set_active(Standing())
torch.cuda.is_available = lambda: True
compiled = {}

def prepared(kernel, grid):
    def run(*arguments, **constants):
        kernel.run(*arguments, grid=grid, warmup=True, **constants)
        compiled[kernel.__name__] = len(kernel.device_caches[0][0])
    return run

triton.JITFunction.__getitem__ = prepared
from lockstep.engine.backends.triton import TritonBackend

def compute(backend, rows):
    def ones(*shape): return backend.array(np.ones((rows + 1, *shape), dtype=backend.dtype))[1:]
    weight = backend.weight(np.ones((48, 40), dtype=backend.dtype))
    norm = backend.array(np.ones(40, dtype=backend.dtype))
    backend.matmul(ones(40), weight)
    backend.rms_norm(ones(40), norm, 1e-6)
    tables = [backend.array(np.ones((rows, 8), dtype=np.float32)) for _ in range(2)]
    backend.rope(ones(3, 16), *tables)
    backend.swiglu(ones(40), ones(40))
    caches = [backend.new_cache(50, 16, 1, 16) for _ in range(2)]
    lengths = np.full(rows, 600 if rows > 1 else 5)
    width = 40 if rows > 1 else 1
    backend.attention(ones(2, 16), *caches, np.zeros((rows, width), dtype=np.int32), lengths, 0.25)
    logits = backend.array(np.ones((rows, 300), dtype=np.float32))
    backend.log_softmax(logits)

backend = TritonBackend("float16")
assert not backend._interpreted
backend._device = torch.device("cpu")
kept = {}
for rows in (1, 16, 33):
    compute(backend, rows)
    kept[rows] = dict(compiled)
json.dump(kept, sys.stdout)
"""


def forms(cache: str, *arguments: str) -> dict[str, dict[str, int]]:
    """How many compiled forms each kernel has after 1 row, after 16, and after 33."""
    for library in ("torch", "triton"):
        pytest.importorskip(library, reason=f"not run: {library} is not installed")
    kept = {name: text for name, text in os.environ.items() if name != "TRITON_INTERPRET"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**kept, "TRITON_CACHE_DIR": cache},
    )
    assert done.returncode == 0, done.stderr
    counted: dict[str, dict[str, int]] = json.loads(done.stdout)
    return counted


def test_code_does_not_follow_the_batch(tmp_path_factory: pytest.TempPathFactory) -> None:
    """One compiled form a kernel, whether there is 1 row, 16 or 33, aligned or not."""
    names = {"matmul", "rms_norm", "rope", "swiglu", "split", "combine", "log_softmax"}
    expected = {f"{name}_kernel": 1 for name in names}
    counted = forms(str(tmp_path_factory.mktemp("triton")))
    assert counted == {"1": expected, "16": expected, "33": expected}


def test_code_that_follows_the_batch_is_seen(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What Triton does by itself: other code for one row, for multiples of 16, and unaligned."""
    counted = forms(str(tmp_path_factory.mktemp("triton")), "specialised")
    assert counted["33"]["matmul_kernel"] == 3
    assert counted["33"]["split_kernel"] == 2
