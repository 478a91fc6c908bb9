"""A checkpoint's weights in fewer bits, or fewer of its layers, as a checkpoint of its own.

What an executor may serve in place of the model that was asked for. A recast model is written as
float32, which holds each of the roundings exactly, so that its folder is read like any other.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lockstep.engine.checkpoint import CONFIG, GENERATION_CONFIG, INDEX, WEIGHTS, read_config
from lockstep.engine.model_files import parse_object, read_bytes
from lockstep.engine.safetensors_file import SafetensorsFile
from lockstep.engine.tiny import TinyModel, tiny_files, tiny_tensor
from lockstep.engine.weights import EMBEDDING, HEAD, tensor_shapes
from lockstep.limits import MODEL_INDEX_BYTES

Float32 = NDArray[np.float32]
Change = Callable[[str, Float32], Float32]
"""Gives a tensor's new values from its name and its own."""

GROUP = 32
"""Inputs that share a scale at 4 bits; 8 bits have one for each output."""

_BLEND = 2.0**-7
"""What the second tiny model's weights count beside the first's, so that none has few bits."""


def bfloat16(values: Float32) -> Float32:
    """Round to the nearest bfloat16, ties to even; finite values."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    bits = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    rounded: Float32 = (bits & np.uint32(0xFFFF0000)).view(np.float32)
    return rounded.reshape(values.shape)


def integers(values: Float32, bits: int, group: int | None = None) -> Float32:
    """Round to multiples of a scale, of which the largest magnitude has the most that bits allow.

    Args:
        values: [outputs, inputs]; inputs are a multiple of `group`, else the row is one group.
        bits: with the sign.
        group: neighbours that share a scale; None for the whole row.
    """
    whole = group is None or values.shape[1] % group
    parts = values if whole else values.reshape(-1, group or 1)
    scale = np.abs(parts).max(axis=1, keepdims=True) / np.float32(2 ** (bits - 1) - 1)
    scale[scale == 0] = 1
    rounded: Float32 = (np.rint(parts / scale) * scale).astype(np.float32)
    return rounded.reshape(values.shape)


def _projection(name: str, values: Float32) -> bool:
    return values.ndim == 2 and name not in (EMBEDDING, HEAD)


WEIGHTS_CHANGES: dict[str, Change] = {
    "bfloat16": lambda name, values: bfloat16(values),
    "int8": lambda name, values: integers(values, 8) if _projection(name, values) else values,
    "int4": lambda name, values: (
        integers(values, 4, GROUP) if _projection(name, values) else values
    ),
}
"""How weights are rounded; embedding, head and norms stay as they are at 8 and 4 bits."""


def recast(source: Path, target: Path, change: str) -> Path:
    """Write a model's folder with its weights rounded.

    Args:
        source: the model's folder.
        target: a folder that is absent as yet.
        change: of `WEIGHTS_CHANGES`.

    Raises:
        LockstepError: as `SafetensorsFile`; OSError where it cannot be written.
    """
    turn = WEIGHTS_CHANGES[change]
    tensors = dict(_tensors(source))
    return _write(source, target, {}, {name: turn(name, tensors[name]) for name in tensors})


def halved(source: Path, target: Path) -> Path:
    """Write a model's folder with the first half of its layers, one at least: a smaller model.

    Raises:
        LockstepError: as `SafetensorsFile`; OSError where it cannot be written.
    """
    layers = max(1, read_config(source)[0].layers // 2)
    kept = {
        name: values
        for name, values in _tensors(source)
        if not name.startswith("model.layers.") or int(name.split(".")[2]) < layers
    }
    return _write(source, target, {"num_hidden_layers": layers}, kept)


def blended(target: Path, seed: int = 0) -> Path:
    """Write a tiny model whose weights have no few bits: two tiny models' sum, the second small.

    A tiny model's own weights are held exactly by every dtype [MODEL-14], and rounding them to
    bfloat16 changes nothing.

    Raises:
        OSError: it cannot be written.
    """
    recipe = TinyModel(seed)
    target.mkdir(parents=True)
    for name, data in tiny_files(recipe).items():
        if name != WEIGHTS:
            (target / name).write_bytes(data)
    tensors = {}
    for name, shape in tensor_shapes(recipe.config).items():
        first = tiny_tensor(seed, name, shape)
        second = tiny_tensor(seed + 1, name, shape) * np.float32(_BLEND)
        # Exact: 15 bits at most.
        tensors[name] = first if len(shape) == 1 else first + second
    _write_weights(target / WEIGHTS, tensors)
    return target


def _tensors(source: Path) -> Iterator[tuple[str, Float32]]:
    """Give a folder's tensors by name, widened to float32."""
    names = [WEIGHTS]
    if (source / INDEX).exists():
        index = parse_object(read_bytes(source / INDEX, MODEL_INDEX_BYTES), source / INDEX)
        names = sorted(set(index["weight_map"].values()))
    for name in names:
        file = SafetensorsFile(source / name)
        for tensor, entry in file.entries.items():
            stored = file.stored(tensor)
            if entry.dtype == "BF16":
                stored = np.left_shift(stored, 16, dtype=np.uint32).view(np.float32)
            yield tensor, stored.astype(np.float32)


def _write(
    source: Path, target: Path, members: Mapping[str, Any], tensors: Mapping[str, Float32]
) -> Path:
    """Write a folder of float32 weights with the source's configuration, but for some members."""
    target.mkdir(parents=True)
    document = parse_object(read_bytes(source / CONFIG), source / CONFIG)
    document.update(members)
    (target / CONFIG).write_text(json.dumps(document, indent=2, sort_keys=True) + "\n", "ascii")
    if (source / GENERATION_CONFIG).exists():
        (target / GENERATION_CONFIG).write_bytes(read_bytes(source / GENERATION_CONFIG))
    _write_weights(target / WEIGHTS, tensors)
    return target


def _write_weights(path: Path, tensors: Mapping[str, Float32]) -> None:
    """Lay out a file of weights as a tiny model's: header by name, padded to 8 bytes, data."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    offset = 0
    for name in sorted(tensors):
        end = offset + 4 * math.prod(tensors[name].shape)
        shape = list(tensors[name].shape)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode("ascii")
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name in sorted(tensors):
            file.write(tensors[name].astype("<f4").tobytes())
