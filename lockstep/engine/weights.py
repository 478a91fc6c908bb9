"""The weights of a Qwen3 model: names and shapes in a checkpoint, and attributes in the model."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lockstep.engine.config import ModelConfig

EMBEDDING = "model.embed_tokens.weight"
HEAD = "lm_head.weight"
NORM = "model.norm.weight"

Array = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class LayerWeights:
    """One layer's weights in the compute dtype; projections are [out, in], norms [n]."""

    input_layernorm: Array
    q_proj: Array
    k_proj: Array
    v_proj: Array
    o_proj: Array
    q_norm: Array
    k_norm: Array
    post_attention_layernorm: Array
    gate_proj: Array
    up_proj: Array
    down_proj: Array


@dataclass(frozen=True, eq=False)
class Weights:
    """All weights in the compute dtype.

    Attributes:
        embed_tokens: [vocab_size, hidden_size].
        layers: in the order in which they compute.
        norm: [hidden_size], before the head.
        lm_head: [vocab_size, hidden_size]; None when it is the embedding.
    """

    embed_tokens: Array
    layers: tuple[LayerWeights, ...]
    norm: Array
    lm_head: Array | None


def layer_shapes(config: ModelConfig) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Give, by attribute of `LayerWeights`, the tensor's name in a layer and its shape."""
    hidden, inner, head = config.hidden_size, config.intermediate_size, config.head_dim
    queries, keys = config.heads * head, config.kv_heads * head
    return {
        "input_layernorm": ("input_layernorm", (hidden,)),
        "q_proj": ("self_attn.q_proj", (queries, hidden)),
        "k_proj": ("self_attn.k_proj", (keys, hidden)),
        "v_proj": ("self_attn.v_proj", (keys, hidden)),
        "o_proj": ("self_attn.o_proj", (hidden, queries)),
        "q_norm": ("self_attn.q_norm", (head,)),
        "k_norm": ("self_attn.k_norm", (head,)),
        "post_attention_layernorm": ("post_attention_layernorm", (hidden,)),
        "gate_proj": ("mlp.gate_proj", (inner, hidden)),
        "up_proj": ("mlp.up_proj", (inner, hidden)),
        "down_proj": ("mlp.down_proj", (hidden, inner)),
    }


def layer_tensor(layer: int, name: str) -> str:
    """Give the full name of a layer's tensor."""
    return f"model.layers.{layer}.{name}.weight"


def tensor_shapes(config: ModelConfig) -> dict[str, tuple[int, ...]]:
    """Give the shape of every tensor of a model, the head's too where it is tied [MODEL-11]."""
    table = (config.vocab_size, config.hidden_size)
    shapes: dict[str, tuple[int, ...]] = {EMBEDDING: table}
    for layer in range(config.layers):
        for name, shape in layer_shapes(config).values():
            shapes[layer_tensor(layer, name)] = shape
    return {**shapes, NORM: (config.hidden_size,), HEAD: table}


def parameters(config: ModelConfig) -> int:
    """Count a model's parameters; those of a tied head are the embedding's."""
    return sum(
        math.prod(shape)
        for name, shape in tensor_shapes(config).items()
        if name != HEAD or not config.tie_word_embeddings
    )
