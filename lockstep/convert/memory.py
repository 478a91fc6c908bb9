"""Memory of every kind seen as bytes, and whether what is written lies apart [CONV-9]."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lockstep.convert.buffers import Buffer
from lockstep.convert.kernels import LINE
from lockstep.convert.plan import Plan
from lockstep.errors import LockstepError

Bytes = NDArray[np.uint8]


def empty(length: int) -> Bytes:
    """Give memory that begins at a cache line, its content whatever it holds."""
    whole = np.empty(length + LINE, dtype=np.uint8)
    start = -whole.ctypes.data % LINE
    return whole[start : start + length]


class Span(NamedTuple):
    """The addresses that a buffer takes: its first byte, and one behind its last."""

    start: int
    end: int
    written: bool
    where: str


def names_of(side: str, buffers: Sequence[Buffer]) -> list[str]:
    """Name a side's buffers in what is refused."""
    return [f"{side} buffer {number}, {one.tensor}" for number, one in enumerate(buffers)]


def bytes_of(
    given: Sequence[Any], buffers: Sequence[Buffer], side: str, *, writable: bool
) -> list[Bytes]:
    """See memory as its bytes.

    Args:
        given: NumPy arrays, torch tensors on the CPU, anything with `__dlpack__` or the buffer
            protocol; of any type, contiguous.
        buffers: that they are to be.
        side: `source` or `destination`.
        writable: whether they are to be written.

    Raises:
        LockstepError: BAD_VALUE where one is of another length, not contiguous, of another
            device, or shows no bytes, or cannot be written and is to be.
    """
    if len(given) != len(buffers):
        raise LockstepError("BAD_VALUE", side, f"{len(buffers)} buffers", len(given))
    seen = []
    for one, buffer, where in zip(given, buffers, names_of(side, buffers), strict=True):
        array = _array(one, where)
        if not array.flags.c_contiguous or array.nbytes != buffer.bytes:
            got = f"{array.nbytes} bytes, strides {array.strides}"
            raise LockstepError("BAD_VALUE", where, f"{buffer.bytes} contiguous bytes", got)
        if writable and not array.flags.writeable:
            raise LockstepError("BAD_VALUE", where, "memory that can be written", "read-only")
        seen.append(array.reshape(-1).view(np.uint8))
    return seen


def require_apart(
    plan: Plan, came: Sequence[tuple[int, int]], to: Sequence[tuple[int, int]]
) -> None:
    """Refuse a buffer of the destination that has bytes of another buffer.

    Args:
        plan: of the conversion.
        came: address and length in bytes of each of the source's buffers.
        to: of each of the destination's.

    Raises:
        LockstepError: BAD_VALUE at the buffer of the two that begins later.
    """
    spans = [
        Span(start, start + length, written, where)
        for written, side, places in (
            (False, ("source", plan.source.buffers), came),
            (True, ("destination", plan.destination.buffers), to),
        )
        for where, (start, length) in zip(names_of(*side), places, strict=True)
    ]
    # Each with those that begin before it: the one that reaches furthest tells.
    furthest: dict[bool, Span] = {}
    for one in sorted(spans):
        before = [furthest[written] for written in (True, False)
                  if written in furthest and (one.written or written)]  # fmt: skip
        for other in before:
            if one.start < other.end:
                raise LockstepError(
                    "BAD_VALUE",
                    one.where,
                    "memory apart from that of all other buffers",
                    f"{min(one.end, other.end) - one.start} bytes of {other.where}",
                    "A conversion is not done in place: give the destination memory of its own.",
                )
        known = furthest.get(one.written)
        if known is None or one.end > known.end:
            furthest[one.written] = one


def _array(one: Any, where: str) -> NDArray[Any]:
    """See whatever shows its bytes as an array over the same memory."""
    try:
        array = _shown(one, where)
    except (BufferError, NotImplementedError, RuntimeError, TypeError, ValueError) as fault:
        expected = "an array, a tensor or a contiguous buffer, which shows its bytes"
        got = f"{type(one).__name__}: {str(fault).splitlines()[0]}"
        raise LockstepError("BAD_VALUE", where, expected, got) from None
    if array.dtype.hasobject:
        raise LockstepError("BAD_VALUE", where, "elements of plain bytes", str(array.dtype))
    return array


def _shown(one: Any, where: str) -> NDArray[Any]:
    if isinstance(one, np.ndarray):
        return np.asarray(one)
    if hasattr(one, "data_ptr"):
        return _of_torch(one, where)
    if hasattr(one, "__dlpack__"):
        try:
            return np.from_dlpack(one)
        except (BufferError, RuntimeError):
            # A type that NumPy does not know, which torch may.
            if find_spec("torch") is None:
                raise
            import torch.utils.dlpack

            return _of_torch(torch.utils.dlpack.from_dlpack(one), where)
    return np.frombuffer(one, dtype=np.uint8)


def _of_torch(one: Any, where: str) -> NDArray[Any]:
    import torch

    if one.device.type != "cpu":
        hint = "Use lockstep.convert.device for tensors of an accelerator."
        raise LockstepError("BAD_VALUE", where, "memory of the CPU", str(one.device), hint)
    if one.layout != torch.strided or one.is_conj() or one.is_neg() or not one.is_contiguous():
        expected = "a contiguous tensor, whose memory holds its values"
        got = f"{one.layout}, shape {tuple(one.shape)}"
        hint = "Give it as .resolve_conj().resolve_neg().contiguous(), where it is the source."
        raise LockstepError("BAD_VALUE", where, expected, got, hint)
    # A type that NumPy does not know, such as bfloat16, has bytes all the same.
    return one.detach().reshape(-1).view(torch.uint8).numpy()  # type: ignore[no-any-return]
