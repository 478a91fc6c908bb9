"""From logits to a token, by the sampler of spec/sampling.md [ENG-13] to [ENG-15].

The logits' log-probabilities are the last floats: what follows is decimal and integer arithmetic,
the same that a validator does. A draw depends on the request's own seed, name and position, and on
nothing that a neighbour, a preemption or an earlier step could change: there is no generator whose
state goes on.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lockstep.engine.backend import Backend
from lockstep.engine.sampling import Sampling
from lockstep.errors import LockstepError
from lockstep.sampling.categorical import draw
from lockstep.sampling.seed import Origin, derive_seed
from lockstep.sampling.support import Integers, Support, choose, units_of


class Drawing(NamedTuple):
    """What a token of a request is drawn with.

    Attributes:
        name: of the request, and of others that are to draw alike.
        choice: index among the sequences of that name.
        position: index of the token among those that the request emits.
        sampling: the request's parameters.
    """

    name: str
    choice: int
    position: int
    sampling: Sampling


def sample(
    backend: Backend,
    logits: NDArray[np.float32],
    drawings: Sequence[Drawing],
    names: Sequence[str] | None = None,
) -> list[int]:
    """Choose a token for each row of `logits` [R, V].

    Args:
        backend: what computes.
        logits: a row for each drawing.
        drawings: how each token is drawn.
        names: ids of the requests, for errors; None where the streams are the ids.

    Raises:
        LockstepError: LOGITS_NOT_FINITE, naming the request and which of its tokens.
    """
    ids = [drawing.name for drawing in drawings] if names is None else names
    for row, drawing, name in zip(logits, drawings, ids, strict=True):
        if not np.isfinite(row).all():
            where = f"request {name}, output {drawing.position}"
            wrong = int(np.flatnonzero(~np.isfinite(row))[0])
            raise LockstepError(
                "LOGITS_NOT_FINITE", where, "finite logits", f"{row[wrong]} for token {wrong}"
            )
    tokens = [int(token) for token in logits.argmax(axis=-1)] if len(drawings) else []
    drawn = [row for row, drawing in enumerate(drawings) if not drawing.sampling.greedy]
    if drawn:
        chosen = _draw(backend, logits[drawn], [drawings[row] for row in drawn])
        for row, token in zip(drawn, chosen, strict=True):
            tokens[row] = token
    return tokens


def _draw(backend: Backend, logits: NDArray[np.float32], drawings: Sequence[Drawing]) -> list[int]:
    rows = units(backend, logits)
    weighed = [weigh(row, drawing.sampling) for row, drawing in zip(rows, drawings, strict=True)]
    seeds = [seed(drawing) for drawing in drawings]
    chosen = [draw(weights, named) for weights, named in zip(weighed, seeds, strict=True)]
    return [int(token) for token in chosen]


def units(backend: Backend, logits: NDArray[np.float32]) -> Integers:
    """Give the log-probabilities of rows [R, V] in units of 10^-12 [ENG-14]."""
    logprobs = backend.numpy(backend.log_softmax(backend.array(logits)))
    return units_of(logprobs.astype(np.float32, copy=False))


def support(row: Integers, sampling: Sampling) -> Support:
    """Give the tokens of a row of `units` that enter a draw [ENG-14]."""
    return choose(np.arange(len(row)), row, sampling.resolved, len(row))


def weigh(row: Integers, sampling: Sampling) -> Mapping[str, int]:
    """Give the weights of the tokens of a row of `units` that filters keep [ENG-14]."""
    return support(row, sampling).weights(sampling.resolved)


def seed(drawing: Drawing) -> str:
    """Give the seed of a token's draw [ENG-15]."""
    own = drawing.sampling
    origin = Origin(own.seed, drawing.name, own.beacon)
    return derive_seed(origin, drawing.choice, drawing.position)
