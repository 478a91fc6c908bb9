"""The backend `triton`: what it refuses, what it says of itself, and a model on it."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from lockstep.engine.backend import Backend
from lockstep.engine.backends import open_backend
from lockstep.engine.backends.driver import driver_version
from lockstep.engine.batch import pack
from lockstep.engine.checkpoint import Checkpoint
from lockstep.engine.events import Work
from lockstep.engine.model import Model
from lockstep.errors import LockstepError

pytestmark = pytest.mark.xdist_group("triton")

OpenTriton = Callable[[str], Backend]


def test_it_has_every_function_of_the_protocol(interpreted: OpenTriton) -> None:
    backend = interpreted("float32")
    assert (backend.name, backend.invariant) == ("triton", True)
    for member, declared in inspect.getmembers(Backend, inspect.isfunction):
        if not member.startswith("_"):
            own = inspect.signature(getattr(type(backend), member))
            assert list(own.parameters) == list(inspect.signature(declared).parameters), member


def test_it_refuses_what_others_refuse(interpreted: OpenTriton, refusals: ModuleType) -> None:
    backend = interpreted("float32")
    seen = {}
    for what, (pointer, call) in refusals.REFUSED.items():
        with pytest.raises(LockstepError) as caught:
            call(backend)
        seen[what] = (caught.value.code, caught.value.pointer) == ("KERNEL_INPUT", pointer)
    assert seen == dict.fromkeys(refusals.REFUSED, True)


def test_a_refused_write_changes_nothing(interpreted: OpenTriton) -> None:
    backend = interpreted("float16")
    cache = backend.new_cache(3, 16, 2, 4)
    rows = backend.array(np.ones((2, 2, 4), dtype=np.float16))
    for slots in ([5, 5], [5, 48], [5, -1]):
        with pytest.raises(LockstepError):
            backend.write(cache, rows, np.array(slots))
    assert np.isnan(backend.numpy(cache)).all()
    backend.write(cache, rows, np.array([17, 40]))
    written = np.argwhere(~np.isnan(backend.numpy(cache)).any(axis=(2, 3)))
    assert written.tolist() == [[1, 1], [2, 8]]


def test_a_batch_without_rows_computes_nothing(interpreted: OpenTriton) -> None:
    backend = interpreted("float32")
    none = np.zeros((0, 8), dtype=np.float32)
    weight = backend.weight(np.ones((3, 8), dtype=np.float32))
    assert backend.numpy(backend.matmul(backend.array(none), weight)).shape == (0, 3)
    assert backend.numpy(backend.log_softmax(backend.array(none))).shape == (0, 8)


def test_unread_slots_have_no_influence(interpreted: OpenTriton) -> None:
    """Not-a-numbers lie past a row's positions, in its own block and in others."""
    backend = interpreted("float32")
    keys, values = (backend.new_cache(4, 16, 1, 16) for _ in range(2))
    rows = np.random.default_rng(0).uniform(-1, 1, (19, 1, 16)).astype(np.float32)
    for cache in (keys, values):
        backend.write(cache, backend.array(rows), np.arange(16, 35))
    q = backend.array(rows[:1])
    tables, lengths = np.array([[1, 2]], dtype=np.int32), np.array([19])
    result = backend.numpy(backend.attention(q, keys, values, tables, lengths, 0.25))
    assert np.isfinite(result).all()


def test_the_environment_is_read_back(interpreted: OpenTriton) -> None:
    import torch
    import triton

    backend = interpreted("float16")
    environment = backend.environment()
    assert environment["backend"] == "triton" and environment["dtype"] == "float16"
    assert environment["torch"] == torch.__version__
    assert environment["triton"] == triton.__version__
    assert environment["triton_kernels"] == "interpreted"
    assert environment["triton_enable_fp_fusion"] == "False"
    assert environment["device"] == "cpu" and environment["numpy"] == np.__version__
    assert len(environment["kernels_sha256"]) == 64
    assert all(isinstance(value, str) and value for value in environment.values())
    assert backend.binding() == environment
    assert environment["kernels_sha256"] != open_backend("host").environment()["kernels_sha256"]


def test_an_unknown_dtype_is_refused(interpreted: OpenTriton) -> None:
    with pytest.raises(LockstepError) as caught:
        interpreted("bfloat16")
    assert (caught.value.code, caught.value.pointer) == ("USAGE", "--dtype")


OPENED = """
import sys
import lockstep.engine.model, lockstep.engine.execute, lockstep.engine.kernels
from lockstep.engine.backends import open_backend
from lockstep.errors import LockstepError

def told():
    try:
        open_backend("triton")
    except LockstepError as refused:
        return f"{refused.code} {refused.expected}"
    return "opened"

for library in ("triton", "torch"):
    kept = sys.modules.get(library)
    sys.modules[library] = None
    print(told())
    del sys.modules[library]
    if kept is not None:
        sys.modules[library] = kept
print(told())
"""


def test_what_is_missing_is_said_when_the_backend_is_opened() -> None:
    """A library, then the other one, then a GPU for kernels that are not interpreted.

    Where there is a GPU it is hidden.
    """
    for library in ("torch", "triton"):
        pytest.importorskip(library, reason=f"not run: {library} is not installed")
    kept = {name: text for name, text in os.environ.items() if name != "TRITON_INTERPRET"}
    done = subprocess.run(
        [sys.executable, "-c", OPENED],
        capture_output=True,
        text=True,
        check=False,
        env={**kept, "CUDA_VISIBLE_DEVICES": ""},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "LIBRARY_MISSING triton",
        "LIBRARY_MISSING torch",
        "DEVICE_MISSING a GPU, or TRITON_INTERPRET=1",
    ]


def test_a_driver_that_is_not_there_says_nothing(tmp_path: Path) -> None:
    assert driver_version("libnvidia-ml.so.there-is-none") is None
    # A library that is something else.
    broken = tmp_path / "libnvidia-ml.so.1"
    broken.write_bytes(b"no library")
    assert driver_version(str(broken)) is None


def test_a_model_gives_the_bits_that_it_gives_on_host(
    interpreted: OpenTriton, checkpoint: Checkpoint
) -> None:
    """A chunk, then a decode beside another request's chunk."""
    batches = (
        (Work(0, 0, (65, 7, 200), (2, 0), True),),
        (Work(0, 3, (9,), (2, 0), True), Work(1, 0, (65, 66), (1,), True)),
    )
    results = []
    for backend in (open_backend("host"), interpreted("float32")):
        model = Model(checkpoint, backend)
        caches = model.new_caches(3, 8)
        logits = [backend.numpy(model.forward(pack(batch, 8), caches)) for batch in batches]
        parts = [backend.numpy(part) for cache in caches for part in (cache.keys, cache.values)]
        results.append([*logits, *parts])
    for own, other in zip(*results, strict=True):
        assert np.array_equal(own, other, equal_nan=True)
    assert [len(logits) for logits in results[0][:2]] == [1, 2]
