"""A seeded tiny checkpoint, the same bytes on every machine [MODEL-14] [MODEL-15].

Weights come of SHA-256 and integer arithmetic, and are integers of at most 8 bits times a power
of two: no logarithm or square root of a C library, and no rounding, in any stored dtype. The
file of weights is laid out here, since a library may order its header otherwise tomorrow.
"""

import hashlib
import json
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lockstep.certificate.write import write_file
from lockstep.engine.checkpoint import CONFIG, GENERATION_CONFIG, WEIGHTS
from lockstep.engine.config import ARCHITECTURE, MODEL_TYPE, ModelConfig
from lockstep.engine.tokenizer import byte_tokenizer
from lockstep.engine.weights import EMBEDDING, HEAD, tensor_shapes
from lockstep.errors import LockstepError

STORED_DTYPES = {"float32": "F32", "float16": "F16", "bfloat16": "BF16"}
LARGEST_SEED = (1 << 53) - 1
LARGEST_HEAD_DIM = 1024
STOP_TOKEN = 0

_HINT = "`lockstep model make-tiny --help` lists the options."


@dataclass(frozen=True)
class TinyModel:
    """What may be chosen of a tiny model.

    Attributes:
        seed: 0 to 2^53 - 1.
        head_dim: even, 2 to 1024; some engines ask for 64.
        dtype: stored dtype: float32, float16 or bfloat16; the numbers are the same.
        tied: whether the head is the embedding.

    Raises:
        LockstepError: USAGE, a value outside its range.
    """

    seed: int = 0
    head_dim: int = 16
    dtype: str = "float32"
    tied: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.seed <= LARGEST_SEED:
            raise LockstepError("USAGE", "/seed", f"0 to {LARGEST_SEED}", self.seed, _HINT)
        if not 2 <= self.head_dim <= LARGEST_HEAD_DIM or self.head_dim % 2:
            expected = f"an even number from 2 to {LARGEST_HEAD_DIM}"
            raise LockstepError("USAGE", "/head_dim", expected, self.head_dim, _HINT)
        if self.dtype not in STORED_DTYPES:
            raise LockstepError("USAGE", "/dtype", " or ".join(STORED_DTYPES), self.dtype, _HINT)

    @property
    def config(self) -> ModelConfig:
        """The configuration of the model."""
        return ModelConfig(
            vocab_size=256,
            hidden_size=64,
            intermediate_size=128,
            layers=2,
            heads=4,
            kv_heads=2,
            head_dim=self.head_dim,
            rms_norm_eps=1e-6,
            rope_theta=10000.0,
            tie_word_embeddings=self.tied,
            max_position_embeddings=4096,
            eos_token_ids=(STOP_TOKEN,),
        )


def make_tiny(folder: str | os.PathLike[str], model: TinyModel | None = None) -> Path:
    """Write a tiny model's folder, which appears whole or not at all, and give its path.

    Args:
        folder: absent as yet, or an empty folder.
        model: what to write; the default is `TinyModel()`.

    Raises:
        LockstepError: USAGE, there is something at `folder`.
        OSError: it cannot be written.
    """
    target = Path(folder)
    model = model or TinyModel()
    _assert_free(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    try:
        for name, data in tiny_files(model).items():
            write_file(made / name, data)
        made.chmod(0o755)
        _assert_free(target)
        # Onto an empty folder this is a rename too.
        made.replace(target)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    return target


def tiny_files(model: TinyModel) -> dict[str, bytes]:
    """Give the files of a tiny model by name."""
    return {
        CONFIG: _json(config_document(model.config, model.dtype)),
        GENERATION_CONFIG: _json({"eos_token_id": STOP_TOKEN}),
        WEIGHTS: _safetensors(model),
        **{name: _json(member) for name, member in byte_tokenizer().items()},
    }


def config_document(config: ModelConfig, dtype: str) -> dict[str, Any]:
    """Give config.json's content for a configuration, readable by transformers 4.51 and later."""
    return {
        "architectures": [ARCHITECTURE],
        "attention_bias": False,
        "attention_dropout": 0.0,
        "bos_token_id": None,
        "eos_token_id": list(config.eos_token_ids),
        "head_dim": config.head_dim,
        "hidden_act": "silu",
        "hidden_size": config.hidden_size,
        "intermediate_size": config.intermediate_size,
        "max_position_embeddings": config.max_position_embeddings,
        "model_type": MODEL_TYPE,
        "num_attention_heads": config.heads,
        "num_hidden_layers": config.layers,
        "num_key_value_heads": config.kv_heads,
        "rms_norm_eps": config.rms_norm_eps,
        "rope_scaling": None,
        "rope_theta": config.rope_theta,
        "sliding_window": None,
        "tie_word_embeddings": config.tie_word_embeddings,
        "torch_dtype": dtype,
        "use_cache": True,
        "use_sliding_window": False,
        "vocab_size": config.vocab_size,
    }


def tiny_tensor(seed: int, name: str, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Make a tensor of the tiny model [MODEL-15]."""
    count = int(np.prod(shape))
    if len(shape) == 1:
        stream = _stream(f"lockstep/tiny/1/{seed}/{name}/", count)
        integers = 96 + (stream % 64).astype(np.int32)
        exponent = 7
    else:
        stream = _stream(f"lockstep/tiny/1/{seed}/{name}/", 4 * count)
        integers = (stream % 64).astype(np.int32).reshape(count, 4).sum(axis=1, dtype=np.int32)
        integers -= 126
        exponent = 5
        if name != EMBEDDING:
            exponent += ((shape[1] - 1).bit_length() + 1) // 2 - (name == HEAD)
    return (integers.astype(np.float32) * np.float32(2.0**-exponent)).reshape(shape)


def _stream(prefix: str, count: int) -> NDArray[np.uint8]:
    """Give the first `count` bytes of SHA-256 in counter mode over a text."""
    start = hashlib.sha256(prefix.encode("ascii"))
    blocks = []
    for counter in range(-(-count // 32)):
        block = start.copy()
        block.update(str(counter).encode("ascii"))
        blocks.append(block.digest())
    return np.frombuffer(b"".join(blocks), np.uint8, count)


def _safetensors(model: TinyModel) -> bytes:
    """Lay out the file of weights: header of tensors by name, padded to 8 bytes, then data."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    parts: list[bytes] = []
    offset = 0
    for name, shape in sorted(tensor_shapes(model.config).items()):
        if name == HEAD and model.tied:
            continue
        data = _stored(tiny_tensor(model.seed, name, shape), model.dtype)
        end = offset + len(data)
        header[name] = {
            "dtype": STORED_DTYPES[model.dtype],
            "shape": list(shape),
            "data_offsets": [offset, end],
        }
        parts.append(data)
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode("ascii")
    text += b" " * (-len(text) % 8)
    return b"".join([len(text).to_bytes(8, "little"), text, *parts])


def _stored(values: NDArray[np.float32], dtype: str) -> bytes:
    """Encode values that each stored dtype holds exactly."""
    if dtype == "bfloat16":
        return (values.view(np.uint32) >> np.uint32(16)).astype("<u2").tobytes()
    return values.astype({"float32": "<f4", "float16": "<f2"}[dtype]).tobytes()


def _assert_free(target: Path) -> None:
    occupied = any(target.iterdir()) if target.is_dir() else target.is_symlink() or target.exists()
    if occupied:
        hint = "Name another folder, or remove what is there."
        raise LockstepError("USAGE", str(target), "nothing there, or an empty folder", hint=hint)


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=2, sort_keys=True) + "\n").encode("ascii")
