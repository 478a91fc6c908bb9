"""A ladder of computations of one model, and of what may pass for it, on the same texts [DIST-12].

From another schedule and other kernels, which an honest executor may have, over fewer bits to
another model. What each would have signed is observed here; what follows is for
`lockstep.claims.distance_calibration`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lockstep.engine.backends import open_backend
from lockstep.engine.checkpoint import COMPUTE_DTYPES, read_checkpoint
from lockstep.engine.model import Model
from lockstep.errors import LockstepError
from lockstep.sampling.bfloat16 import Bfloat16Backend
from lockstep.sampling.categorical import draw
from lockstep.sampling.forced import Chunk, Lanes, Rows, Schedule, Text, forced
from lockstep.sampling.number import of_units
from lockstep.sampling.parameters import Parameters
from lockstep.sampling.recast import WEIGHTS_CHANGES, blended, halved, recast
from lockstep.sampling.seed import Origin, derive_seed
from lockstep.sampling.support import Support, choose, units_of

ALONE = Schedule("each text alone")
CHUNKED = Schedule("7 tokens a step, texts together", 7, True)
DECODED = Schedule("1 token a step, texts together", 1, True)
AS_STORED = "as stored"
PROMPT_TOKENS = 24

Pairs = tuple[tuple[str, str], ...]
"""Tokens with their log-probabilities, in string order."""

Progress = Callable[[str, int, int], None]


class Rung(NamedTuple):
    """A computation.

    Attributes:
        name: of the rung.
        weights: `as stored`, a change of `WEIGHTS_CHANGES`, `half of the layers` or `another
            model's`.
        backend: what computes; `host_bfloat16` for bfloat16.
        dtype: of activations.
        schedule: in which shapes.
    """

    name: str
    weights: str = AS_STORED
    backend: str = "host"
    dtype: str = "float32"
    schedule: Schedule = ALONE


REFERENCE = Rung("reference")
HALF, OTHER = "half of the layers", "another model's"
RUNGS = (
    Rung("chunked", schedule=CHUNKED),
    Rung("decoded", schedule=DECODED),
    Rung("other_kernels", backend="fast"),
    Rung("other_kernels_chunked", backend="fast", schedule=CHUNKED),
    Rung("float16", dtype="float16"),
    Rung("bfloat16", "bfloat16", "host_bfloat16", "bfloat16"),
    Rung("int8", "int8"),
    Rung("int4", "int4"),
    Rung("smaller", HALF),
    Rung("other_model", OTHER),
)
HONEST = 4
"""Rungs that are the model as it is stored, in the dtype of the reference."""


def rungs_of(with_other: bool) -> tuple[Rung, ...]:
    """Give the rungs, with another model or without one where none has the vocabulary."""
    return RUNGS if with_other else RUNGS[:-1]


class Signed(NamedTuple):
    """A rung with what it would have signed.

    Attributes:
        rung: the computation.
        model_sha256: of the checkpoint that computed.
        supports: of each text, at each of its tokens.
    """

    rung: Rung
    model_sha256: str
    supports: tuple[tuple[Pairs, ...], ...]


@dataclass(frozen=True)
class Ladder:
    """What was observed.

    Attributes:
        model_sha256: of the model that is calibrated.
        stored_dtype: of its files.
        vocab_size: of its logits.
        support_tokens: of every support.
        reference: what computed `recomputed`.
        texts: what was computed.
        recomputed: of each text, at each of its tokens, what every rung can be measured by.
        rungs: in the order in which they would be accepted.
    """

    model_sha256: str
    stored_dtype: str
    vocab_size: int
    support_tokens: int
    reference: Rung
    texts: tuple[Text, ...]
    recomputed: tuple[tuple[Pairs, ...], ...]
    rungs: tuple[Signed, ...]


class _Opened(NamedTuple):
    model: Model
    sha256: str
    stored_dtype: str


def observe(
    folder: Path,
    scratch: Path,
    progress: Progress,
    *,
    smaller: Path | None = None,
    other: Path | None = None,
    rungs: Sequence[Rung] = RUNGS,
    reference: Rung = REFERENCE,
    support_tokens: int = 8,
    texts: int = 8,
    tokens: int = 32,
) -> Ladder:
    """Compute texts by the reference and by each rung.

    Args:
        folder: of the model that is calibrated.
        scratch: a folder in which checkpoints are written.
        progress: told of each computation.
        smaller: folder of a smaller model with the same vocabulary; None for half of the layers.
        other: folder of a model that has nothing to do with it; None for a tiny one.
        rungs: in order.
        reference: what computes the model.
        support_tokens: of every support.
        texts: how many.
        tokens: of each, after its prompt.

    Raises:
        LockstepError: as the engine does; NOT_COMPARABLE, a rung's model has another vocabulary.
    """
    whole = len(rungs) + 1
    progress("computing the reference", 0, whole)
    opened = _open(folder, reference)
    vocab_size = opened.model.config.vocab_size
    wanted = Parameters("1", support_tokens)
    made = sampled(opened.model, wanted, texts, tokens)
    rows = forced(opened.model, made, reference.schedule)
    tops = [[support_of(row, wanted) for row in text] for text in rows]
    signed = []
    for number, rung in enumerate(rungs, 1):
        progress(f"computing the rung {rung.name}", number, whole)
        source = _source(rung, folder, scratch, smaller, other)
        with_rung = _open(source, rung)
        if with_rung.model.config.vocab_size != vocab_size:
            got = with_rung.model.config.vocab_size
            place = f"{source}:/vocab_size"
            raise LockstepError("NOT_COMPARABLE", place, f"{vocab_size}, as the model's", got)
        found = forced(with_rung.model, made, rung.schedule)
        supports = tuple(tuple(support_of(row, wanted).texts() for row in text) for text in found)
        signed.append(Signed(rung, with_rung.sha256, supports))
    recomputed = tuple(
        tuple(
            _needed(rows[i][j], tops[i][j], [one.supports[i][j] for one in signed])
            for j in range(len(rows[i]))
        )
        for i in range(len(rows))
    )
    return Ladder(
        opened.sha256,
        opened.stored_dtype,
        vocab_size,
        support_tokens,
        reference,
        made,
        recomputed,
        tuple(signed),
    )


def support_of(row: Rows, parameters: Parameters) -> Support:
    """Give the support that enters a draw [ENG-14].

    Args:
        row: log-probabilities of all tokens.
        parameters: of the sampler.
    """
    return choose(np.arange(len(row)), units_of(row), parameters, len(row))


def token_of(support: Support, parameters: Parameters, seed: str) -> int:
    """Give the token that the sampler draws of a support."""
    return int(draw(support.weights(parameters), seed))


def sampled(model: Model, parameters: Parameters, texts: int, tokens: int) -> tuple[Text, ...]:
    """Write texts: prompts of no meaning, and what the model samples after them.

    Args:
        model: what samples, all texts side by side.
        parameters: of the sampler.
        texts: how many.
        tokens: of each, after its prompt.
    """
    prompts = [_prompt(number, model.config.vocab_size) for number in range(texts)]
    lanes = Lanes(model, [PROMPT_TOKENS + tokens - 1] * texts)
    fed = [Chunk(lane, prompt, 1) for lane, prompt in enumerate(prompts)]
    made: list[list[int]] = [[] for _ in prompts]
    for position in range(tokens):
        for lane, rows in enumerate(lanes.feed(fed)):
            seed = derive_seed(Origin(lane, f"ladder-{lane}"), 0, position)
            made[lane].append(token_of(support_of(rows[0], parameters), parameters, seed))
        fed = [Chunk(lane, (text[-1],), 1) for lane, text in enumerate(made)]
    return tuple(
        Text(f"text-{number}", prompt, tuple(made[number])) for number, prompt in enumerate(prompts)
    )


def _prompt(number: int, vocab_size: int) -> tuple[int, ...]:
    """Take numbers of 32 bits from SHA-256 in counter mode.

    Token 0, which often ends a text, is none of them.
    """
    stream = b"".join(
        hashlib.sha256(f"lockstep/ladder/1/{number}/{counter}".encode("ascii")).digest()
        for counter in range(-(-4 * PROMPT_TOKENS // 32))
    )
    numbers = np.frombuffer(stream, ">u4", PROMPT_TOKENS).tolist()
    return tuple(1 + value % (vocab_size - 1) for value in numbers)


def _needed(row: Rows, top: Support, signed: Sequence[Pairs]) -> Pairs:
    """Give the reference's numbers of its own likeliest tokens and of those that rungs signed."""
    tokens = {int(token) for pairs in signed for token, _ in pairs} | set(top.tokens.tolist())
    units = units_of(row)
    return tuple(sorted((str(token), of_units(int(units[token]))) for token in tokens))


def _source(
    rung: Rung, folder: Path, scratch: Path, smaller: Path | None, other: Path | None
) -> Path:
    """Give the folder of a rung's weights, written once."""
    if rung.weights == AS_STORED:
        return folder
    target = scratch / rung.weights.replace(" ", "_").replace("'", "")
    if rung.weights in WEIGHTS_CHANGES:
        return target if target.exists() else recast(folder, target, rung.weights)
    if rung.weights == HALF:
        return smaller or (target if target.exists() else halved(folder, target))
    return other or (target if target.exists() else blended(target, 2))


def _open(folder: Path, rung: Rung) -> _Opened:
    backend = (
        Bfloat16Backend()
        if rung.backend == Bfloat16Backend.name
        else open_backend(rung.backend, rung.dtype)
    )
    dtype = backend.dtype if backend.dtype in COMPUTE_DTYPES else "float32"
    checkpoint = read_checkpoint(folder, dtype)
    return _Opened(Model(checkpoint, backend), checkpoint.sha256, checkpoint.stored_dtype)
