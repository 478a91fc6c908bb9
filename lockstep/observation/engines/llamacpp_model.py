"""A model for llama.cpp that writes given numbers into its cache, by computing with exact steps.

Each token's embedding has one element that is not zero. RMSNorm scales it by a power of two, a
projection then selects one column of its weights, and with no attention and no MLP (their output
weights are zero) every layer sees the same. RoPE is scaled until it turns by nothing.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lockstep.layouts.geometry import Geometry
from lockstep.observation.numbers import DIGITS, Digits

Tensors = dict[str, NDArray[np.float32]]

ALIGNMENT = 32
"""Bytes to which a tensor's data is aligned, GGUF's default."""
VERSION = 3
F32 = 0
NO_TURN = 1e30
"""Factor of linear RoPE scaling: an angle of tokens / 1e30 leaves every number as it is."""
EPSILON = 1e-12
"""Of RMSNorm: 1 + it is 1 as a float32."""


def prompts(geometry: Geometry) -> dict[str, list[int]]:
    """Give the token ids that write the low digits, and those that write the high ones."""
    return {
        "low": list(range(geometry.tokens)),
        "high": list(range(geometry.tokens, 2 * geometry.tokens)),
    }


def gguf(geometry: Geometry, values: Mapping[str, Digits]) -> bytes:
    """Give the model's file.

    Args:
        geometry: of the cache that is to be written.
        values: digits by name, of shape (layers, 2, tokens, kv_heads, head_dim).
    """
    # A power of four, so that its root is exact.
    width = 4
    while width < 2 * geometry.tokens:
        width *= 4
    tensors = _tensors(geometry, values, width)
    named = _metadata(geometry, width)
    head = struct.pack("<4sIQQ", b"GGUF", VERSION, len(tensors), len(named))
    head += b"".join(_text(name) + _value(value) for name, value in named.items())
    offset = 0
    for name, tensor in tensors.items():
        shape = tensor.shape[::-1]
        head += _text(name) + struct.pack(f"<I{len(shape)}Q", len(shape), *shape)
        head += struct.pack("<IQ", F32, offset)
        offset += -(-tensor.nbytes // ALIGNMENT) * ALIGNMENT
    return _aligned(head) + b"".join(_aligned(one.tobytes()) for one in tensors.values())


def _tensors(geometry: Geometry, values: Mapping[str, Digits], width: int) -> Tensors:
    """Give the weights by GGUF's names, in the order of the file."""
    size = geometry.kv_heads * geometry.head_dim
    root = float(width**0.5)

    def zeros(rows: int) -> NDArray[np.float32]:
        return np.zeros((rows, width), dtype=np.float32)

    def ones(value: float) -> NDArray[np.float32]:
        return np.full(width, value, dtype=np.float32)

    made = {
        "token_embd.weight": np.float32(root) * np.eye(width, dtype=np.float32),
        "output_norm.weight": ones(1),
        "output.weight": zeros(width),
    }
    for layer in range(geometry.layers):
        at = f"blk.{layer}"
        made[f"{at}.attn_norm.weight"] = ones(1 / root)
        made[f"{at}.attn_q.weight"] = zeros(size)
        for side, name in enumerate(("attn_k", "attn_v")):
            # Rows are the outputs (head, dim); the columns those of the tokens' elements.
            weight = zeros(size)
            for number, digit in enumerate(DIGITS):
                first = number * geometry.tokens
                columns = values[digit][layer, side].reshape(geometry.tokens, size).T
                weight[:, first : first + geometry.tokens] = columns
            made[f"{at}.{name}.weight"] = weight
        made[f"{at}.attn_output.weight"] = np.zeros((width, size), dtype=np.float32)
        made[f"{at}.ffn_norm.weight"] = ones(1)
        for name in ("ffn_gate", "ffn_up", "ffn_down"):
            made[f"{at}.{name}.weight"] = zeros(width)
    return made


def _metadata(geometry: Geometry, width: int) -> dict[str, Any]:
    """Give what GGUF's header says of the model and of its tokens."""
    return {
        "general.architecture": "llama",
        "llama.context_length": 4096,
        "llama.embedding_length": width,
        "llama.block_count": geometry.layers,
        "llama.feed_forward_length": width,
        "llama.attention.head_count": geometry.kv_heads,
        "llama.attention.head_count_kv": geometry.kv_heads,
        "llama.attention.key_length": geometry.head_dim,
        "llama.attention.value_length": geometry.head_dim,
        "llama.attention.layer_norm_rms_epsilon": EPSILON,
        "llama.rope.dimension_count": geometry.head_dim,
        "llama.rope.scaling.type": "linear",
        "llama.rope.scaling.factor": NO_TURN,
        "llama.vocab_size": width,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "gpt-2",
        "tokenizer.ggml.tokens": [f"<{number}>" for number in range(width)],
        "tokenizer.ggml.token_type": [1] * width,
        # The reader asks for a list that is not empty; a merge into no token is none.
        "tokenizer.ggml.merges": ["! !"],
        "tokenizer.ggml.add_bos_token": False,
    }


def _value(value: Any) -> bytes:
    """Encode a value of the header with its type: text, truth, number, or a list of one type."""
    if isinstance(value, list):
        kind, _ = _typed(value[0])
        body = b"".join(_typed(one)[1] for one in value)
        # Kinds of token are signed, as nothing else here is.
        kind = 5 if kind == 4 else kind
        return struct.pack("<IIQ", 9, kind, len(value)) + body
    kind, body = _typed(value)
    return struct.pack("<I", kind) + body


def _typed(value: Any) -> tuple[int, bytes]:
    if isinstance(value, str):
        return 8, _text(value)
    if isinstance(value, bool):
        return 7, struct.pack("<?", value)
    if isinstance(value, int):
        return 4, struct.pack("<I", value)
    return 6, struct.pack("<f", value)


def _text(text: str) -> bytes:
    data = text.encode("utf-8")
    return struct.pack("<Q", len(data)) + data


def _aligned(data: bytes) -> bytes:
    return data + bytes(-len(data) % ALIGNMENT)
