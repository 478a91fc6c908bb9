"""What an executor whose weights are floats would have drawn: measured, and never used.

The same support, stream and filters, but probabilities in binary floats, each weight rounded from
its own, so that weights sum to what they may; and, in one of the paths, tokens in the order of
their numbers. This is how the executors that were looked at sample (DIVERGENCES.md, E1 and 6.6).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lockstep.sampling.categorical import scan
from lockstep.sampling.parameters import Parameters
from lockstep.sampling.rng import below
from lockstep.sampling.support import Support

TOTAL = 1 << 16
"""What weights are to sum to."""


class FloatPath(NamedTuple):
    """A way to sample in floats.

    Attributes:
        name: of the path.
        type: of probabilities.
        numeric: whether tokens are scanned in the order of their numbers, not of their texts.
    """

    name: str
    type: type[np.floating]
    numeric: bool


PATHS = (
    FloatPath("binary32", np.float32, False),
    FloatPath("binary64", np.float64, False),
    FloatPath("binary32_numeric", np.float32, True),
    FloatPath("binary64_numeric", np.float64, True),
)


class Shadow(NamedTuple):
    """What a path drew.

    Attributes:
        token: its id.
        total: what the weights summed to.
    """

    token: int
    total: int


def shadow(support: Support, parameters: Parameters, seed: str, path: FloatPath) -> Shadow:
    """Draw as an executor whose weights are floats.

    Args:
        support: tokens in string order.
        parameters: resolved, and not greedy.
        seed: of the position.
        path: which floats, and which order.
    """
    places = np.argsort(support.tokens) if path.numeric else np.arange(len(support.tokens))
    p = _probabilities(support.units[places], parameters.temperature, path.type)
    p = np.where(_kept(p, parameters), p, path.type(0))
    weights = np.rint(p / p.sum() * path.type(TOTAL)).astype(np.int64).tolist()
    place = scan(weights, below(seed, sum(weights))[0])
    return Shadow(int(support.tokens[places[place]]), sum(weights))


def _probabilities(
    units: NDArray[np.int64], temperature: str, type_: type[np.floating]
) -> NDArray[np.floating]:
    scaled = units.astype(type_) * type_(1e-12) / type_(temperature)
    powers = np.exp(scaled - scaled.max())
    found: NDArray[np.floating] = powers / powers.sum()
    return found


def _kept(p: NDArray[np.floating], parameters: Parameters) -> NDArray[np.bool_]:
    """Filter in the order of [SAMP-18], in floats."""
    ranking = np.argsort(-p, kind="stable")
    if parameters.top_k is not None:
        ranking = ranking[: parameters.top_k]
    if parameters.top_p is not None:
        passed = np.cumsum(p[ranking])
        ranking = ranking[: int(np.searchsorted(passed, p.dtype.type(parameters.top_p))) + 1]
    kept = np.zeros(len(p), dtype=np.bool_)
    kept[ranking] = True
    if parameters.min_p is not None:
        kept &= p >= p[ranking[0]] * p.dtype.type(parameters.min_p)
    return kept
