"""The same bits under every BLAS kernel, number of threads and level of vector instructions.

`golden.json` holds the digests; they were made once, on one machine, and hold on any [KERN-22].
Each setting runs in a process of its own, which tells what was in effect there; a setting that
this machine does not take is skipped with what it has instead.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

HERE = Path(__file__).parent
GOLDEN: dict[str, str] = json.loads((HERE / "golden.json").read_text("utf-8"))

# The name under which OpenBLAS reports its kernels for a core type; on 64-bit machines those for
# Prescott stand under the first of the names that share them.
BLAS_KERNELS = {"Haswell": "Haswell", "SkylakeX": "SkylakeX", "Prescott": "Katmai"}
SIMD: dict[str, list[str]] = np.show_config(mode="dicts")["SIMD Extensions"]  # type: ignore[index]
FOUND, NOT_FOUND = SIMD.get("found", []), SIMD.get("not found", [])


@cache
def report(core: str = "", threads: int = 0, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """Run samples.py under a BLAS core type, a number of threads, and without some features."""
    environment = {name: value for name, value in os.environ.items() if "OPENBLAS" not in name}
    if core:
        environment["OPENBLAS_CORETYPE"] = core
    if threads:
        environment["OPENBLAS_NUM_THREADS"] = str(threads)
    if without:
        environment["NPY_DISABLE_CPU_FEATURES"] = " ".join(without)
    result = subprocess.run(
        [sys.executable, HERE / "samples.py"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=environment,
    )
    assert result.returncode == 0, result.stderr
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


def core_report(core: str, threads: int) -> dict[str, Any]:
    """Give the report under a core type, or skip with what this machine has in its place."""
    found = report(core, threads)
    kernel = found["machine"]["blas_kernel"]
    if kernel != BLAS_KERNELS[core]:
        pytest.skip(f"not run: OpenBLAS gives {kernel} in place of {core} here")
    return found


def test_digests_are_the_committed_ones(samples: ModuleType) -> None:
    assert samples.digests() == GOLDEN


def test_a_changed_bit_changes_a_digest(samples: ModuleType) -> None:
    values = samples.reals((3, 5), 1)
    changed = values.copy()
    changed.view(np.uint32)[1, 2] ^= 1
    assert samples.digest(changed) != samples.digest(values)
    assert samples.digest(values.reshape(5, 3)) != samples.digest(values)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("core", sorted(BLAS_KERNELS))
def test_digests_hold_under_blas_kernels_and_threads(core: str, threads: int) -> None:
    found = core_report(core, threads)
    if found["machine"]["blas_threads"] != str(threads):
        pytest.skip(f"not run: {found['machine']['blas_threads']} threads in place of {threads}")
    assert found["digests"] == GOLDEN


def test_the_blas_setting_is_one_that_matters() -> None:
    """The control: a product by BLAS does change with the kernel."""
    assert core_report("Haswell", 1)["blas"] != core_report("Prescott", 1)["blas"]


@pytest.mark.parametrize("level", ["baseline", *FOUND, *NOT_FOUND])
def test_digests_hold_under_vector_instructions(level: str) -> None:
    """Each level is NumPy with the wider ones disabled."""
    if level in NOT_FOUND:
        pytest.skip(f"not run: this {platform.machine()} has no {level}")
    kept = FOUND[: FOUND.index(level) + 1] if level in FOUND else []
    found = report(without=tuple(name for name in FOUND if name not in kept))
    assert found["machine"]["numpy_simd"].split() == [*SIMD["baseline"], *kept]
    assert found["digests"] == GOLDEN


def test_the_level_of_instructions_is_one_that_matters() -> None:
    """The control: NumPy's own exponential does change with the level."""
    if not FOUND:
        pytest.skip("not run: NumPy has its baseline alone here")
    assert report()["numpy_exp"] != report(without=tuple(FOUND))["numpy_exp"]


def test_padded_tiles_break_when_rows_are_rolled() -> None:
    """The planted defect, under the kernels for AVX2: a test that leaves rows in place passes."""
    found = core_report("Haswell", 1)
    assert found["padded_in_place"] == 0
    assert found["padded_rolled"] > 0
    assert found["host_rolled"] == 0


def test_what_padded_tiles_do_on_this_cpu(record_property: pytest.RecordProperty) -> None:
    """In place they hold on every CPU; rolled they hold or not, which the report states."""
    found = report()
    record_property("blas_kernel", found["machine"]["blas_kernel"])
    record_property("padded_rolled_differing_of_32", found["padded_rolled"])
    assert found["padded_in_place"] == 0
    assert found["host_rolled"] == 0
