"""The kernels compile without a GPU, and their code keeps to the rules of arithmetic."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from lockstep.engine.backend import Backend
from lockstep.errors import LockstepError

pytestmark = pytest.mark.xdist_group("triton")

QUICK = ("matmul float16", "matmul float32")


@pytest.fixture(autouse=True)
def _libraries() -> None:
    for library in ("torch", "triton"):
        pytest.importorskip(library, reason=f"not run: {library} is not installed")


def compiled(architecture: str, *names: str, cache: str) -> dict[str, dict[str, int]]:
    """Compile in a process whose kernels are not interpreted, into a cache of its own."""
    environment = {name: text for name, text in os.environ.items() if name != "TRITON_INTERPRET"}
    done = subprocess.run(
        [sys.executable, "-m", "lockstep.engine.kernels.ahead", architecture, *names],
        capture_output=True,
        text=True,
        check=False,
        env={**environment, "TRITON_CACHE_DIR": cache},
    )
    assert done.returncode == 0, done.stderr
    assert "FP fusion" not in done.stderr
    report: dict[str, dict[str, int]] = json.loads(done.stdout)
    return report


def require_rules(report: dict[str, dict[str, int]]) -> None:
    for name, code in report.items():
        kernel, _, dtype = name.partition(" ")
        dots = kernel in ("matmul", "attention")
        assert code["instructions"] > 50 and code["bytes"] > 1000, name
        # Only the dot of binary32 is fused, a chain of k ascending; nothing else contracts.
        assert (code["fused"] > 0) == (dots and dtype == "float32"), name
        assert (code["tensor"] > 0) == (dots and dtype == "float16"), name
        assert code["tensor_tf32"] == code["approximate"] == code["atomic"] == 0, name


def test_some_kernels_compile_for_sm_90(tmp_path_factory: pytest.TempPathFactory) -> None:
    report = compiled("sm_90", *QUICK, cache=str(tmp_path_factory.mktemp("triton")))
    assert set(report) == set(QUICK)
    require_rules(report)


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ["sm_80", "sm_89", "sm_90"])
def test_every_kernel_compiles(architecture: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    report = compiled(architecture, cache=str(tmp_path_factory.mktemp("triton")))
    assert len(report) == 10
    assert {name.partition(" ")[0] for name in report} == {
        *("matmul", "attention", "rms_norm", "combine", "rope", "swiglu", "log_softmax"),
    }
    require_rules(report)


FUSED = """
from lockstep.engine.kernels import ahead, launch
launch.OPTIONS["enable_fp_fusion"] = True
print(ahead.inspect_code(*ahead.compile_for(ahead.cases()["swiglu"], "sm_80")).fused)
"""


@pytest.mark.slow
def test_fusion_would_be_seen(tmp_path_factory: pytest.TempPathFactory) -> None:
    """With the option on, a kernel without a dot has fused operations."""
    environment = {name: text for name, text in os.environ.items() if name != "TRITON_INTERPRET"}
    done = subprocess.run(
        [sys.executable, "-c", FUSED],
        capture_output=True,
        text=True,
        check=False,
        env={**environment, "TRITON_CACHE_DIR": str(tmp_path_factory.mktemp("triton"))},
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0


LINES = """
  fma.rn.f32 %r1, %r2, %r3, %r4;
  @%p1 atom.global.add.f32 %r1, [%rd1], %r2;
  red.global.add.f32 [%rd1], %r2;
  div.full.f32 %r1, %r2, %r3;
  ex2.approx.ftz.f32 %r1, %r2;
  cvt.rmi.ftz.f32.f32 %r1, %r2;
  mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%r1}, {%r2}, {%r3}, {%r4};
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1}, %rd1, %rd2, 1;
"""


def test_each_kind_of_instruction_is_counted(interpreted: Callable[[str], Backend]) -> None:
    from lockstep.engine.kernels import ahead

    assert ahead.inspect_code(LINES)._asdict() == {
        "instructions": 8,
        "fused": 1,
        "tensor": 1,
        "tensor_tf32": 1,
        "approximate": 2,
        "atomic": 2,
        "bytes": 0,
    }


def test_interpreted_kernels_are_not_compiled(interpreted: Callable[[str], Backend]) -> None:
    from lockstep.engine.kernels import ahead

    with pytest.raises(LockstepError) as refused:
        ahead.compile_for(ahead.cases()["rope"], "sm_80")
    assert (refused.value.code, refused.value.pointer) == ("USAGE", "TRITON_INTERPRET")
