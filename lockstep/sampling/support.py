"""The tokens of a position that enter its draw, and that an executor signs [SAMP-30].

Log-probabilities are integers here, in units of 10^-12: as many as [SAMP-8] has texts, and as
exact.
"""

from __future__ import annotations

from decimal import Context, Decimal
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lockstep import spec
from lockstep.errors import LockstepError
from lockstep.sampling import pipeline
from lockstep.sampling.near_exp import exp_all
from lockstep.sampling.number import of_units
from lockstep.sampling.parameters import Parameters, support_rule
from lockstep.sampling.weighting import of_values

Integers = NDArray[np.int64]

_DIGITS = 24
"""More than any log-probability has, so that none is rounded where it is read."""


class Support(NamedTuple):
    """Tokens with their log-probabilities.

    Attributes:
        tokens: in string order.
        units: log-probabilities in units of 10^-12.
    """

    tokens: Integers
    units: Integers

    def texts(self) -> tuple[tuple[str, str], ...]:
        """Give the pairs that are signed."""
        return tuple(
            (str(token), of_units(units))
            for token, units in zip(self.tokens.tolist(), self.units.tolist(), strict=True)
        )

    def weights(self, parameters: Parameters) -> dict[str, int]:
        """Give the weights of the tokens that filters keep [SAMP-22].

        Args:
            parameters: resolved, and not greedy.
        """
        names = [str(token) for token in self.tokens.tolist()]
        return of_values(list(zip(names, _decimals(self.units), strict=True)), parameters, exp_all)


def units_of(logprobs: NDArray[np.float32]) -> Integers:
    """Give binary32 log-probabilities in units of 10^-12, rounded as [SAMP-8] says.

    Raises:
        LockstepError: BAD_VALUE, one is none.
    """
    data = spec.load("sampling.json")
    if np.isnan(logprobs).any():
        raise LockstepError("BAD_VALUE", "/logprobs", "numbers", "one that is none")
    unit = 10.0 ** data["logprob_digits"]
    # Exact: 24 bits times the 28 of 5^12 are 52, and the rest are powers of two.
    scaled = np.maximum(logprobs.astype(np.float64), data["logprob_least"]) * unit
    units: Integers = np.minimum(np.rint(scaled), 0).astype(np.int64)
    return units


def choose(tokens: Integers, units: Integers, parameters: Parameters, vocab_size: int) -> Support:
    """Choose the tokens of a position's support; all, where the rule is `unbounded`.

    Args:
        tokens: ids of those that are available, each once.
        units: their log-probabilities in units of 10^-12.
        parameters: resolved, and not greedy.
        vocab_size: entries of a row of logits.
    """
    rule = support_rule(parameters, vocab_size)
    most = len(tokens)
    if rule == "top_k" and parameters.top_k is not None:
        most = min(most, parameters.top_k)
    elif rule == "min_p":
        most = min(most, spec.load("sampling.json")["support_most"])
    ranks = _string_ranks(vocab_size)[tokens]
    chosen = _likeliest(units, ranks, most)
    if rule == "min_p":
        chosen = chosen[: _kept(units[chosen], parameters) + 1]
    chosen = chosen[np.argsort(ranks[chosen])]
    return Support(tokens[chosen], units[chosen])


def _likeliest(units: Integers, ranks: Integers, most: int) -> Integers:
    """Give the places of the largest, by size, and of equal ones by string order."""
    places = np.arange(len(units))
    if most < len(units):
        least = np.partition(units, len(units) - most)[len(units) - most]
        places = np.flatnonzero(units >= least)
    return places[np.lexsort((ranks[places], -units[places]))][:most]


def _kept(units: Integers, parameters: Parameters) -> int:
    """Count log-probabilities, the largest first, that min_p does not cut off."""
    powers = pipeline.exponentials(
        _decimals(units),
        Decimal(parameters.temperature),
        spec.load("sampling.json")["gap_least"],
        pipeline.context(),
        exp_all,
    )
    return sum(power >= Decimal(parameters.min_p or 0) for power in powers)


def _decimals(units: Integers) -> list[Decimal]:
    exact, places = Context(prec=_DIGITS), -spec.load("sampling.json")["logprob_digits"]
    return [exact.scaleb(Decimal(unit), places) for unit in units.tolist()]


@lru_cache(maxsize=4)
def _string_ranks(vocab_size: int) -> Integers:
    """Give the place of each token of a vocabulary in string order [SAMP-10]."""
    ranks = np.empty(vocab_size, dtype=np.int64)
    ranks[sorted(range(vocab_size), key=str)] = np.arange(vocab_size)
    return ranks
