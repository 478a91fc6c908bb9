"""A model's configuration, read from config.json and generation_config.json [MODEL-4]."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lockstep.errors import LockstepError
from lockstep.limits import MODEL_DIMENSION, MODEL_LAYERS, MODEL_POSITIONS

ARCHITECTURE = "Qwen3ForCausalLM"
MODEL_TYPE = "qwen3"

LARGEST_THETA = 10**12
"""The largest base of the rotary embedding; above any in use, and exact as binary64."""

SIZES = (
    ("vocab_size", "vocab_size", MODEL_DIMENSION),
    ("hidden_size", "hidden_size", MODEL_DIMENSION),
    ("intermediate_size", "intermediate_size", MODEL_DIMENSION),
    ("layers", "num_hidden_layers", MODEL_LAYERS),
    ("heads", "num_attention_heads", MODEL_DIMENSION),
    ("kv_heads", "num_key_value_heads", MODEL_DIMENSION),
    ("head_dim", "head_dim", MODEL_DIMENSION),
    ("max_position_embeddings", "max_position_embeddings", MODEL_POSITIONS),
)
"""Attribute, key of config.json, largest value [MODEL-5]."""

# Members that change the computation, and the only value of each that changes nothing [MODEL-8].
_WITHOUT_EFFECT = (
    ("attention_bias", False),
    ("mlp_bias", False),
    ("use_sliding_window", False),
    ("quantization_config", None),
    ("auto_map", None),
    ("partial_rotary_factor", None),
)
_ABSENT = object()
_HINT = "Obtain the whole checkpoint as published; spec/model.md lists what is read of it."


@dataclass(frozen=True)
class ModelConfig:
    """What the forward of a Qwen3 model needs to know; sizes in elements.

    Attributes:
        vocab_size: tokens are below it.
        hidden_size: width of the residual stream.
        intermediate_size: width of the SwiGLU.
        layers: decoder layers.
        heads: query heads.
        kv_heads: heads of keys and of values; divides `heads`.
        head_dim: width of a head, even; independent of hidden_size / heads.
        rms_norm_eps: added to the mean square.
        rope_theta: base of the rotary embedding.
        tie_word_embeddings: whether the head is the embedding.
        max_position_embeddings: positions are below it.
        eos_token_ids: the stop tokens, ascending [MODEL-9].
    """

    vocab_size: int
    hidden_size: int
    intermediate_size: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    rms_norm_eps: float
    rope_theta: float
    tie_word_embeddings: bool
    max_position_embeddings: int
    eos_token_ids: tuple[int, ...]


def model_config(
    document: dict[str, Any], path: Path, generation: dict[str, Any], generation_path: Path
) -> ModelConfig:
    """Read a configuration.

    Args:
        document: config.json, parsed.
        path: where it was read, for refusals.
        generation: generation_config.json, parsed; empty where there is none.
        generation_path: where that was read.

    Raises:
        LockstepError: MODEL_UNSUPPORTED, MISSING_FIELD, WRONG_TYPE or BAD_VALUE; the pointer names
            file and key.
    """
    _architecture(document, path)
    sizes = {attribute: _size(document, path, key, largest) for attribute, key, largest in SIZES}
    if sizes["heads"] % sizes["kv_heads"]:
        expected = f"a divisor of num_attention_heads, {sizes['heads']}"
        raise _bad(path, "num_key_value_heads", expected, sizes["kv_heads"])
    if sizes["head_dim"] % 2:
        raise _bad(path, "head_dim", "an even number", sizes["head_dim"])
    _without_effect(document, path, sizes["layers"])
    eps = _number(_required(document, path, "rms_norm_eps"), path, "rms_norm_eps")
    if not 0 < eps < 1:
        raise _bad(path, "rms_norm_eps", "above 0 and below 1", eps)
    tied = document.get("tie_word_embeddings", False)
    if type(tied) is not bool:
        raise _wrong(path, "tie_word_embeddings", "a boolean", tied)
    stops = _stop_tokens(document, path, sizes["vocab_size"])
    if generation.get("eos_token_id") is not None:
        stops = _stop_tokens(generation, generation_path, sizes["vocab_size"])
    return ModelConfig(
        **sizes,
        rms_norm_eps=eps,
        rope_theta=_rope_theta(document, path),
        tie_word_embeddings=tied,
        eos_token_ids=stops,
    )


def _architecture(document: dict[str, Any], path: Path) -> None:
    """Refuse another architecture first: its other keys would mislead [MODEL-4]."""
    wanted = {"architectures": [ARCHITECTURE], "model_type": MODEL_TYPE, "hidden_act": "silu"}
    for key, expected in wanted.items():
        got = _required(document, path, key)
        if got != expected:
            raise _unsupported(path, key, expected, got)


def _without_effect(document: dict[str, Any], path: Path, layers: int) -> None:
    """Refuse what the engine does not compute [MODEL-8]."""
    for key, allowed in _WITHOUT_EFFECT:
        got = document.get(key, allowed)
        if got is not allowed:
            expected = "null, or absent" if allowed is None else "false, or absent"
            raise _unsupported(path, key, expected, got)
    types = document.get("layer_types", _ABSENT)
    if types is not _ABSENT and types != ["full_attention"] * layers:
        expected = f"full_attention {layers} times, or absent"
        raise _unsupported(path, "layer_types", expected, types)


def _rope_theta(document: dict[str, Any], path: Path) -> float:
    """Find the base of the rotary embedding in either of its places [MODEL-7]."""
    found: dict[str, float] = {}
    if "rope_theta" in document:
        found["rope_theta"] = _number(document["rope_theta"], path, "rope_theta")
    for key in ("rope_parameters", "rope_scaling"):
        member = document.get(key)
        if member is None:
            continue
        if not isinstance(member, dict):
            raise _wrong(path, key, "an object", member)
        for name, value in member.items():
            below = f"{key}/{name}"
            if name == "rope_theta":
                found[below] = _number(value, path, below)
            elif name not in ("rope_type", "type") or value != "default":
                expected = "unscaled positions: rope_theta, and rope_type default"
                raise _unsupported(path, below, expected, value)
    if not found:
        raise _missing(path, "rope_theta")
    first = next(iter(found.values()))
    for key, theta in found.items():
        if theta != first:
            raise _bad(path, key, f"{first}, as in {next(iter(found))}", theta)
        if not 1 <= theta <= LARGEST_THETA:
            raise _bad(path, key, f"1 to {LARGEST_THETA}", theta)
    return first


def _stop_tokens(document: dict[str, Any], path: Path, vocab_size: int) -> tuple[int, ...]:
    """Read eos_token_id in each of its forms [MODEL-9]."""
    member = document.get("eos_token_id")
    if member is None:
        return ()
    tokens = member if isinstance(member, list) else [member]
    for token in tokens:
        if type(token) is not int:
            raise _wrong(path, "eos_token_id", "an integer, a list of integers or null", token)
        if not 0 <= token < vocab_size:
            raise _bad(path, "eos_token_id", f"0 to {vocab_size - 1}", token)
    return tuple(sorted(set(tokens)))


def _required(document: dict[str, Any], path: Path, key: str) -> Any:
    if key not in document:
        raise _missing(path, key)
    return document[key]


def _size(document: dict[str, Any], path: Path, key: str, largest: int) -> int:
    value = _required(document, path, key)
    if type(value) is not int:
        raise _wrong(path, key, "an integer", value)
    if not 1 <= value <= largest:
        raise _bad(path, key, f"1 to {largest}", value)
    return value


def _number(value: Any, path: Path, key: str) -> float:
    if type(value) not in (int, float):
        raise _wrong(path, key, "a number", value)
    # An integer too large for binary64 has no float; it is outside every range here.
    return float(value) if abs(value) < 1e300 else 1e300


def _missing(path: Path, key: str) -> LockstepError:
    expected = "a member of a Qwen3 configuration"
    return LockstepError("MISSING_FIELD", f"{path}:/{key}", expected, hint=_HINT)


def _unsupported(path: Path, key: str, expected: object, got: Any) -> LockstepError:
    return LockstepError("MODEL_UNSUPPORTED", f"{path}:/{key}", expected, _short(got))


def _wrong(path: Path, key: str, expected: str, got: Any) -> LockstepError:
    return LockstepError("WRONG_TYPE", f"{path}:/{key}", expected, type(got).__name__, _HINT)


def _bad(path: Path, key: str, expected: str, got: Any) -> LockstepError:
    return LockstepError("BAD_VALUE", f"{path}:/{key}", expected, _short(got), _HINT)


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
