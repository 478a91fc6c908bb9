"""The kernel for accelerators, run by Triton's interpreter; on a device where there is one."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import torch

PROGRAM = """
import numpy as np, sys, torch
from lockstep.convert import device
from lockstep.convert.buffers import Placement
from lockstep.convert.execute import convert
from lockstep.convert.plan import plan
from lockstep.convert.names import resolve
from lockstep.layouts.geometry import Geometry
from lockstep.errors import LockstepError

where = sys.argv[1]
geometry = Geometry(21, 2, 4, 8, 128, 64, "float16")
# Blocks in falling order, in one loop more than the kernel takes.
falling = Placement(14, tuple(range(12, 1, -1))), Placement(7, (6, 5, 4, 3, 2, 1))
# Runs of more items than go at once.
device.LONGEST = 64
for source, destination, placements in (
    ("vllm/vllm-0.22-nhd,block=6", "vllm/vllm-tp2,block=4", ()),
    ("sglang/hicache-page-head", "vllm:BHLNC", ()),
    ("llamacpp/llamacpp-no-flash", "vllm/vllm-paged-x", ()),
    ("vllm/vllm-mla", "vllm/vllm-mla-tp2", ()),
    ("vllm:NHD,block=2", "vllm:HND,block=4", falling),
):
    pair = source, destination
    made = plan(resolve(source), resolve(destination), geometry, *placements)
    rng = np.random.default_rng(3)
    source = [rng.integers(0, 256, one.bytes, dtype=np.uint8) for one in made.source.buffers]
    due = convert(made, source, engine="numpy")
    into = [torch.zeros(one.bytes, dtype=torch.uint8, device=where)
            for one in made.destination.buffers]
    tensors = [torch.from_numpy(one).to(where) for one in source]
    device.convert(made, tensors, into)
    for got, wanted in zip(into, due, strict=True):
        assert np.array_equal(got.cpu().numpy(), wanted), pair
    # Memory that begins where no wide item may.
    skewed = [torch.zeros(one.bytes + 1, dtype=torch.uint8, device=where)[1:]
              for one in made.destination.buffers]
    device.convert(made, tensors, skewed)
    assert all(torch.equal(one, other) for one, other in zip(into, skewed, strict=True)), pair
    longest = max(one.bytes for one in (*made.source.buffers, *made.destination.buffers))
    shared = torch.zeros(longest, dtype=torch.uint8, device=where)
    once, same = ([shared[:one.bytes] for one in side.buffers]
                  for side in (made.source, made.destination))
    for came, wrong in (
        ([], into), (tensors, into[1:]), (tensors, [one[:-1] for one in into]), (once, same)
    ):
        try:
            device.convert(made, came, wrong)
        except LockstepError as fault:
            assert fault.code == "BAD_VALUE"
        else:
            raise AssertionError("taken")
print("same bytes")
"""

REFUSED = """
import numpy as np, sys, torch
from lockstep.convert import device
from lockstep.convert.plan import plan
from lockstep.convert.names import resolve
from lockstep.layouts.geometry import Geometry
from lockstep.errors import LockstepError

where = sys.argv[1]
geometry = Geometry(5, 2, 3, 8, 0, 0, "float16")
made = plan(resolve("vllm/vllm-0.23-nhd"), resolve("vllm/vllm-0.23-hnd"), geometry)
length = made.source.buffers[0].bytes
source, destination = ([torch.zeros(one.bytes, dtype=torch.uint8, device=where)
                        for one in side.buffers] for side in (made.source, made.destination))

def refused(came, to, pointer, expected):
    try:
        device.convert(made, came, to)
    except LockstepError as fault:
        got = fault.code, fault.pointer, expected in fault.expected
        assert got == ("BAD_VALUE", pointer, True), str(fault)
    else:
        raise AssertionError("taken")

for wrong, expected in (
    (None, "accelerator"),
    (b"", "accelerator"),
    (np.zeros(length, dtype=np.uint8), "accelerator"),
    (torch.zeros(length, dtype=torch.uint8, device="meta"), "accelerator"),
    (source[0].view(torch.complex64).conj(), "contiguous"),
    (torch._neg_view(source[0].view(torch.float16)), "contiguous"),
    (source[0].to_sparse(), "contiguous"),
    (source[0].reshape(2, -1).t(), "contiguous"),
):
    refused([wrong, *source[1:]], destination, "source buffer 0, kv", expected)
    refused(source, [wrong, *destination[1:]], "destination buffer 0, kv", expected)
for wrong in (None, iter(source), []):
    refused(wrong, destination, "source", "sequence")
    refused(source, wrong, "destination", "sequence")
print("refused")
"""
HOSTED = (
    REFUSED.partition("for wrong, expected")[0]
    + """
refused(source, destination, "source buffer 0, kv", "accelerator")
print("refused")
"""
)


def run(where: str, program: str = PROGRAM, **variables: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program, where],
        capture_output=True, text=True, env={**os.environ, **variables}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_kernel_moves_what_the_plan_says() -> None:
    assert run("cpu", TRITON_INTERPRET="1") == "same bytes\n"


def test_what_is_no_plain_tensor_is_refused() -> None:
    assert run("cpu", REFUSED, TRITON_INTERPRET="1") == "refused\n"


def test_tensors_of_the_cpu_are_refused_where_kernels_are_not_interpreted() -> None:
    assert run("cpu", HOSTED, TRITON_INTERPRET="0") == "refused\n"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no accelerator on this machine")
def test_on_a_device() -> None:
    assert run("cuda") == "same bytes\n"
    assert run("cuda", REFUSED) == "refused\n"
