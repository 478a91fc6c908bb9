"""LMCache: the chunks that it gathers, and engines' paged memory as it scatters chunks to it.

Its operations run in torch, without a device, in the environment that has it. What it scatters to
is what LMCache takes an engine's layout for, as far as that is the engine's own.
"""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.layouts.geometry import Geometry
from lockstep.observation.seen import Both, Cache, both_of
from lockstep.observation.writing import Writing

NAME = "lmcache"
ENGINE = "lmcache"
"""What declarations of its layouts call it."""
DISTRIBUTIONS = ("lmcache",)
FILES = (
    "lmcache/v1/platform/torch_ops/mem_kernels.py",
    "lmcache/v1/platform/torch_ops/mp_mem_kernels.py",
)
WRITTEN_BY = (
    "device_ops of torch: chunks by multi_layer_kv_transfer and single_layer_kv_transfer, paged"
    " memory by multi_layer_block_kv_transfer"
)
GEOMETRY = Geometry(37, 2, 3, 8, 0, 0, "bfloat16")
"""Four extents that differ, and more than one block, the last of them not full."""
CACHES = (
    Cache("KV_2LTD", "lmcache/lmcache-kv-2ltd", ("bfloat16", "float16", "float32")),
    Cache("KV_2TD", "lmcache/lmcache-kv-2td", ("bfloat16",)),
    Cache("KV_T2D", "lmcache/lmcache-kv-t2d", ("bfloat16",)),
    Cache("NL_X_TWO_NB_BS_NH_HS", "vllm/vllm-0.22-nhd", ("bfloat16",)),
    Cache("NL_X_TWO_NB_NH_BS_HS", "vllm/vllm-0.22-hnd", ("bfloat16",)),
    Cache("NL_X_NB_TWO_BS_NH_HS", "vllm/vllm-0.23-nhd", ("bfloat16",)),
    Cache("NL_X_NB_TWO_NH_BS_HS", "vllm/vllm-0.23-hnd", ("bfloat16",)),
    Cache("NB_NL_TWO_BS_NH_HS", "vllm/vllm-cross-layer-nhd", ("bfloat16",)),
    Cache("NB_NL_TWO_NH_BS_HS", "trtllm/trtllm-pool", ("bfloat16",)),
)
BLOCK = 16
"""Of paged memory that a chunk is gathered from; the chunk has no blocks."""


def written(writing: Writing) -> Iterator[Both]:
    """Have LMCache move digits, and give what it wrote after each of them.

    Raises:
        LockstepError: ENGINE_NOT_OBSERVED.
    """
    request = writing.request(CACHES, BLOCK)
    for run in writing.environment.ask("lmcache_chunks.py", request)["runs"]:
        yield both_of(run)
