"""The records of F1: a backend's logits beside those of binary64 [FID-3]."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lockstep.engine.model import Model
from lockstep.fidelity.corpus import Prompt, require_corpus
from lockstep.fidelity.forward import forward

Progress = Callable[[str, int, int], None]

LARGEST = (1 << 53) - 1
"""What a larger number is told as."""

NAT = 10**18
ONE = 10**12


@dataclass(frozen=True)
class Record:
    """A position's measures, in the units of [FID-3]."""

    position: int
    kl: int
    error: int
    scale: int
    margin: int
    top: int
    reference_top: int


@dataclass(frozen=True)
class Measured:
    """A prompt, its records, and the golden digest of its logits [FID-8]."""

    prompt: Prompt
    records: tuple[Record, ...]
    logits_sha256: str


def measure(
    model: Model,
    reference: Model,
    progress: Progress = lambda what, done, whole: None,
    prompts: Sequence[Prompt] | None = None,
) -> tuple[Measured, ...]:
    """Compute the corpus on a backend and on the reference, prompt by prompt.

    Args:
        model: on the backend that is judged.
        reference: the same checkpoint on the backend `float64`.
        progress: told of each prompt.
        prompts: of the corpus; None for all of them.

    Raises:
        LockstepError: as `require_corpus`.
    """
    chosen = require_corpus(model) if prompts is None else prompts
    measured = []
    for done, prompt in enumerate(chosen):
        progress("computing the corpus", done, len(chosen))
        logits = forward(model, prompt)
        records = records_of(prompt.positions, logits, forward(reference, prompt))
        measured.append(Measured(prompt, records, logits_sha256(logits)))
    return tuple(measured)


def logits_sha256(logits: NDArray[np.floating]) -> str:
    """Give the golden digest of rows of logits, in hex."""
    return hashlib.sha256(np.ascontiguousarray(logits, dtype="<f4").tobytes()).hexdigest()


def records_of(
    positions: tuple[int, ...], logits: NDArray[np.floating], reference: NDArray[np.floating]
) -> tuple[Record, ...]:
    """Compare rows of logits [positions, vocabulary] with the reference's."""
    a, b = logits.astype(np.float64), reference.astype(np.float64)
    ordered = np.sort(b, axis=-1)
    with np.errstate(invalid="ignore"):
        error, scale = np.abs(a - b).max(axis=-1), np.abs(b).max(axis=-1)
        margin = ordered[:, -1] - ordered[:, -2]
    divergence = kl(a, b)
    return tuple(
        Record(
            position=position,
            kl=_up(divergence[row], NAT),
            error=_up(error[row], ONE),
            scale=max(1, _down(scale[row], ONE)),
            margin=_down(margin[row], ONE),
            top=int(a[row].argmax()),
            reference_top=int(b[row].argmax()),
        )
        for row, position in enumerate(positions)
    )


def kl(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give the divergence of softmax(a) from softmax(b), row by row, in nats.

    With d = a - b less its mean under p = softmax(b), the divergence is log E exp(d), and the sum
    of the differences exp(d) - 1 - d has no terms that cancel.
    """
    # What is not finite gives no number, which is told as the largest divergence.
    with np.errstate(over="ignore", invalid="ignore"):
        p = np.exp(b - b.max(axis=-1, keepdims=True))
        p /= p.sum(axis=-1, keepdims=True)
        d = a - b
        d = d - (p * d).sum(axis=-1, keepdims=True)
        result: NDArray[np.float64] = np.log1p((p * (np.expm1(d) - d)).sum(axis=-1))
    return result


def _up(value: float, unit: int) -> int:
    """Round a number up to a unit's parts; what is no number is as far off as can be told."""
    scaled = float(value) * unit
    return min(LARGEST, max(0, math.ceil(scaled))) if math.isfinite(scaled) else LARGEST


def _down(value: float, unit: int) -> int:
    scaled = float(value) * unit
    return min(LARGEST, max(0, math.floor(scaled))) if math.isfinite(scaled) else LARGEST
