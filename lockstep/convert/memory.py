"""Memory of every kind seen as bytes, and whether what is written lies apart [CONV-9]."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from ctypes import PYFUNCTYPE, c_char_p, c_uint64, c_void_p, py_object, pythonapi
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lockstep.convert.buffers import Buffer
from lockstep.convert.kernels import LINE
from lockstep.convert.plan import Plan
from lockstep.errors import LockstepError

Bytes = NDArray[np.uint8]

OF_CPU = 1, 3, 11, 13
"""DLPack's devices whose memory the CPU has: itself, and what CUDA and ROCm share with it."""
_pointer = PYFUNCTYPE(c_void_p, py_object, c_char_p)(("PyCapsule_GetPointer", pythonapi))


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


def paired(
    given: Sequence[Any], buffers: Sequence[Buffer], side: str
) -> list[tuple[Any, Buffer, str]]:
    """Give what is given for each buffer, the buffer, and its name in what is refused.

    Raises:
        LockstepError: BAD_VALUE at the side where it is not as many as the buffers.
    """
    try:
        count: object = len(given)
    except TypeError:
        count = type(given).__name__
    if count != len(buffers):
        expected = f"a sequence of {len(buffers)} buffers"
        hint = f"Give a list, a buffer for each of the plan's {side}.buffers, in their order."
        raise LockstepError("BAD_VALUE", side, expected, count, hint)
    return list(zip(given, buffers, names_of(side, buffers), strict=True))


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
    seen = []
    for one, buffer, where in paired(given, buffers, side):
        array = _array(one, where)
        if not array.flags.c_contiguous or array.nbytes != buffer.bytes:
            got = f"{array.nbytes} bytes, strides {array.strides}"
            raise LockstepError("BAD_VALUE", where, f"{buffer.bytes} contiguous bytes", got)
        if writable and not array.flags.writeable:
            raise LockstepError("BAD_VALUE", where, "memory that can be written", "read-only")
        seen.append(array.reshape(-1).view(np.uint8))
    return seen


def require_plain(tensor: Any, where: str) -> None:
    """Refuse a torch tensor whose memory is not its values in order.

    Raises:
        LockstepError: BAD_VALUE where it is sparse, conjugated, negated or not contiguous.
    """
    import torch

    strided = tensor.layout == torch.strided
    if strided and tensor.is_contiguous() and not tensor.is_conj() and not tensor.is_neg():
        return
    expected = "a contiguous tensor, whose memory holds its values"
    got = f"{tensor.layout}, shape {tuple(tensor.shape)}"
    hint = "Give it as .resolve_conj().resolve_neg().contiguous(), where it is the source."
    raise LockstepError("BAD_VALUE", where, expected, got, hint)


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
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as fault:
        expected = "an array, a tensor or a contiguous buffer, which shows its bytes"
        got = f"{type(one).__name__}: {(str(fault).splitlines() or [''])[0]}"
        raise LockstepError("BAD_VALUE", where, expected, got) from None
    if array.dtype.hasobject:
        raise LockstepError("BAD_VALUE", where, "elements of plain bytes", str(array.dtype))
    return array


def _shown(one: Any, where: str) -> NDArray[Any]:
    if isinstance(one, np.ndarray):
        return np.asarray(one)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(one, torch.Tensor):
        return _of_torch(one, where)
    if hasattr(one, "__dlpack__"):
        device, number = one.__dlpack_device__()
        if device not in OF_CPU:
            raise _elsewhere(where, f"DLPack's device {int(device)}, {number}")
        try:
            return np.from_dlpack(one)
        except (BufferError, RuntimeError):
            # A type that NumPy does not know, which torch may.
            if find_spec("torch") is None:
                raise
            return _by_torch(one, where)
    return np.frombuffer(one, dtype=np.uint8)


def _by_torch(one: Any, where: str) -> NDArray[Any]:
    """See what DLPack exports by way of torch, which does not keep what may not be written."""
    from torch.utils.dlpack import from_dlpack

    try:
        capsule = one.__dlpack__(max_version=(1, 0))
    except TypeError:
        capsule = one.__dlpack__()
    try:
        # Behind the version, the context and the deleter are the flags, the first for read-only.
        flags = c_uint64.from_address(_pointer(capsule, b"dltensor_versioned") + 24).value
    except ValueError:
        # Without a version nothing says that it may be written; NumPy takes it so too.
        flags = 1
    array = _of_torch(from_dlpack(capsule), where)
    if flags & 1:
        array.flags.writeable = False
    return array


def _elsewhere(where: str, got: str) -> LockstepError:
    hint = "Use lockstep.convert.device for tensors of an accelerator."
    return LockstepError("BAD_VALUE", where, "memory of the CPU", got, hint)


def _of_torch(one: Any, where: str) -> NDArray[Any]:
    import torch

    if one.device.type != "cpu":
        raise _elsewhere(where, str(one.device))
    require_plain(one, where)
    # A type that NumPy does not know, such as bfloat16, has bytes all the same.
    return one.detach().reshape(-1).view(torch.uint8).numpy()  # type: ignore[no-any-return]
