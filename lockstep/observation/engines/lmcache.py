"""LMCache: the chunks that it gathers, and engines' paged memory as it scatters chunks to it.

Its operations run in torch, without a device, in the environment that has it. What it scatters to
is what LMCache takes an engine's layout for, as far as that is the engine's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from lockstep.layouts import catalogue
from lockstep.layouts.geometry import Geometry
from lockstep.observation.environment import Environment
from lockstep.observation.numbers import DIGITS, Digits
from lockstep.observation.seen import Both, Cache, Memory, Wanted

NAME = "lmcache"
ENGINE = "lmcache"
"""What declarations of its layouts call it."""
DISTRIBUTION = "lmcache"
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


def written(
    wanted: Sequence[Wanted],
    geometry: Geometry,
    values: Mapping[str, Digits],
    environment: Environment,
) -> Iterator[Both]:
    """Have LMCache move digits, and give what it wrote after each of them.

    Args:
        wanted: runs, in the order in which they are given.
        geometry: of the request.
        values: digits by name, of shape (layers, 2, tokens, kv_heads, head_dim).
        environment: that has LMCache.

    Raises:
        LockstepError: ENGINE_NOT_OBSERVED.
    """
    block = {cache.name: catalogue.find(cache.layout).block or BLOCK for cache in CACHES}
    request = {
        "runs": [
            {"cache": one.cache, "block": block[one.cache], "dtype": one.dtype} for one in wanted
        ],
        "layers": geometry.layers,
        "tokens": geometry.tokens,
        "heads": geometry.kv_heads,
        "dim": geometry.head_dim,
        "digits": [values[name].astype("uint8").tobytes().hex() for name in DIGITS],
    }
    for run in environment.ask("lmcache_chunks.py", request)["runs"]:
        low, high = (
            tuple(
                Memory("kv", buffer["layer"], tuple(buffer["extents"]), bytes.fromhex(text))
                for buffer, text in zip(run["buffers"], held, strict=True)
            )
            for held in run["held"]
        )
        yield low, high
