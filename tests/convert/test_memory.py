"""Memory that is taken, and memory that is refused: kinds, strides, and what overlaps [CONV-9]."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from lockstep.convert import memory
from lockstep.convert.memory import bytes_of, require_apart
from lockstep.convert.plan import plan
from lockstep.errors import LockstepError
from lockstep.layouts import catalogue
from lockstep.layouts.geometry import Geometry

GEOMETRY = Geometry(5, 2, 3, 8, 0, 0, "float16")
PLAN = plan(
    catalogue.find("vllm/vllm-0.23-nhd"), catalogue.find("vllm/vllm-0.23-hnd"), GEOMETRY
)  # fmt: skip
LENGTH = PLAN.source.buffers[0].bytes
BUFFERS = PLAN.source.buffers[:1]
CONTENT = np.random.default_rng(1).integers(0, 256, LENGTH, dtype=np.uint8)


class Exporter:
    """What shows its memory by DLPack alone."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor

    def __dlpack__(self, **options: Any) -> Any:
        return self.tensor.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.tensor.__dlpack_device__()


class Unversioned(Exporter):
    """What knows no version of DLPack."""

    def __dlpack__(self, *, stream: Any = None) -> Any:  # type: ignore[override]
        return self.tensor.__dlpack__(stream=stream)


class OfCuda(Exporter):
    """What lies on an accelerator."""

    def __dlpack__(self, **options: Any) -> Any:
        raise AssertionError("exported")

    def __dlpack_device__(self) -> Any:
        return (2, 0)


class Silent(Exporter):
    """What fails and does not say why."""

    def __dlpack__(self, **options: Any) -> Any:
        raise BufferError


class NoDevice:
    """What does not say where it lies."""

    def __dlpack__(self, **options: Any) -> Any:
        raise AssertionError("exported")


class Frozen(Exporter):
    """What says that it may not be written."""

    def __dlpack__(self, **options: Any) -> Any:
        capsule = self.tensor.__dlpack__(max_version=(1, 0))
        flags = memory._pointer(capsule, b"dltensor_versioned") + 24
        ctypes.c_uint64.from_address(flags).value |= 1
        return capsule


def tensor() -> torch.Tensor:
    return torch.from_numpy(CONTENT.copy())


@pytest.mark.parametrize(
    "given",
    [
        lambda: tensor().view(torch.bfloat16),
        lambda: tensor().view(torch.float8_e4m3fn).reshape(2, -1),
        lambda: tensor().view(torch.float16).requires_grad_(),
        lambda: Exporter(tensor().view(torch.bfloat16)),
        lambda: Exporter(tensor().view(torch.float32)),
        lambda: Unversioned(tensor().view(torch.bfloat16)),
        lambda: Unversioned(tensor().view(torch.int16)),
        lambda: memoryview(CONTENT.reshape(2, -1)),
        lambda: CONTENT.tobytes(),
        lambda: np.ma.array(CONTENT, mask=True),
        lambda: CONTENT.view(">u4"),
    ],
)
def test_bytes_are_those_of_the_memory(given: Callable[[], Any]) -> None:
    (seen,) = bytes_of([given()], BUFFERS, "source", writable=False)
    assert seen.shape == (LENGTH,)
    assert np.array_equal(seen, CONTENT)


@pytest.mark.parametrize(
    "given",
    [
        lambda: torch.stack([tensor().view(torch.float16)] * 2, 1)[:, 0],
        lambda: tensor().view(torch.float16).reshape(2, -1).t(),
        lambda: tensor().view(torch.complex64).conj(),
        lambda: torch._neg_view(tensor().view(torch.float16)),
        lambda: tensor().to_sparse(),
        lambda: tensor().to("meta"),
        lambda: np.asfortranarray(CONTENT.reshape(2, -1)),
        lambda: CONTENT[::-1],
        lambda: memoryview(np.repeat(CONTENT, 2))[::2],
        lambda: np.empty(LENGTH // 8, dtype=object),
        lambda: CONTENT.tolist(),
        lambda: "x" * LENGTH,
        lambda: None,
        lambda: b"",
        lambda: np.float64(1),
        lambda: tensor().untyped_storage(),
        lambda: Silent(tensor()),
        lambda: NoDevice(),
    ],
)
def test_what_shows_no_contiguous_bytes_is_refused(given: Callable[[], Any]) -> None:
    with pytest.raises(LockstepError) as fault:
        bytes_of([given()], BUFFERS, "source", writable=False)
    assert (fault.value.code, fault.value.pointer) == ("BAD_VALUE", "source buffer 0, kv")


def test_a_type_that_only_torch_knows_needs_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "find_spec", lambda name: None)
    with pytest.raises(LockstepError) as fault:
        bytes_of([Exporter(tensor().view(torch.bfloat16))], BUFFERS, "source", writable=False)
    assert fault.value.code == "BAD_VALUE"


def test_what_lies_on_an_accelerator_is_not_exported() -> None:
    with pytest.raises(LockstepError) as fault:
        bytes_of([OfCuda(tensor())], BUFFERS, "source", writable=False)
    assert (fault.value.code, fault.value.pointer) == ("BAD_VALUE", "source buffer 0, kv")
    assert "lockstep.convert.device" in str(fault.value)


def test_without_torch_nothing_is_a_tensor(monkeypatch: pytest.MonkeyPatch) -> None:
    given = tensor().untyped_storage()
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(LockstepError) as fault:
        bytes_of([given], BUFFERS, "source", writable=False)
    assert fault.value.code == "BAD_VALUE"


@pytest.mark.parametrize("given", [None, 1, (one for one in (CONTENT,)), [], [CONTENT] * 2])
def test_a_side_is_a_sequence_of_as_many_as_its_buffers(given: Any) -> None:
    with pytest.raises(LockstepError) as fault:
        bytes_of(given, BUFFERS, "destination", writable=True)
    assert (fault.value.code, fault.value.pointer) == ("BAD_VALUE", "destination")


@pytest.mark.parametrize("of", [torch.int16, torch.bfloat16, torch.float8_e4m3fn])
def test_an_export_is_written_only_where_it_says_that_it_may_be(of: torch.dtype) -> None:
    into = torch.zeros(LENGTH, dtype=torch.uint8)
    (seen,) = bytes_of([Exporter(into.view(of))], BUFFERS, "destination", writable=True)
    seen[:] = CONTENT
    assert np.array_equal(into.numpy(), CONTENT)
    for kind in (Unversioned, Frozen):
        with pytest.raises(LockstepError) as fault:
            bytes_of([kind(into.view(of))], BUFFERS, "destination", writable=True)
        assert fault.value.got == "read-only"


def test_memory_to_be_written_can_be() -> None:
    into = bytearray(LENGTH)
    (seen,) = bytes_of([into], BUFFERS, "destination", writable=True)
    seen[:] = CONTENT
    assert into == CONTENT.tobytes()
    for one in (bytes(LENGTH), memoryview(bytes(LENGTH))):
        with pytest.raises(LockstepError) as fault:
            bytes_of([one], BUFFERS, "destination", writable=True)
        assert fault.value.got == "read-only"


@pytest.mark.parametrize(
    ("came", "to", "where"),
    [
        # The same memory as both, one byte shared at either end, one within the other.
        ([(0, 64), (64, 64)], [(0, 64), (200, 64)], "destination buffer 0, kv"),
        ([(0, 64), (64, 64)], [(127, 64), (200, 64)], "destination buffer 0, kv"),
        ([(0, 64), (163, 64)], [(100, 64), (300, 64)], "source buffer 1, kv"),
        ([(0, 640), (0, 8)], [(100, 64), (900, 64)], "destination buffer 0, kv"),
        # Two of the destination, with a short one of the source between their beginnings.
        ([(110, 1), (700, 64)], [(0, 100), (99, 8)], "destination buffer 1, kv"),
        ([(0, 64), (64, 64)], [(200, 640), (300, 8)], "destination buffer 1, kv"),
    ],
)
def test_a_destination_that_is_not_apart_is_refused(
    came: list[tuple[int, int]], to: list[tuple[int, int]], where: str
) -> None:
    with pytest.raises(LockstepError) as fault:
        require_apart(PLAN, came, to)
    assert (fault.value.code, fault.value.pointer) == ("BAD_VALUE", where)


def test_what_lies_apart_is_taken() -> None:
    # Touching is apart, and what is only read may be one memory.
    require_apart(PLAN, [(0, 64), (0, 64)], [(64, 64), (128, 64)])
    require_apart(PLAN, [(64, 64), (100, 100)], [(0, 64), (200, 1)])
