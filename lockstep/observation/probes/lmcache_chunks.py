"""Have LMCache move digits between its chunks and paged memory; run by the interpreter that has it.

It needs LMCache and torch alone, and no device: LMCache has these operations in torch, too.
Standard input has a request: the extents of the geometry, `digits` (two texts of hex, a byte for
each digit in the order (layers, 2, tokens, heads, dim)), and `runs`, each with `dtype`, `block` and
`cache`: a chunk's format (KV_2LTD, KV_2TD, KV_T2D), which is gathered from paged memory, or one of
LMCache's formats of engines, which is paged memory that a chunk is scattered to. The answer has for
each run its buffers (tensor, layer, extents), and their bytes after each of the two, in hex.
"""

import json
import os
import sys
from typing import Any

CHUNKS = ("KV_2LTD", "KV_2TD", "KV_T2D")


def main() -> None:
    """Answer one request."""
    # LMCache logs to standard output, which is the answer's alone.
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

    move = gathered if asked["cache"] in CHUNKS else scattered
    shape = (asked["layers"], 2, asked["tokens"], asked["heads"], asked["dim"])
    held, buffers = [], []
    for text in asked["digits"]:
        whole = torch.frombuffer(bytearray.fromhex(text), dtype=torch.uint8).reshape(shape)
        tensors = move(asked, whole.to(getattr(torch, asked["dtype"])))
        held.append([one.contiguous().view(torch.uint8).numpy().tobytes().hex() for one in tensors])
        one_each = len(tensors) == asked["layers"]
        buffers = [
            {"tensor": "kv", "layer": layer if one_each else None, "extents": list(one.shape)}
            for layer, one in enumerate(tensors)
        ]
    return {"buffers": buffers, "held": held}


def gathered(asked: dict[str, Any], values: Any) -> list[Any]:
    """Have LMCache gather a chunk from paged memory; of one layer each, but KV_2LTD.

    Args:
        asked: the run.
        values: shape (layers, 2, tokens, heads, dim).
    """
    import torch
    from lmcache import device_ops
    from lmcache.lmcache_native import EngineKVFormat, TransferDirection

    layers, _, tokens, heads, dim = values.shape
    block, form = asked["block"], EngineKVFormat.NL_X_TWO_NB_BS_NH_HS
    blocks = -(-tokens // block)
    paged = torch.zeros((layers, 2, blocks * block, heads, dim), dtype=values.dtype)
    paged[:, :, :tokens] = values
    slots = torch.arange(tokens)
    if asked["cache"] == "KV_2LTD":
        chunk = torch.zeros((2, layers, tokens, heads * dim), dtype=values.dtype)
        device_ops.multi_layer_kv_transfer(
            chunk, [one.reshape(2, blocks * block, heads * dim) for one in paged], slots,
            torch.device("cpu"), blocks * block, TransferDirection.D2H, form, block,
        )  # fmt: skip
        return [chunk]
    first = asked["cache"] == "KV_T2D"
    shape = (tokens, 2, heads * dim) if first else (2, tokens, heads * dim)
    chunks = [torch.zeros(shape, dtype=values.dtype) for _ in range(layers)]
    for chunk, one in zip(chunks, paged, strict=True):
        memory = one.reshape(2, blocks, block, heads, dim)
        device_ops.single_layer_kv_transfer(
            chunk, memory, slots, TransferDirection.D2H, form, token_major=first
        )
    return chunks


def scattered(asked: dict[str, Any], values: Any) -> list[Any]:
    """Have LMCache scatter a chunk to memory that it is given the addresses of, no more."""
    import torch
    from lmcache import device_ops
    from lmcache.lmcache_native import EngineKVFormat, TransferDirection

    layers, _, tokens, heads, dim = values.shape
    block = asked["block"]
    blocks = -(-tokens // block)
    whole = asked["cache"].startswith("NB_NL")
    count = 2 * blocks * block * heads * dim
    sizes = [layers * count] if whole else [count] * layers
    memory = [torch.zeros(size, dtype=values.dtype) for size in sizes]
    chunk = torch.zeros((2, layers, blocks * block, heads, dim), dtype=values.dtype)
    chunk[:, :, :tokens] = values.transpose(0, 1)
    shape = device_ops.PageBufferShapeDesc()
    for name, value in (
        ("kv_size", 2), ("nl", layers), ("nb", blocks), ("bs", block), ("nh", heads), ("hs", dim),
        ("element_size", values.dtype.itemsize), ("dtype", values.dtype),
    ):  # fmt: skip
        setattr(shape, name, value)
    device_ops.multi_layer_block_kv_transfer(
        torch.tensor([one.data_ptr() for one in memory], dtype=torch.int64),
        [chunk.reshape(2, layers, blocks * block, heads * dim)],
        list(range(blocks)), "cpu", TransferDirection.H2D, shape, blocks * block,
        getattr(EngineKVFormat, asked["cache"]), 0,
    )  # fmt: skip
    return memory


if __name__ == "__main__":
    main()
