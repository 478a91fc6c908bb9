"""A request's sampling parameters: sentinels first, and one cut between drawing and not."""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple

from lockstep import spec
from lockstep.errors import LockstepError
from lockstep.sampling.number import parameter

_TOP_K_MOST = (1 << 31) - 1
_MOST = Decimal(1)


class Parameters(NamedTuple):
    """Resolved parameters: what is off is None [SAMP-12].

    Attributes:
        temperature: a canonical decimal text.
        top_k: 1 or more.
        top_p: a canonical decimal text below 1.
        min_p: a canonical decimal text above 0, at most 1.
    """

    temperature: str
    top_k: int | None = None
    top_p: str | None = None
    min_p: str | None = None

    @property
    def greedy(self) -> bool:
        """Tell whether the temperature is below the cut, so that nothing is drawn."""
        return Decimal(self.temperature) < Decimal(spec.load("sampling.json")["greedy_below"])


def resolve(
    temperature: str,
    top_k: int | None = None,
    top_p: str | None = None,
    min_p: str | None = None,
) -> Parameters:
    """Resolve a request's parameters: what a sentinel turns off becomes None [SAMP-12].

    Args:
        temperature: a canonical decimal text.
        top_k: None, 0 and -1 are off.
        top_p: a canonical decimal text above 0; None, and 1 or more, is off.
        min_p: a canonical decimal text from 0 to 1; None and 0 are off.

    Raises:
        LockstepError: WRONG_TYPE, BAD_VALUE at the parameter.
    """
    parameter(temperature, "/temperature")
    if top_k is not None and type(top_k) is not int:
        raise LockstepError("WRONG_TYPE", "/top_k", "an integer or null", type(top_k).__name__)
    if top_k is not None and not -1 <= top_k <= _TOP_K_MOST:
        raise LockstepError("BAD_VALUE", "/top_k", f"-1 to {_TOP_K_MOST}", top_k)
    share = None if top_p is None else parameter(top_p, "/top_p")
    if share == 0:
        raise LockstepError("BAD_VALUE", "/top_p", "more than 0", top_p)
    least = None if min_p is None else parameter(min_p, "/min_p")
    if least is not None and least > _MOST:
        raise LockstepError("BAD_VALUE", "/min_p", "at most 1", min_p)
    return Parameters(
        temperature,
        top_k if top_k is not None and top_k > 0 else None,
        top_p if share is not None and share < _MOST else None,
        min_p if least else None,
    )


def support_rule(parameters: Parameters, vocab_size: int) -> str:
    """Give the rule by which a position's support is bounded [SAMP-28].

    Returns:
        `top_k`, `whole`, `min_p` or `unbounded`.
    """
    most: int = spec.load("sampling.json")["support_most"]
    top_k = parameters.top_k
    if top_k is not None and top_k <= most and top_k < vocab_size:
        return "top_k"
    if vocab_size <= most:
        return "whole"
    return "min_p" if parameters.min_p is not None else "unbounded"
