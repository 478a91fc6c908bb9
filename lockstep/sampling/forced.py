"""Log-probabilities of given texts, whatever a model would have sampled itself [DIST-9].

Texts lie side by side in one pool, and a schedule says how many of their tokens one step computes,
and of which texts: an honest executor's batches are of some such shape.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lockstep.engine.batch import pack
from lockstep.engine.events import Work
from lockstep.engine.model import Model
from lockstep.errors import LockstepError

BLOCK_SIZE = 16
"""Slots of a block; bits do not depend on it [KERN-14]."""

STEP_ROWS = 256
"""Rows of one step, at most, where a schedule does not ask for fewer."""

Rows = NDArray[np.float32]
"""Log-probabilities: [tokens, vocabulary]."""


class Text(NamedTuple):
    """A prompt, and the tokens after it.

    Attributes:
        id: its name.
        prompt: token ids, 1 or more.
        tokens: token ids, 1 or more.
    """

    id: str
    prompt: tuple[int, ...]
    tokens: tuple[int, ...]


class Schedule(NamedTuple):
    """How texts are computed.

    Attributes:
        name: for people.
        chunk: tokens of a text in one step.
        together: whether all texts share each step, or one follows the other.
    """

    name: str
    chunk: int = STEP_ROWS
    together: bool = False


class Chunk(NamedTuple):
    """What a step computes of a text.

    Attributes:
        lane: which text.
        tokens: the next of it.
        wanted: log-probabilities are wanted after so many of them, the last ones.
    """

    lane: int
    tokens: tuple[int, ...]
    wanted: int


class Lanes:
    """Texts in one pool, each as far as it was fed.

    Args:
        model: what computes.
        lengths: tokens that each text may have.

    Raises:
        LockstepError: SEQUENCE_TOO_LONG, the model has fewer positions; MEMORY_SHORT.
    """

    def __init__(self, model: Model, lengths: Sequence[int]) -> None:
        most = model.config.max_position_embeddings
        if max(lengths) > most:
            expected = f"at most {most} tokens"
            raise LockstepError("SEQUENCE_TOO_LONG", "/texts", expected, max(lengths))
        counts = [-(-length // BLOCK_SIZE) for length in lengths]
        starts = np.cumsum([0, *counts]).tolist()
        self._model = model
        self._tables = [
            tuple(range(start, start + count)) for start, count in zip(starts, counts, strict=False)
        ]
        self._caches = model.new_caches(starts[-1], BLOCK_SIZE)
        self._fed = [0] * len(counts)

    def feed(self, chunks: Sequence[Chunk]) -> list[Rows]:
        """Compute one step, and give the rows that each chunk wants."""
        work = [
            Work(one.lane, self._fed[one.lane], one.tokens, self._tables[one.lane], False)
            for one in chunks
        ]
        ends = np.cumsum([len(one.tokens) for one in chunks])
        wanted = [
            np.arange(end - one.wanted, end) for one, end in zip(chunks, ends.tolist(), strict=True)
        ]
        batch = replace(pack(work, BLOCK_SIZE), output_rows=np.concatenate(wanted))
        logits = self._model.forward(batch, self._caches)
        for one in chunks:
            self._fed[one.lane] += len(one.tokens)
        backend = self._model.backend
        if not len(batch.output_rows):
            return [np.zeros((0, self._model.config.vocab_size), np.float32) for _ in chunks]
        rows = backend.numpy(backend.log_softmax(logits))
        return np.split(rows, np.cumsum([one.wanted for one in chunks])[:-1])


def forced(model: Model, texts: Sequence[Text], schedule: Schedule) -> list[Rows]:
    """Give the log-probabilities after which each token of each text stands.

    Args:
        model: what computes.
        texts: 1 or more.
        schedule: in which shapes.

    Raises:
        LockstepError: TOKEN_OUT_OF_RANGE; as `Lanes`.
    """
    _require_tokens(model, texts)
    groups = [list(texts)] if schedule.together else [[text] for text in texts]
    return [rows for group in groups for rows in _group(model, group, schedule.chunk)]


def _group(model: Model, texts: list[Text], size: int) -> Iterator[Rows]:
    # The last token's own successor is nobody's.
    whole = [(*text.prompt, *text.tokens[:-1]) for text in texts]
    lanes = Lanes(model, [len(tokens) for tokens in whole])
    found: list[list[Rows]] = [[] for _ in texts]
    for start in range(0, max(map(len, whole)), size):
        chunks = [
            Chunk(lane, part, _wanted(start, len(part), len(texts[lane].prompt)))
            for lane, tokens in enumerate(whole)
            if (part := tokens[start : start + size])
        ]
        for chunk, rows in zip(chunks, lanes.feed(chunks), strict=True):
            found[chunk.lane].append(rows)
    for parts in found:
        yield np.concatenate(parts)


def _wanted(start: int, count: int, prompt: int) -> int:
    """Count the rows of a chunk from the prompt's last token on."""
    return min(count, max(0, start + count - (prompt - 1)))


def _require_tokens(model: Model, texts: Sequence[Text]) -> None:
    size = model.config.vocab_size
    for text in texts:
        for token in (*text.prompt, *text.tokens):
            if not 0 <= token < size:
                expected = f"below {size}"
                raise LockstepError("TOKEN_OUT_OF_RANGE", f"/texts/{text.id}", expected, token)
