"""vLLM's cache on a CPU: its own allocation, written by its CPU backend's compiled code."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.layouts.geometry import Geometry
from lockstep.observation.engines import vllm
from lockstep.observation.seen import Both, Cache
from lockstep.observation.writing import Writing

NAME = "vllm-cpu"
ENGINE = vllm.ENGINE
DISTRIBUTIONS = vllm.DISTRIBUTIONS
FILES = (*vllm.PLAN, "vllm/_custom_ops.py", "vllm/v1/attention/backends/cpu_attn.py")
WRITTEN_BY = (
    "CPUAttentionBackendImpl.do_kv_cache_update for the instructions it chooses, in memory of"
    " allocate_kv_cache: all tokens but one, and then the last"
)
GEOMETRY = Geometry(37, 2, 3, 32, 0, 0, "bfloat16")
"""The smallest head that the backend takes, and a second block that is not full."""
CACHES = (Cache("LBHNC", "vllm/vllm-cpu", ("bfloat16", "float16")),)
"""bfloat16 is packed for AMX where the processor has it; other types are for its vectors."""


def written(writing: Writing) -> Iterator[Both]:
    """Have the CPU backend write digits; errors as of `vllm.written`."""
    return vllm.probed("cpu", CACHES, writing)
