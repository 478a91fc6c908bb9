"""SGLang: the pools of its device, on a CPU, and those of its hierarchical cache on the host.

The device's pools are written by their own call, which assigns by index where there is no device.
K and V of a layer, which it addresses apart, are halves of one allocation there. Between device and
host kernels copy, on a device alone; what a host's pool takes without one is a storage's pages.
Those of the layout page_head come in that layout's own order, and would show nothing of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.layouts.geometry import Geometry
from lockstep.observation.seen import Both, Cache, both_of
from lockstep.observation.writing import Writing

NAME = "sglang"
ENGINE = "sglang"
"""What declarations of its layouts call it."""
DISTRIBUTIONS = ("sglang",)
FILES = tuple(
    f"sglang/srt/mem_cache/{name}.py"
    for name in ("allocator/paged", "allocator/token", "memory_pool", "pool_host/base",
                 "pool_host/mha")
)  # fmt: skip
WRITTEN_BY = (
    "MHATokenToKVPool.set_kv_buffer without a device, all tokens but one and then the last;"
    " MHATokenToKVPoolHost.set_from_flat_data_page; torchvision's nms and qnms by name alone"
)
GEOMETRY = Geometry(69, 2, 3, 4, 0, 0, "bfloat16")
"""Four extents that differ, and a second page of 64 that is not full."""
CACHES = (
    Cache("pool", "sglang/sglang-token", ("bfloat16", "float16", "float32")),
    Cache("paged_pool", "sglang/sglang-page64", ("bfloat16",)),
    Cache("layer_first", "sglang/hicache-layer-first", ("bfloat16",)),
    Cache("page_first", "sglang/hicache-page-first", ("bfloat16",)),
    Cache("page_first_direct", "sglang/hicache-page-first-direct", ("bfloat16",)),
)
BLOCK = 1
"""Tokens of a page where the layout has no blocks."""


def written(writing: Writing) -> Iterator[Both]:
    """Have SGLang write digits, and give its buffers after each writing.

    Raises:
        LockstepError: ENGINE_NOT_OBSERVED.
    """
    request = writing.request(CACHES, BLOCK)
    # Devices are hidden: what is written here is what a CPU writes.
    hidden = {"CUDA_VISIBLE_DEVICES": ""}
    for run in writing.environment.ask("sglang_pools.py", request, hidden)["runs"]:
        yield both_of(run)
