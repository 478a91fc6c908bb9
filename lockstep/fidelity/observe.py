"""A run of F1 over the corpus, as the claim folds it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lockstep.engine.opening import open_model
from lockstep.errors import LockstepError
from lockstep.fidelity.measure import Progress, measure

if TYPE_CHECKING:
    from lockstep.claims.fidelity import FidelitySeen
    from lockstep.engine.tiny import TinyModel

REFERENCE = "float64"


def observe(
    source: Path | TinyModel,
    backend: str = "host",
    dtype: str | None = None,
    progress: Progress = lambda what, done, whole: None,
) -> FidelitySeen:
    """Measure a model on a backend beside the reference.

    Args:
        source: the model's folder, or a tiny model's recipe.
        backend: what is judged; any but the reference.
        dtype: compute dtype, None for the backend's own.
        progress: told of each prompt.

    Raises:
        LockstepError: USAGE, the backend is the reference; as `open_model` and `measure`.
    """
    from lockstep.claims.fidelity import FidelitySeen

    if backend == REFERENCE:
        raise LockstepError("USAGE", "--backend", f"another than {REFERENCE}", backend)
    opened = open_model(source, backend, dtype)
    reference = open_model(source, REFERENCE)
    measured = measure(opened.model, reference.model, progress)
    return FidelitySeen(opened.statement(), opened.environment(), reference.environment(), measured)
