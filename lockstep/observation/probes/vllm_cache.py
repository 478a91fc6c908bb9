"""Have vLLM allocate its cache and write digits into it; run by the interpreter that has vLLM.

It needs vLLM and torch alone. Standard input has a request: `backend` (triton or cpu), the extents
of the geometry, `digits` (two texts of hex, a byte for each digit in the order (layers, 2, tokens,
heads, dim)), and `runs`, each with `cache` (of vLLM's KVCacheLayout), `block` and `dtype`. The
answer has for each run the bytes of the allocation after each of the two, in hex, and its
extents in memory's order.
"""

import json
import os
import sys
from types import SimpleNamespace
from typing import Any


def main() -> None:
    """Answer one request."""
    # vLLM logs to standard output, which is the answer's alone.
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    asked = json.load(sys.stdin)
    with answer:
        json.dump({"runs": [written({**asked, **run}) for run in asked["runs"]]}, answer)


def written(asked: dict[str, Any]) -> dict[str, Any]:
    """Give a run: extents of its allocation in memory's order, and bytes after each writing.

    Args:
        asked: the request, with the members of one run.
    """
    held, extents = [], None
    for text in asked["digits"]:
        caches, extents = allocated(asked)
        for layer, cache in enumerate(caches):
            write(asked, layer, cache, bytes.fromhex(text))
        held.append(storage(caches[0]).hex())
    return {"extents": extents, "held": held}


def allocated(asked: dict[str, Any]) -> tuple[list[Any], list[int]]:
    """Have vLLM lay out and allocate the caches of all layers, as its workers do.

    Returns:
        vLLM's view of each layer, and the extents of the whole in memory's order.
    """
    import torch
    from vllm.config import VllmConfig
    from vllm.v1.core.kv_cache_utils import get_kv_cache_config_from_groups
    from vllm.v1.kv_cache_interface import FullAttentionSpec, KVCacheGroupSpec, KVCacheLayout
    from vllm.v1.worker.utils import allocate_kv_cache

    kind, block = getattr(torch, asked["dtype"]), asked["block"]
    blocks = -(-asked["tokens"] // block)
    settings = VllmConfig()
    settings.cache_config.kv_cache_layout = asked["cache"]
    settings.cache_config.num_gpu_blocks_override = blocks
    spec = FullAttentionSpec(
        block_size=block, num_kv_heads=asked["heads"], head_size=asked["dim"], dtype=kind
    )
    names = [f"model.layers.{layer}.attn" for layer in range(asked["layers"])]
    plan = get_kv_cache_config_from_groups(settings, [KVCacheGroupSpec(names, spec)], 1 << 30)
    order = KVCacheLayout[asked["cache"]]
    made = allocate_kv_cache(plan, torch.device("cpu"), order, [block])
    logical = (asked["layers"], blocks, asked["heads"], block, 2 * asked["dim"])
    return [made[name] for name in names], [logical[axis] for axis in order.value]


def write(asked: dict[str, Any], layer: int, cache: Any, digits: bytes) -> None:
    """Write one layer by the backend's own call: all tokens but one, and then the last."""
    import torch

    shape = (asked["layers"], 2, asked["tokens"], asked["heads"], asked["dim"])
    whole = torch.frombuffer(bytearray(digits), dtype=torch.uint8).reshape(shape)
    keys, values = whole[layer].to(getattr(torch, asked["dtype"]))
    impl, own = backend(asked)
    # The constructor asks for a model; this is what the write reads of it.
    impl = impl.__new__(impl)
    impl.attn_type, impl.kv_cache_dtype = "decoder", "auto"
    impl.head_size, impl._is_per_token_head_quant = asked["dim"], False
    slots = torch.arange(asked["tokens"])
    for part in (slice(0, asked["tokens"] - 1), slice(asked["tokens"] - 1, None)):
        impl.do_kv_cache_update(own, keys[part], values[part], cache, slots[part])


def backend(asked: dict[str, Any]) -> tuple[Any, Any]:
    """Give the class of the attention backend, and what it reads of a layer."""
    import torch

    if asked["backend"] == "cpu":
        from vllm.v1.attention.backends import cpu_attn

        isa = cpu_attn._get_attn_isa(
            getattr(torch, asked["dtype"]), asked["block"], asked["dim"], "auto"
        )
        own = SimpleNamespace(isa=isa, _k_scale_float=1.0, _v_scale_float=1.0)
        return cpu_attn.CPUAttentionBackendImpl, own
    from vllm.triton_utils import HAS_TRITON
    from vllm.v1.attention.backends import triton_attn

    if not HAS_TRITON:
        raise SystemExit("vLLM has turned Triton off: install triton, and metadata named vllm")
    # A device would be asked for it to choose the size of a tile, no more.
    torch.cuda.get_device_capability = lambda *_: (9, 0)
    one = torch.ones(1)
    return triton_attn.TritonAttentionImpl, SimpleNamespace(_k_scale=one, _v_scale=one)


def storage(tensor: Any) -> bytes:
    """Give all bytes that lie under a tensor."""
    import torch

    held = torch.empty(0, dtype=torch.uint8).set_(tensor.untyped_storage())
    return bytes(held.numpy().tobytes())


if __name__ == "__main__":
    main()
