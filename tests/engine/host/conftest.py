"""What the tests of the kernels share: inputs that are the same everywhere."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def samples() -> ModuleType:
    """The module samples.py beside this one, which also runs as a program."""
    path = Path(__file__).with_name("samples.py")
    specification = importlib.util.spec_from_file_location("kernel_samples", path)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module
