"""Have FlashInfer's reference write digits to pages; run by the interpreter that has FlashInfer.

It needs FlashInfer and torch alone, and no device. Standard input has a request: the extents of the
geometry, `digits` (two texts of hex, a byte for each digit in the order (layers, 2, tokens, heads,
dim)), and `runs`, each with `dtype`, `block` (tokens of a page) and `cache` (NHD or HND). The
answer has for each run its buffers (tensor, layer, extents), and their bytes after each of the two,
in hex.
"""

import json
import os
import sys
from typing import Any


def main() -> None:
    """Answer one request."""
    # Standard output is the answer's alone.
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    asked = json.load(sys.stdin)
    with answer:
        json.dump({"runs": [written({**asked, **run}) for run in asked["runs"]]}, answer)


def written(asked: dict[str, Any]) -> dict[str, Any]:
    """Give a run: its buffers, and their bytes after each writing.

    Args:
        asked: the request, with the members of one run.
    """
    import torch

    shape = (asked["layers"], 2, asked["tokens"], asked["heads"], asked["dim"])
    held, buffers = [], []
    for text in asked["digits"]:
        whole = torch.frombuffer(bytearray.fromhex(text), dtype=torch.uint8).reshape(shape)
        caches = [appended(asked, one) for one in whole.to(getattr(torch, asked["dtype"]))]
        held.append([one.view(torch.uint8).numpy().tobytes().hex() for one in caches])
        buffers = [
            {"tensor": "kv", "layer": layer, "extents": list(one.shape)}
            for layer, one in enumerate(caches)
        ]
    return {"buffers": buffers, "held": held}


def appended(asked: dict[str, Any], values: Any) -> Any:
    """Have the reference append one layer's tokens: all but one, and then the last.

    Pages are the caller's, of the shape that `append_paged_kv_cache` asks for.

    Args:
        asked: the run.
        values: shape (2, tokens, heads, dim).
    """
    import torch
    from flashinfer.trace.templates.page import append_paged_kv_cache_trace

    page, order, (_, tokens, heads, dim) = asked["block"], asked["cache"], values.shape
    pages = -(-tokens // page)
    inner = (page, heads) if order == "NHD" else (heads, page)
    cache = torch.zeros((pages, 2, *inner, dim), dtype=values.dtype)
    for first, end in ((0, tokens - 1), (tokens - 1, tokens)):
        used = -(-end // page)
        table = [torch.arange(used), torch.tensor([0, used]), torch.tensor([(end - 1) % page + 1])]
        append_paged_kv_cache_trace.reference(
            *values[:, first:end], torch.zeros(end - first, dtype=torch.int32),
            torch.arange(first, end), cache, *table, kv_layout=order,
        )  # fmt: skip
    return cache


if __name__ == "__main__":
    main()
