"""The logits of one request alone, from the engine's one forward path."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lockstep.engine.batch import Batch
from lockstep.engine.model import Model
from lockstep.fidelity.corpus import Prompt

BLOCK_SIZE = 16
"""Slots of a block; bits do not depend on it [KERN-14]."""

ROWS = 256
"""Rows of one forward."""


def forward(model: Model, prompt: Prompt) -> NDArray[np.floating]:
    """Compute a prompt by itself, and give the logits at its positions.

    Returns:
        [positions, vocabulary], float32, or float64 of a backend that computes in it.
    """
    length = len(prompt.tokens)
    tokens = np.array(prompt.tokens, dtype=np.int64)
    wanted = np.array(prompt.positions, dtype=np.int64)
    table = np.arange(-(-length // BLOCK_SIZE), dtype=np.int32)
    caches = model.new_caches(len(table), BLOCK_SIZE)
    parts = []
    for start in range(0, length, ROWS):
        positions = np.arange(start, min(start + ROWS, length), dtype=np.int64)
        here = wanted[(wanted >= start) & (wanted < start + ROWS)]
        batch = Batch(
            tokens=tokens[positions],
            positions=positions,
            tables=np.tile(table, (len(positions), 1)),
            slots=positions,
            lengths=(positions + 1).astype(np.int32),
            output_rows=here - start,
        )
        parts.append(model.backend.numpy(model.forward(batch, caches)))
    return np.concatenate(parts)
