"""From logits to a token: weights, filters and a draw, all in integers [ENG-13] to [ENG-15].

A draw depends on the request's own seed, name and position, and on nothing that a neighbour, a
preemption or an earlier step could change: there is no generator whose state goes on.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lockstep.engine.backend import Backend
from lockstep.engine.digest import U64, framed, u64
from lockstep.engine.sampling import Sampling, fraction
from lockstep.errors import LockstepError

Weights = NDArray[np.uint32]


class Drawing(NamedTuple):
    """What a token of a request is drawn with.

    Attributes:
        name: the request's stream.
        position: the place of the token in its sequence, prompt included.
        sampling: the request's parameters.
    """

    name: str
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
        LockstepError: LOGITS_NOT_FINITE, naming the request and the position.
    """
    ids = [drawing.name for drawing in drawings] if names is None else names
    for row, drawing, name in zip(logits, drawings, ids, strict=True):
        if not np.isfinite(row).all():
            where = f"request {name}, position {drawing.position}"
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
    temperatures = [float(drawing.sampling.temperature) for drawing in drawings]
    weights = backend.numpy(backend.weights(backend.array(logits), temperatures))
    kept = np.stack(
        [keep(row, drawing.sampling) for row, drawing in zip(weights, drawings, strict=True)]
    )
    totals = kept.sum(axis=-1, dtype=np.uint64).tolist()
    points = [point(drawing, total) for drawing, total in zip(drawings, totals, strict=True)]
    chosen = backend.draw(backend.array(kept), np.array(points, dtype=np.uint64))
    return [int(token) for token in chosen]


def keep(weights: Weights, sampling: Sampling) -> Weights:
    """Set to 0 what top_k, then top_p, then min_p drop of a row's weights [V] [ENG-14].

    Tokens are ranked by weight, largest first, and among equals by id. The first is never dropped.
    """
    order = _ranked(weights)
    if sampling.top_k:
        order = order[: sampling.top_k]
    ranked = weights[order].astype(np.uint64)
    share = fraction(sampling.top_p)
    if not share.whole:
        total = int(ranked.sum())
        wanted = _ceil(total * share.numerator, share.denominator)
        count = int(np.searchsorted(np.cumsum(ranked), np.uint64(wanted), side="left")) + 1
        order, ranked = order[:count], ranked[:count]
    least = fraction(sampling.min_p)
    if not least.off:
        wanted = _ceil(int(ranked[0]) * least.numerator, least.denominator)
        order = order[ranked >= np.uint64(wanted)]
    kept = np.zeros_like(weights)
    kept[order] = weights[order]
    return kept


def point(drawing: Drawing, total: int) -> int:
    """Give an integer from 0 to total - 1, each as likely as any other [ENG-15]."""
    attempt = 0
    while True:
        digest = framed(
            "lockstep/draw/1",
            u64(drawing.sampling.seed),
            drawing.name.encode("utf-8"),
            u64(drawing.position),
            u64(attempt),
        )
        # A product rather than a remainder: where two backends' weights differ in their last
        # bits, so does the point, and not wildly.
        high, low = divmod(int.from_bytes(digest[:8], "big") * total, U64)
        if low >= U64 % total:
            return high
        attempt += 1


def _ranked(weights: Weights) -> NDArray[np.int64]:
    # Stable over the complement: equal weights stay in the order of ids.
    ranks: NDArray[np.int64] = np.argsort(~weights, kind="stable")
    return ranks


def _ceil(numerator: int, denominator: int) -> int:
    return -(-numerator // denominator)
