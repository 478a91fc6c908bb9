"""A model opened for a claim: from a folder, or a tiny one made for it from its recipe."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lockstep.engine.backends import open_backend
from lockstep.engine.checkpoint import COMPUTE_DTYPES, Checkpoint, read_checkpoint, read_config
from lockstep.engine.environment import environment
from lockstep.engine.memory import require_free
from lockstep.engine.model import Model
from lockstep.engine.tiny import TinyModel, make_tiny
from lockstep.engine.weights import parameters
from lockstep.errors import LockstepError


@dataclass(frozen=True)
class Opened:
    """A model on a backend, and what a certificate says of both.

    Attributes:
        model: the checkpoint on the backend.
        checkpoint: what was read.
        recipe: of a tiny model that was made for this; None for one of a folder.
        requested_dtype: as asked for, None where it was left to the backend.
    """

    model: Model
    checkpoint: Checkpoint
    recipe: TinyModel | None
    requested_dtype: str | None

    def environment(self) -> dict[str, Any]:
        """Give the environment tuple, read back from the backend."""
        return environment(self.model.backend, self.requested_dtype)

    def statement(self) -> dict[str, Any]:
        """Give the model as certificates name it [FID-9]."""
        return {
            "sha256": self.checkpoint.sha256,
            "stored_dtype": self.checkpoint.stored_dtype,
            "dtype": self.model.backend.dtype,
            "vocab_size": self.model.config.vocab_size,
            "recipe": None if self.recipe is None else asdict(self.recipe),
        }


def open_model(source: Path | TinyModel, backend: str = "host", dtype: str | None = None) -> Opened:
    """Read a folder, or make the tiny model of a recipe, and put it on a backend.

    Raises:
        LockstepError: as `open_backend` and `read_checkpoint`; MEMORY_SHORT, the weights do not
            fit into memory.
    """
    opened = open_backend(backend, dtype)
    # The reference in float64 widens float32, which holds every stored dtype exactly.
    weights = opened.dtype if opened.dtype in COMPUTE_DTYPES else "float32"
    if isinstance(source, TinyModel):
        with tempfile.TemporaryDirectory() as scratch:
            checkpoint = read_checkpoint(make_tiny(Path(scratch, "tiny"), source), weights)
        return Opened(Model(checkpoint, opened), checkpoint, source, dtype)
    config, _ = read_config(source)
    needed = parameters(config) * np.dtype(opened.dtype).itemsize
    require_free(needed, opened.free_bytes(), str(source), f"weights in {opened.dtype}")
    checkpoint = read_checkpoint(source, weights)
    return Opened(Model(checkpoint, opened), checkpoint, None, dtype)


def open_stated(
    stated: Mapping[str, Any], backend: str, dtype: str | None, folder: Path | None = None
) -> Opened:
    """Open the model that a certificate names.

    Args:
        stated: what `Opened.statement` gave.
        backend: the backend's name.
        dtype: the compute dtype to request, None to leave it to the backend.
        folder: where the model lies; None for one that has a recipe.

    Raises:
        LockstepError: USAGE, there is neither recipe nor folder; SUBJECT_MISMATCH, the model has
            another digest than the certificate's.
    """
    recipe = stated["recipe"]
    if folder is None and recipe is None:
        expected = f"--model, the folder of the model {stated['sha256']}"
        raise LockstepError("USAGE", "--model", expected, "no folder, and no recipe to make it by")
    opened = open_model(TinyModel(**recipe) if folder is None else folder, backend, dtype)
    if opened.checkpoint.sha256 != stated["sha256"]:
        got = opened.checkpoint.sha256
        raise LockstepError("SUBJECT_MISMATCH", "/predicate/model/sha256", stated["sha256"], got)
    return opened
