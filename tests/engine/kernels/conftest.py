"""What the tests of the Triton kernels share: kernels that are interpreted, and float64."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from lockstep.engine.backend import Backend

OpenTriton = Callable[[str], Backend]


@pytest.fixture(scope="session")
def interpreted() -> Iterator[OpenTriton]:
    """Open the backend, interpreted, its dots in the order of the rules.

    Whether kernels are interpreted is decided when they are imported, so they are imported here;
    nothing else in this process wants them compiled.
    """
    for library in ("torch", "triton"):
        pytest.importorskip(library, reason=f"not run: {library} is not installed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_INTERPRET", "1")
        for name in list(sys.modules):
            if name.startswith("lockstep.engine.kernels.") or name in (
                "lockstep.engine.backends.triton",
                "lockstep.relations.triton_interpreter",
            ):
                del sys.modules[name]
        opened = importlib.import_module("lockstep.engine.backends.triton").TritonBackend
    interpreter = importlib.import_module("lockstep.relations.triton_interpreter")
    reason = interpreter.why_not()
    if reason:
        pytest.skip(f"not run: {reason}")
    with interpreter.ascending_dots():
        yield opened


def load(path: Path) -> ModuleType:
    """Import a module of the tests by its path."""
    specification = importlib.util.spec_from_file_location(f"of_{path.stem}", path)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def refusals() -> ModuleType:
    """What every backend refuses, of the tests of the backends."""
    return load(Path(__file__).parents[1] / "backends" / "test_inputs.py")
