"""The backends by name, and what each says of itself."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import numpy as np
import pytest

from lockstep.engine.backend import Backend
from lockstep.engine.backends import BACKENDS, machine, open_backend
from lockstep.engine.backends.host import HostBackend
from lockstep.errors import LockstepError

NUMPY_ONLY = ("host", "fast", "float64", "padded_tiles")


@pytest.mark.parametrize("name", NUMPY_ONLY)
def test_a_backend_has_every_function_of_the_protocol(name: str) -> None:
    backend = open_backend(name)
    assert backend.name == name
    for member, declared in inspect.getmembers(Backend, inspect.isfunction):
        if not member.startswith("_"):
            own = inspect.signature(getattr(type(backend), member))
            assert list(own.parameters) == list(inspect.signature(declared).parameters), member


def test_only_those_that_follow_the_rules_claim_invariance() -> None:
    assert {name: open_backend(name).invariant for name in NUMPY_ONLY} == {
        "host": True,
        "fast": False,
        "float64": False,
        "padded_tiles": False,
    }


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(LockstepError) as caught:
        open_backend("cuda")
    assert caught.value.code == "USAGE"
    assert "host" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "dtype"), [("host", "bfloat16"), ("fast", "float64"), ("float64", "float32")]
)
def test_a_dtype_that_a_backend_has_not_is_refused(name: str, dtype: str) -> None:
    with pytest.raises(LockstepError) as caught:
        open_backend(name, dtype)
    assert (caught.value.code, caught.value.pointer) == ("USAGE", "--dtype")


def test_a_missing_torch_is_said_and_stops_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(LockstepError) as caught:
        open_backend("fast_torch")
    assert caught.value.code == "LIBRARY_MISSING"
    assert open_backend("host").name == "host"


def test_defaults_are_float32_and_float64() -> None:
    assert [open_backend(name).dtype for name in NUMPY_ONLY] == [
        "float32",
        "float32",
        "float64",
        "float32",
    ]
    assert open_backend("host", "float16").dtype == "float16"
    assert set(NUMPY_ONLY) < set(BACKENDS)


@pytest.mark.parametrize("name", NUMPY_ONLY)
def test_the_environment_is_read_back(name: str) -> None:
    environment = open_backend(name).environment()
    assert environment["numpy"] == np.__version__
    assert environment["backend"] == name
    assert {"blas", "blas_kernel", "blas_threads", "numpy_simd", "subnormals"} <= set(environment)
    assert all(isinstance(value, str) and value for value in environment.values())
    assert open_backend(name).binding().items() <= environment.items()


def test_host_is_bound_to_its_sources_and_numpy_alone() -> None:
    assert set(HostBackend().binding()) == {"backend", "dtype", "numpy", "kernels_sha256"}
    assert HostBackend().binding() != HostBackend("float16").binding()
    assert open_backend("fast").binding() == open_backend("fast").environment()


def test_a_changed_source_changes_the_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "kernels_of_a_test"
    package.mkdir()
    (package / "__init__.py").write_text("", "utf-8")
    (package / "one.py").write_text("A = 1\n", "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))

    def digest() -> str:
        machine.sources_digest.cache_clear()
        return machine.sources_digest("kernels_of_a_test")

    seen = [digest()]
    (package / "one.py").write_text("A = 2\n", "utf-8")
    seen.append(digest())
    (package / "one.py").rename(package / "two.py")
    seen.append(digest())
    assert len(set(seen)) == 3
    with pytest.raises(ModuleNotFoundError):
        machine.sources_digest("kernels_that_are_not_there")


def test_subnormals_are_kept_here() -> None:
    assert machine.subnormals_kept()


def test_a_blas_that_says_nothing_is_not_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_openblas", lambda: ())
    described = machine.describe()
    assert described["blas_kernel"] == described["blas_threads"] == machine.NOT_READ
