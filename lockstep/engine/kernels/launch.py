"""How kernels are compiled and launched: the same way, whatever the batch."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import triton

OPTIONS: dict[str, Any] = {"num_warps": 4, "num_stages": 2, "enable_fp_fusion": False}
"""Given at every compilation. Without fusion a product and a sum stay two operations [KERN-1]."""

LINES = 4
"""Rows that one program instance of a reduction over rows takes."""

WIDEST = 1024
"""Elements of a row that are folded at once [KERN-5]."""


def kernel(fixed: Sequence[str] = ()) -> Callable[[Callable[..., None]], Any]:
    """Make a kernel that is compiled once for a model's shape.

    Triton would compile other code where an argument is 1, or a multiple of 16, or a pointer is
    aligned. Row counts and the places of activations change with the batch, so these are kept
    from choosing the code.

    Args:
        fixed: arguments that the batch has no influence on, such as weights and their shape;
            Triton may look at these.
    """

    def decorate(function: Callable[..., None]) -> Any:
        varying = [
            name
            for name, parameter in inspect.signature(function).parameters.items()
            if name not in fixed and "constexpr" not in str(parameter.annotation)
        ]
        return triton.jit(do_not_specialize=varying, do_not_specialize_on_alignment=varying)(
            function
        )

    return decorate


def device(function: Callable[..., Any]) -> Any:
    """Make a function that kernels call."""
    return triton.jit(function)


def launch(function: Any, grid: tuple[int, ...], *arguments: Any, **constants: Any) -> None:
    """Run a kernel over a grid, compiled by `OPTIONS`.

    In the interpreter the arithmetic is NumPy's, whose floating-point warnings are off: infinities
    and not-a-numbers are results here.

    Args:
        function: from `kernel`.
        grid: program instances along each axis; with a zero nothing runs.
        arguments: tensors, contiguous and on one device, and numbers.
        constants: what the code is compiled for; nothing that depends on the batch.
    """
    if 0 in grid:
        return
    with np.errstate(all="ignore"):
        function[grid](*arguments, **constants, **OPTIONS)


def interpreted(function: Any) -> bool:
    """Tell whether a kernel runs in Triton's interpreter, which its import decided."""
    return not isinstance(function, triton.JITFunction)


def ceiling(count: int, size: int) -> int:
    """Give how many pieces of `size` hold `count`."""
    return -(-count // size)


def power(count: int) -> int:
    """Give the least power of two that is at least `count`."""
    return 1 << max(0, count - 1).bit_length()


def levels(width: int) -> int:
    """Give how often a power of two can be halved."""
    return width.bit_length() - 1
