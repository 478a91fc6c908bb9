"""Log-probabilities of a step's rows, for the requests that asked for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lockstep.engine.backend import Backend
from lockstep.serve.ticket import Scored

Float32 = NDArray[np.float32]


class Row(NamedTuple):
    """A row to score: its logits [vocabulary], the token that followed, and how many besides."""

    logits: Float32
    token: int
    top: int


def score(backend: Backend, rows: Sequence[Row]) -> list[Scored]:
    """Give the log-probabilities of rows, by the backend's own log_softmax [KERN-18]."""
    if not rows:
        return []
    logits = np.stack([row.logits for row in rows])
    found: Float32 = backend.numpy(backend.log_softmax(backend.array(logits)))
    return [_scored(values, row.token, row.top) for values, row in zip(found, rows, strict=True)]


def most_probable(values: Float32, count: int) -> list[int]:
    """Give the ids of the largest values, the largest first and among equals the lowest id."""
    if count < 1:
        return []
    count = min(count, len(values))
    least = np.partition(values, len(values) - count)[len(values) - count]
    candidates = np.flatnonzero(values >= least)
    order = np.argsort(-values[candidates], kind="stable")[:count]
    return [int(token) for token in candidates[order]]


def json_number(value: float) -> float:
    """Give a float32 as the double whose shortest decimal is the float32's shortest.

    So `json` writes -1.2345678, and whoever reads it and rounds to float32 has the value back.
    """
    narrow = np.float32(value)
    short = float(str(narrow))
    return short if np.float32(short) == narrow else float(narrow)


def _scored(values: Float32, token: int, top: int) -> Scored:
    own = values[token]
    before = int((values > own).sum()) + int((values[:token] == own).sum())
    best = tuple((other, float(values[other])) for other in most_probable(values, top))
    return Scored(token, float(own), before + 1, best)
