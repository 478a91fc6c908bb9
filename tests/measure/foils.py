"""Modules with one change in their source: what a guard must go red for."""

from __future__ import annotations

import importlib
import inspect
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def foil(name: str, old: str, new: str) -> Iterator[types.ModuleType]:
    """Give a module whose source has one text in the place of another; it is gone afterwards.

    Args:
        name: of the real module.
        old: text that its source has exactly once.
        new: what stands there instead.
    """
    source = inspect.getsource(importlib.import_module(name))
    assert source.count(old) == 1, f"{name} has {old!r} {source.count(old)} times"
    module = types.ModuleType(f"{name}_foil")
    sys.modules[module.__name__] = module
    try:
        exec(compile(source.replace(old, new), f"<{module.__name__}>", "exec"), module.__dict__)
        yield module
    finally:
        del sys.modules[module.__name__]
