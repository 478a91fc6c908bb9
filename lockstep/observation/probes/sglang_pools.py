"""Have SGLang's pools write digits; run by the interpreter that has SGLang.

It needs what SGLang imports, and no device. Standard input has a request: the extents of the
geometry, `digits` (two texts of hex, a byte for each digit in the order (layers, 2, tokens, heads,
dim)), and `runs`, each with `dtype`, `block` (tokens of a page) and `cache`: pool or paged_pool, or
a layout of the host's pools. The answer has for each run its buffers (tensor, layer, extents), and
their bytes after each of the two, in hex.
"""

import json
import os
import sys
from types import SimpleNamespace
from typing import Any

POOLS = {"pool": 1, "paged_pool": 64}
"""Of the device's pools the tokens of a page, which are no block of their layouts."""
NAMED = ("nms", "qnms")
"""Operators of torchvision that SGLang's imports ask for by name alone."""


def main() -> None:
    """Answer one request."""
    import torch

    # SGLang logs to standard output, which is the answer's alone.
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    asked = json.load(sys.stdin)
    for name in NAMED:
        # torchvision as it is published brings its operators only with a device's libraries.
        if not hasattr(torch.ops.torchvision, name):
            torch.library.define(f"torchvision::{name}", "(Tensor a, Tensor b, float c) -> Tensor")
    with answer:
        json.dump({"runs": [written({**asked, **run}) for run in asked["runs"]]}, answer)


def written(asked: dict[str, Any]) -> dict[str, Any]:
    """Give a run: its buffers, and their bytes after each writing.

    Args:
        asked: the request, with the members of one run.
    """
    import torch

    write = pooled if asked["cache"] in POOLS else hosted
    shape = (asked["layers"], 2, asked["tokens"], asked["heads"], asked["dim"])
    held, buffers = [], []
    for text in asked["digits"]:
        whole = torch.frombuffer(bytearray.fromhex(text), dtype=torch.uint8).reshape(shape)
        found = write(asked, whole.to(getattr(torch, asked["dtype"])))
        held.append([memory(tensor).hex() for _, _, tensor in found])
        buffers = [
            {"tensor": name, "layer": layer, "extents": list(tensor.shape)}
            for name, layer, tensor in found
        ]
    return {"buffers": buffers, "held": held}


def pool_of(values: Any, page: int) -> Any:
    """Give a device's pool, on the CPU, that has room for whole pages of a request.

    Args:
        values: shape (layers, 2, tokens, heads, dim).
        page: tokens of a page.
    """
    from sglang.srt.mem_cache.memory_pool import MHATokenToKVPool

    layers, _, tokens, heads, dim = values.shape
    return MHATokenToKVPool(
        size=-(-tokens // page) * page, page_size=page, dtype=values.dtype, head_num=heads,
        head_dim=dim, layer_num=layers, device="cpu", enable_memory_saver=False,
    )  # fmt: skip


def pooled(asked: dict[str, Any], values: Any) -> list[tuple[str, int | None, Any]]:
    """Have a pool write a request's tokens to the slots that its allocator gives.

    Args:
        asked: the run.
        values: shape (layers, 2, tokens, heads, dim).
    """
    from sglang.srt.mem_cache.allocator.paged import PagedTokenToKVPoolAllocator
    from sglang.srt.mem_cache.allocator.token import TokenToKVPoolAllocator
    from sglang.srt.mem_cache.memory_pool import KVWriteLoc

    page, tokens = POOLS[asked["cache"]], values.shape[2]
    pool = pool_of(values, page)
    own = (values.dtype, "cpu", pool, False)
    allocator = (
        TokenToKVPoolAllocator(pool.size, *own)
        if page == 1
        else PagedTokenToKVPoolAllocator(pool.size, page, *own)
    )
    slots = allocator.alloc(pool.size)[:tokens]
    for layer, (keys, held) in enumerate(values):
        for part in (slice(0, tokens - 1), slice(tokens - 1, None)):
            # Of an attention layer its number is read, no more.
            one = SimpleNamespace(layer_id=layer)
            pool.set_kv_buffer(one, KVWriteLoc(slots[part]), keys[part], held[part])
    return [
        (name, layer, tensor)
        for name, tensors in (("k", pool.k_buffer), ("v", pool.v_buffer))
        for layer, tensor in enumerate(tensors)
    ]


def hosted(asked: dict[str, Any], values: Any) -> list[tuple[str, int | None, Any]]:
    """Have a host's pool take a request's pages as it takes those that a storage gives back.

    All layouts are given the same pages, in the order of their `get_dummy_flat_data_page`: keys and
    values, layer, token, head, dimension.
    """
    import torch
    from sglang.srt.mem_cache.pool_host.mha import MHATokenToKVPoolHost

    page = asked["block"]
    layers, _, tokens, heads, dim = values.shape
    device = pool_of(values, page)
    host = MHATokenToKVPoolHost(
        device.get_device_pool_infos()[0].buffer_info, 1.0, 0, page, asked["cache"],
        pin_memory=False, device_capacity_tokens=device.size, start_layer=0, end_layer=layers - 1,
        host_token_capacity=device.size,
    )  # fmt: skip
    whole = torch.zeros((2, layers, device.size, heads, dim), dtype=values.dtype)
    whole[:, :, :tokens] = values.transpose(0, 1)
    slots = host.alloc(device.size)
    for first in range(0, device.size, page):
        flat = whole[:, :, first : first + page].flatten()
        host.set_from_flat_data_page(int(slots[first]), flat)
    return [("kv", None, host.kv_buffer)]


def memory(tensor: Any) -> bytes:
    """Give the bytes of a buffer as the engine addresses it, which has to be one piece."""
    if not tensor.is_contiguous():
        raise SystemExit(f"a buffer of {tuple(tensor.shape)} has strides {tensor.stride()}")
    import torch

    return bytes(tensor.view(torch.uint8).numpy().tobytes())


if __name__ == "__main__":
    main()
