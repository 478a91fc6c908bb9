"""Triton's interpreter with dots in the order of the rules [KERN-4] [REL-25].

The interpreter multiplies by BLAS, whose order of additions is its own. Here its dot is replaced
by the loop that the rules state. That is done within Triton's private classes, so it is tied to a
version of Triton, and a canary tells whether the replacement is what computes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
import triton
from triton.runtime import interpreter

from lockstep.engine.kernels.launch import interpreted
from lockstep.engine.kernels.matmul import matmul, matmul_kernel

TRITON = "3.9"
"""The version of Triton whose private classes these are, without its last part."""

_CANARY = (float(1 << 24), 1.0, 1.0, -float(1 << 24))
"""In this order their sum is 0: 2^24 + 1 is halfway between two numbers, and 2^24 is the even."""


class Dots:
    """Counts the dots that went through the replacement."""

    def __init__(self) -> None:
        self.count = 0

    def compute(self, builder: Any, a: Any, b: Any, d: Any, precision: Any, imprecise: Any) -> Any:
        """Stand in for InterpreterBuilder.create_dot: a chunk's sum from +0, then added to d."""
        self.count += 1
        left = a.data.astype(np.float32)
        right = b.data.astype(np.float32)
        total = np.zeros(d.data.shape, dtype=np.float32)
        for k in range(left.shape[1]):
            total = total + left[:, k, None] * right[None, k, :]
        return interpreter.TensorHandle(total + d.data, d.dtype.scalar)


def why_not() -> str:
    """Say why the interpreter cannot be used here; nothing where it can."""
    version = str(triton.__version__)
    if version.split(".")[:2] != TRITON.split("."):
        return f"the interpreter's private classes are those of Triton {TRITON}, here is {version}"
    if not interpreted(matmul_kernel):
        return "the kernels were imported to be compiled: TRITON_INTERPRET was not set"
    return ""


@contextmanager
def ascending_dots() -> Iterator[Dots]:
    """Replace the interpreter's dot while the context lasts, and see that it took effect.

    Raises:
        RuntimeError: the replacement is not what computes; there is nothing to compare with.
    """
    dots = Dots()
    builder = interpreter.InterpreterBuilder
    original, patch = builder.create_dot, interpreter._patch_lang
    builder.create_dot = lambda *arguments: dots.compute(*arguments)
    interpreter._patch_lang = _once(patch)
    try:
        require_ascending(dots)
        yield dots
    finally:
        builder.create_dot = original
        interpreter._patch_lang = patch


def require_ascending(dots: Dots) -> None:
    """Be the canary: a dot whose result depends on its order, and on who computes it.

    Raises:
        RuntimeError: it did not go through the replacement, or not in ascending order.
    """
    before = dots.count
    x = torch.tensor([_CANARY], dtype=torch.float32)
    result = matmul(x, torch.ones_like(x), torch.float32).item()
    if dots.count != before + 1 or result != 0.0:
        raise RuntimeError("Triton's interpreter does not compute its dots by the replacement")


def _once(patch: Any) -> Any:
    """Let only the launch of a kernel prepare `tl`, not each function that it calls.

    All kernels share one `tl`, so that a nested preparation finds done what it does; it takes
    milliseconds, for each call of a function.
    """
    active: list[Any] = []

    class Scope:
        def __init__(self, inner: Any) -> None:
            self._inner = inner

        def restore(self) -> None:
            if self._inner is not None:
                active.remove(self._inner)
                self._inner.restore()

    def prepare(function: Any) -> Any:
        if active:
            return Scope(None)
        inner = patch(function)
        active.append(inner)
        return Scope(inner)

    return prepare
