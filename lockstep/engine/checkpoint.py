"""A checkpoint: configuration and weights of a Hugging Face folder, whole or not at all."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lockstep.certificate import lcj
from lockstep.engine.config import ModelConfig, model_config
from lockstep.engine.model_files import parse_object, read_bytes, sha256
from lockstep.engine.safetensors_file import SafetensorsFile
from lockstep.engine.weights import (
    EMBEDDING,
    HEAD,
    NORM,
    Array,
    LayerWeights,
    Weights,
    layer_shapes,
    layer_tensor,
    tensor_shapes,
)
from lockstep.errors import LockstepError
from lockstep.limits import MODEL_INDEX_BYTES

CONFIG = "config.json"
GENERATION_CONFIG = "generation_config.json"
WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"

STORED_DTYPES = {"F32": "float32", "F16": "float16", "BF16": "bfloat16"}
COMPUTE_DTYPES = ("float32", "float16")


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A model as it was read.

    Attributes:
        config: its configuration.
        weights: its weights, which nothing else holds.
        dtype: the compute dtype, of every weight.
        stored_dtype: the dtype in the files.
        files: SHA-256 in hex of each of the model's files, by name [MODEL-1].
        sha256: the model's digest, in hex [MODEL-3].
    """

    config: ModelConfig
    weights: Weights
    dtype: str
    stored_dtype: str
    files: dict[str, str]
    sha256: str


def read_checkpoint(folder: str | os.PathLike[str], dtype: str = "float32") -> Checkpoint:
    """Read a model's folder.

    Args:
        folder: the folder that holds config.json and the weights.
        dtype: compute dtype, float32 or float16.

    Raises:
        LockstepError: something is absent, damaged, or not as spec/model.md demands; the pointer
            names file and key.
    """
    if dtype not in COMPUTE_DTYPES:
        hint = "The stored dtype may be another: weights are widened or rounded to this one."
        raise LockstepError("USAGE", "/dtype", " or ".join(COMPUTE_DTYPES), dtype, hint)
    config, files = read_config(folder)
    weight_files, index = _weight_files(Path(folder))
    files.update(index)
    files.update({file.path.name: file.sha256 for file in weight_files})
    places = _places(weight_files, config, Path(folder))
    stored_dtype = _stored_dtype(places)
    tensors = _Tensors(places, dtype)
    weights = _weights(config, tensors)
    for file in weight_files:
        file.assert_unchanged()
    digest = hashlib.sha256(lcj.encode(files)).hexdigest()
    return Checkpoint(config, weights, dtype, stored_dtype, dict(sorted(files.items())), digest)


def read_config(folder: str | os.PathLike[str]) -> tuple[ModelConfig, dict[str, str]]:
    """Read a model's configuration alone, and the digests of the files that it stands in.

    Raises:
        LockstepError: as `read_checkpoint` does for these files.
    """
    config_path, generation_path = Path(folder, CONFIG), Path(folder, GENERATION_CONFIG)
    data = read_bytes(config_path)
    files = {CONFIG: sha256(data)}
    document = parse_object(data, config_path)
    generation: dict[str, Any] = {}
    if generation_path.exists():
        data = read_bytes(generation_path)
        files[GENERATION_CONFIG] = sha256(data)
        generation = parse_object(data, generation_path)
    return model_config(document, config_path, generation, generation_path), files


def _weight_files(folder: Path) -> tuple[list[SafetensorsFile], dict[str, str]]:
    """Open the files of weights; give with them the index's digest, if there is one [MODEL-10]."""
    single, index_path = folder / WEIGHTS, folder / INDEX
    if not index_path.exists():
        return [SafetensorsFile(single)], {}
    if single.exists():
        raise LockstepError(
            "CHECKPOINT_MALFORMED", str(folder), "one of the two", f"{WEIGHTS} and {INDEX}"
        )
    data = read_bytes(index_path, MODEL_INDEX_BYTES)
    weight_map = _weight_map(parse_object(data, index_path), index_path)
    files = [SafetensorsFile(folder / name) for name in sorted(set(weight_map.values()))]
    for file in files:
        for name in file.entries:
            if weight_map.get(name) != file.path.name:
                got = weight_map.get(name, "nothing")
                place = f"{INDEX} naming {file.path.name} for it"
                raise LockstepError("TENSOR_UNEXPECTED", f"{file.path}:/{name}", place, got)
    entries = {file.path.name: file.entries for file in files}
    for name, file_name in weight_map.items():
        if name not in entries[file_name]:
            where = f"{folder / file_name}:/{name}"
            raise LockstepError("TENSOR_MISSING", where, f"the tensor, as {INDEX} says")
    return files, {INDEX: sha256(data)}


def _weight_map(document: dict[str, Any], path: Path) -> dict[str, str]:
    """Take the index's map from tensors to files, whose names lead to no other folder."""
    weight_map = document.get("weight_map")
    where = f"{path}:/weight_map"
    if not isinstance(weight_map, dict) or not weight_map:
        raise LockstepError("CHECKPOINT_MALFORMED", where, "tensors with their files")
    for name, file_name in weight_map.items():
        if (
            not isinstance(file_name, str)
            or not file_name.endswith(".safetensors")
            or set(file_name) & set("/\\\0")
        ):
            expected = "a name without folder that ends in .safetensors"
            raise LockstepError("CHECKPOINT_MALFORMED", f"{where}/{name}", expected, file_name)
    return weight_map


def _places(
    files: list[SafetensorsFile], config: ModelConfig, folder: Path
) -> dict[str, SafetensorsFile]:
    """Give each tensor's file once names and shapes are exactly those asked for [MODEL-11]."""
    shapes = tensor_shapes(config)
    places: dict[str, SafetensorsFile] = {}
    for file in files:
        for name, entry in file.entries.items():
            where = f"{file.path}:/{name}"
            if name not in shapes:
                raise LockstepError("TENSOR_UNEXPECTED", where, "none of this name")
            if entry.shape != shapes[name]:
                raise LockstepError("TENSOR_SHAPE", where, list(shapes[name]), list(entry.shape))
            places[name] = file
    for name, shape in shapes.items():
        if name not in places and not (name == HEAD and config.tie_word_embeddings):
            where = f"{files[0].path if len(files) == 1 else folder / INDEX}:/{name}"
            raise LockstepError("TENSOR_MISSING", where, f"a tensor of shape {list(shape)}")
    return places


def _stored_dtype(places: dict[str, SafetensorsFile]) -> str:
    """Give the one dtype of all tensors [MODEL-12]."""
    first = places[EMBEDDING].entries[EMBEDDING].dtype
    for name, file in places.items():
        if file.entries[name].dtype != first:
            expected = f"{first}, as {EMBEDDING}"
            got = file.entries[name].dtype
            raise LockstepError("TENSOR_DTYPE", f"{file.path}:/{name}", expected, got)
    return STORED_DTYPES[first]


class _Tensors:
    """Tensors in the compute dtype, each a copy of its own [MODEL-13]."""

    def __init__(self, places: dict[str, SafetensorsFile], dtype: str) -> None:
        self._places = places
        self._dtype = np.dtype(dtype)

    def __contains__(self, name: str) -> bool:
        return name in self._places

    def assert_tied(self) -> None:
        """Refuse a head that is not, bit for bit, the embedding to which it is tied.

        Raises:
            LockstepError: TENSOR_VALUE.
        """
        head, embedding = (self._places[name].stored(name) for name in (HEAD, EMBEDDING))
        bits = f"u{head.itemsize}"
        if not np.array_equal(head.view(bits), embedding.view(bits)):
            where = f"{self._places[HEAD].path}:/{HEAD}"
            raise LockstepError("TENSOR_VALUE", where, f"the bytes of {EMBEDDING}, its tie")

    def take(self, name: str) -> Array:
        """Copy a tensor into the compute dtype.

        Raises:
            LockstepError: TENSOR_VALUE, it holds what is not finite there.
        """
        file = self._places[name]
        stored = file.stored(name)
        own = file.entries[name].dtype == "BF16"
        if own:
            stored = np.left_shift(stored, np.uint32(16), dtype=np.uint32).view(np.float32)
        with np.errstate(over="ignore"):
            # A view of the file must not outlive it; what was widened is no view.
            values: Array = stored.astype(self._dtype, copy=not own)
        if not np.isfinite(values).all():
            place = np.unravel_index(int(np.argmin(np.isfinite(values))), values.shape)
            got = f"{stored[place]} at {[int(index) for index in place]}"
            expected = f"finite values of {self._dtype.name}"
            raise LockstepError("TENSOR_VALUE", f"{file.path}:/{name}", expected, got)
        return values


def _weights(config: ModelConfig, tensors: _Tensors) -> Weights:
    """Take all tensors; a tied head that stands there is compared and left."""
    tied = config.tie_word_embeddings
    if tied and HEAD in tensors:
        tensors.assert_tied()
    names = layer_shapes(config)
    return Weights(
        embed_tokens=tensors.take(EMBEDDING),
        layers=tuple(
            LayerWeights(
                **{
                    attribute: tensors.take(layer_tensor(layer, name))
                    for attribute, (name, _) in names.items()
                }
            )
            for layer in range(config.layers)
        ),
        norm=tensors.take(NORM),
        lm_head=None if tied else tensors.take(HEAD),
    )
