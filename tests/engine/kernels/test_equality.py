"""KERNEL-EQ: the kernels of `host` and of Triton give the same bits, and a difference shows."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from lockstep.relations import kernel_sweep
from lockstep.relations.catalogue import kernels
from lockstep.relations.kernel_sweep import Equality, compare

pytestmark = pytest.mark.xdist_group("triton")

KERNELS = set(kernels())


def require_equal(equality: Equality) -> None:
    if equality.not_run:
        pytest.skip(f"not run: {equality.not_run}")
    assert [entry for entry in equality.compared if entry.differing] == []
    assert set(equality.kernels) == KERNELS
    assert all(entry.elements > 0 for entry in equality.compared)
    assert equality.dots > len(equality.compared)


def test_all_kernels_give_the_same_bits() -> None:
    equality = compare(16, 0)
    require_equal(equality)
    assert len(equality.compared) > 50
    assert sum(entry.elements for entry in equality.compared) > 120_000


@pytest.mark.slow
@pytest.mark.parametrize("block_size", [8, 16, 32, 64, 128])
def test_all_kernels_give_the_same_bits_over_all_shapes(block_size: int) -> None:
    equality = compare(block_size, 1, full=True)
    require_equal(equality)
    assert len(equality.compared) > 400


PLANTED = """
import json, sys
import numpy as np
from lockstep.relations import kernel_cases, kernel_sweep, triton_interpreter
from lockstep.engine.host import dot, exp, fold

def differing(kernels):
    sweep = kernel_cases.Sweep(16, 0, False)
    found = set()
    with triton_interpreter.ascending_dots(), np.errstate(all="ignore"):
        for kernel in kernels:
            cases = getattr(sweep, kernel)("float32")
            found |= {c.kernel for c in kernel_sweep._compared(cases) if c.differing}
    return sorted(found)

report = {"sound": differing(["_matmul", "_rms_norm", "_swiglu"])}
dot.CHUNK = 16
report["chunk"] = differing(["_matmul"])
dot.CHUNK = 32
exp.COEFFICIENTS = (*exp.COEFFICIENTS[:-1], np.nextafter(exp.COEFFICIENTS[-1], np.float32(1)))
report["exp"] = differing(["_swiglu"])
fold.ROW_CHUNK = 512
fold.fold.__defaults__ = (512,)
report["fold"] = differing(["_rms_norm"])
kernel_cases.ROLL, kernel_cases._back = 5, lambda values: values.numpy()
report["rolled"] = differing(["_rope"])

def refused(make):
    try:
        with make():
            return "computed"
    except RuntimeError:
        return "refused"

def backwards(self, builder, a, b, d, precision, imprecise):
    self.count += 1
    total = np.zeros(d.data.shape, dtype=np.float32)
    for k in reversed(range(a.data.shape[1])):
        total = total + a.data[:, k, None] * b.data[None, k, :]
    return triton_interpreter.interpreter.TensorHandle(total + d.data, d.dtype.scalar)

dots = triton_interpreter.Dots
try:
    triton_interpreter.require_ascending(dots())
    report["no patch"] = "computed"
except RuntimeError:
    report["no patch"] = "refused"
dots.compute = backwards
report["another order"] = refused(triton_interpreter.ascending_dots)
triton_interpreter.TRITON = "3.8"
report["version"] = triton_interpreter.why_not()
json.dump(report, sys.stdout)
"""


def test_a_difference_shows_and_the_canary_can_fail() -> None:
    """Each defect is planted into `host`, into the comparison or into the replacement."""
    for library in ("torch", "triton"):
        pytest.importorskip(library, reason=f"not run: {library} is not installed")
    done = subprocess.run(
        [sys.executable, "-c", PLANTED],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TRITON_INTERPRET": "1"},
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert "Triton 3.8" in report.pop("version")
    assert report == {
        "sound": [],
        "chunk": ["matmul"],
        "exp": ["swiglu"],
        "fold": ["rms_norm"],
        "rolled": ["rope"],
        "no patch": "refused",
        "another order": "refused",
    }


@pytest.mark.parametrize("library", ["torch", "triton"])
def test_a_missing_library_is_a_reason(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(sys.modules):
        if name.startswith(("lockstep.engine.kernels.", "lockstep.relations.kernel_cases")):
            monkeypatch.delitem(sys.modules, name)
    for name in ("lockstep.engine.backends.triton", "lockstep.relations.triton_interpreter"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, library, None)
    assert kernel_sweep.sweep(16, 0, False)["not_run"] == f"{library} is not installed"


def test_a_process_that_fails_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_sweep, "__name__", "lockstep.relations.no_such_module")
    with pytest.raises(RuntimeError, match="ended with 1"):
        compare(16, 0)


def test_bits_are_compared_and_not_values() -> None:
    zeros = np.array([0.0, -0.0, np.nan], dtype=np.float32)
    payload = np.array([0, 0x8000_0000, 0xFFC0_0001], dtype=np.uint32).view(np.float32)
    bits = kernel_sweep._bits
    assert (bits(zeros) == bits(payload)).tolist() == [True, True, True]
    assert (bits(zeros) == bits(-payload)).tolist() == [False, False, True]
