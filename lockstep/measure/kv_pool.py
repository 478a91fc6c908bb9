"""The size of a server's KV pool, in its own words [PROBE-11]."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from lockstep.certify.adapters.adapter import Description
from lockstep.certify.launch import plain
from lockstep.measure.observation import Printed

_LINES = {
    "vllm": re.compile(r"(?:GPU|CPU) KV cache size: *[0-9,]+ tokens"),
    "sglang": re.compile(r"max_total_num_tokens=[0-9]+"),
    "llamacpp": re.compile(r"n_ctx +[=:] *[0-9]+"),
}
_METRICS = {
    "lockstep": re.compile(r"^lockstep_kv_blocks [0-9.]+$", re.MULTILINE),
    "vllm": re.compile(r"^vllm:cache_config_info\{.*num_gpu_blocks=\"[0-9]+\".*$", re.MULTILINE),
}


def printed(
    adapter: str, told: Description, metrics: str | None, lines: Sequence[str]
) -> Printed | None:
    """Give what a server prints of its pool: at its start, else among its metrics or settings.

    Args:
        adapter: name.
        told: what it says of itself.
        metrics: text; None where it has none.
        lines: of its start-up output.
    """
    match = _first(_LINES, adapter, "\n".join(lines))
    if match is not None:
        return Printed(match, "start-up output")
    match = _first(_METRICS, adapter, metrics or "")
    if match is not None:
        size = "" if told.block_size is None else f", block_size {told.block_size}"
        return Printed(f"{match}{size}"[:400], "/metrics")
    for one in told.settings:
        if one.name in ("ctx-size-of-a-slot", "max-batch-total-tokens"):
            return Printed(f"{one.name} {one.value}"[:400], one.source)
    return None


def _first(patterns: Mapping[str, re.Pattern[str]], adapter: str, text: str) -> str | None:
    pattern = patterns.get(adapter)
    match = None if pattern is None else pattern.search(text)
    return None if match is None else plain([match[0]])[0][:300]
