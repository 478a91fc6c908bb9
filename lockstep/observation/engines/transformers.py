"""The caches of transformers: what `Cache.update` leaves in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from lockstep.errors import LockstepError
from lockstep.layouts.geometry import Geometry
from lockstep.observation.numbers import DIGITS, Digits
from lockstep.observation.seen import Both, Cache, Memory
from lockstep.observation.writing import Writing

NAME = "transformers"
ENGINE = "transformers"
"""What declarations of its layouts call it."""
DISTRIBUTIONS = ("transformers",)
FILES = ("transformers/cache_utils.py",)
WRITTEN_BY = "Cache.update, a prompt of all tokens but one and then the last"
GEOMETRY = Geometry(21, 2, 3, 8, 0, 0, "bfloat16")
"""Four extents that differ; tokens are no multiple of what a static cache is padded to."""
WINDOW = 16
"""Tokens of the sliding window."""


def _dynamic(geometry: Geometry, dtype: Any) -> Any:
    from transformers import DynamicCache

    return DynamicCache()


def _static(geometry: Geometry, dtype: Any) -> Any:
    from transformers import StaticCache

    # A declaration pads to a multiple; the length that is asked for here is that.
    return StaticCache(_config(geometry), max_cache_len=_pitch(geometry))


def _sliding(geometry: Geometry, dtype: Any) -> Any:
    from transformers import DynamicCache

    return DynamicCache(config=_config(geometry, sliding_window=WINDOW))


_MAKERS: dict[str, Callable[[Geometry, Any], Any]] = {
    "dynamic": _dynamic,
    "static": _static,
    "sliding": _sliding,
}
CACHES = (
    Cache("dynamic", "huggingface/hf-dynamic", ("bfloat16", "float16", "float32")),
    # 512 tokens a head, of which 21 are written: one type is enough to carry.
    Cache("static", "huggingface/hf-static", ("bfloat16",)),
    # A window drops the tokens before it, which the declaration of the dynamic cache does not say.
    Cache("sliding", "huggingface/hf-dynamic", ("bfloat16",)),
)


def written(writing: Writing) -> Iterator[Both]:
    """Write digits through the engine's own call, and give its memory, each in its own cache.

    Args:
        writing: in Lockstep's own environment, which transformers is imported in.

    Raises:
        LockstepError: USAGE for another environment.
    """
    folder = writing.environment.folder
    if folder is not None:
        hint = "transformers is observed where Lockstep is installed."
        raise LockstepError("USAGE", "--environment", "none", str(folder), hint)
    for cache, dtype in writing.wanted:
        low, high = (write(cache, writing.geometry, dtype, writing.values[name]) for name in DIGITS)
        yield low, high


def write(cache: str, geometry: Geometry, dtype: str, values: Digits) -> tuple[Memory, ...]:
    """Write one digit of each number into a new cache, and give its memory."""
    import torch

    kind = getattr(torch, dtype)
    made = _MAKERS[cache](geometry, kind)
    # Keys and values are (batch, heads, tokens, dim) there.
    whole = torch.from_numpy(values).to(kind).permute(0, 1, 3, 2, 4).unsqueeze(2)
    for layer in range(geometry.layers):
        for part in (slice(0, geometry.tokens - 1), slice(geometry.tokens - 1, None)):
            keys, held = (whole[layer, side][:, :, part] for side in (0, 1))
            at = torch.arange(geometry.tokens)[part]
            made.update(keys, held, layer, {"cache_position": at})
    return tuple(
        _memory(name, layer, getattr(made.layers[layer], member))
        for name, member in (("k", "keys"), ("v", "values"))
        for layer in range(geometry.layers)
    )


def _memory(name: str, layer: int, tensor: Any) -> Memory:
    """Give the storage that lies under a tensor, whole."""
    import torch

    storage = torch.empty(0, dtype=torch.uint8).set_(tensor.untyped_storage())
    size = tensor.element_size()
    extents = tuple(tensor.shape)
    if not tensor.is_contiguous() or tensor.numel() * size != len(storage):
        # Axes in another order, or more memory than the tensor shows: no shape tells it.
        extents = (len(storage) // size,)
    return Memory(name, layer, extents, bytes(storage.numpy().tobytes()))


def _pitch(geometry: Geometry) -> int:
    from lockstep.layouts import catalogue
    from lockstep.layouts.realise import realise

    one = realise(catalogue.find("huggingface/hf-static"), geometry)
    return 0 if one is None else one.tensors[0].extent("T")


def _config(geometry: Geometry, **more: Any) -> Any:
    from transformers import Qwen3Config

    types = ["sliding_attention"] * geometry.layers if more else None
    return Qwen3Config(
        num_hidden_layers=geometry.layers,
        num_attention_heads=geometry.kv_heads,
        num_key_value_heads=geometry.kv_heads,
        head_dim=geometry.head_dim,
        hidden_size=geometry.kv_heads * geometry.head_dim,
        use_sliding_window=bool(more),
        layer_types=types,
        **more,
    )
