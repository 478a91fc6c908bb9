"""From log-probabilities to integer weights (spec/sampling.md, SAMP-11 to 22)."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from lockstep_verify.derive.sampling_draws import TOTAL, Stream, scan, seed
from lockstep_verify.derive.sampling_numbers import (
    MIN_P,
    ONE,
    TEMPERATURE,
    TOP_P,
    ZERO,
    Number,
    add,
    compare,
    divide,
    exact,
    exponential,
    multiply,
    subtract,
)
from lockstep_verify.errors import Refusal

GAP_LEAST = Number(-64, 0)
_GREEDY_BELOW = Number(1, -5)
_SCALE_DIGITS = 48
_TOP_K_MOST = (1 << 31) - 1

Support = Sequence[tuple[str, Number]]
"""Tokens in string order, each with a number."""


class Parameters(NamedTuple):
    """A request's parameters, resolved: what is off is None [SAMP-12].

    Attributes:
        texts: top_p and min_p as the request has them, where they are not off.
    """

    temperature: Number
    top_k: int | None
    top_p: Number | None
    min_p: Number | None
    texts: tuple[str | None, str | None]

    @property
    def greedy(self) -> bool:
        """Whether the temperature is so low that no draw is made."""
        return compare(self.temperature, _GREEDY_BELOW) < 0


def _text(name: str, value: Any, form: Any) -> Number:
    if type(value) is not str or not form.fullmatch(value):
        raise Refusal("BAD_VALUE", f"/{name}", "a decimal text", value)
    return exact(value)


def resolve(temperature: Any, top_k: Any, top_p: Any, min_p: Any) -> Parameters:
    """Read a request's parameters and turn off what is off [SAMP-11, SAMP-12].

    Raises:
        Refusal: BAD_VALUE at the first that has another form.
    """
    t = _text("temperature", temperature, TEMPERATURE)
    if top_k is not None and (type(top_k) is not int or not -1 <= top_k <= _TOP_K_MOST):
        raise Refusal("BAD_VALUE", "/top_k", "null, or -1 to 2^31 - 1", top_k)
    nucleus = None if top_p is None else _text("top_p", top_p, TOP_P)
    floor = None if min_p is None else _text("min_p", min_p, MIN_P)
    if nucleus is not None and compare(nucleus, ONE) >= 0:
        nucleus = None
    if floor is not None and not floor.c:
        floor = None
    kept = (None if nucleus is None else top_p, None if floor is None else min_p)
    return Parameters(t, None if top_k in (None, 0, -1) else top_k, nucleus, floor, kept)


def exponentials(support: Support, temperature: Number) -> list[Number]:
    """Give e_i of each token: what it weighs beside the most likely [SAMP-17]."""
    scaled = [divide(number, temperature) for _, number in support]
    most = scaled[0]
    for one in scaled:
        if compare(one, most) > 0:
            most = one
    gaps = [subtract(one, most) for one in scaled]
    return [exponential(gap) if compare(gap, GAP_LEAST) >= 0 else ZERO for gap in gaps]


def total_of(numbers: Sequence[Number]) -> Number:
    """Sum numbers from 0 in their order, rounding after each addition [SAMP-16]."""
    total = ZERO
    for number in numbers:
        total = add(total, number)
    return total


def _size(number: Number) -> tuple[int, int]:
    """Give what orders rounded numbers of 0 or more: their last place, then their digits."""
    return (number.q, number.c) if number.c else (-(1 << 62), 0)


def ranked(probabilities: Sequence[Number]) -> list[int]:
    """Give the ranking: places of tokens, the most likely first, then by string order [SAMP-18]."""
    places = range(len(probabilities))
    return sorted(places, key=lambda place: _size(probabilities[place]), reverse=True)


def _nucleus(ranking: list[int], probabilities: Sequence[Number], least: Number) -> list[int]:
    """Keep tokens of the ranking up to the one that reaches a sum [SAMP-20]."""
    total = ZERO
    for count, place in enumerate(ranking, 1):
        total = add(total, probabilities[place])
        if compare(total, least) >= 0:
            return ranking[:count]
    return ranking


def kept(probabilities: Sequence[Number], parameters: Parameters) -> list[int]:
    """Give the places of the tokens that the filters keep, in string order [SAMP-18 to 21]."""
    ranking = ranked(probabilities)
    if parameters.top_k is not None:
        ranking = ranking[: parameters.top_k]
    if parameters.top_p is not None:
        ranking = _nucleus(ranking, probabilities, parameters.top_p)
    if parameters.min_p is not None:
        least = multiply(probabilities[ranking[0]], parameters.min_p)
        ranking = [place for place in ranking if compare(probabilities[place], least) >= 0]
    return sorted(ranking)


def apportioned(probabilities: Sequence[Number]) -> list[int]:
    """Share the total among probabilities in string order, by largest remainder [SAMP-22]."""
    shares = [number.c * 10 ** (number.q + _SCALE_DIGITS) for number in probabilities]
    whole = sum(shares)
    parts = [divmod(share * TOTAL, whole) for share in shares]
    left = TOTAL - sum(quota for quota, _ in parts)
    # Sorting is stable, and so the first in string order is the first among equals.
    order = sorted(range(len(parts)), key=lambda place: -parts[place][1])
    given = set(order[:left])
    return [quota + (place in given) for place, (quota, _) in enumerate(parts)]


def weigh(support: Support, parameters: Parameters) -> list[tuple[str, int]]:
    """Give the weight of each token that is kept, in string order [SAMP-16 to 22].

    Args:
        support: at least one token.
        parameters: not greedy.
    """
    powers = exponentials(support, parameters.temperature)
    total = total_of(powers)
    probabilities = [divide(power, total) for power in powers]
    places = kept(probabilities, parameters)
    weights = apportioned([probabilities[place] for place in places])
    return [(support[place][0], weight) for place, weight in zip(places, weights, strict=True)]


def replay(
    support: Support, parameters: Parameters, origin: tuple[int, str, str], choice: int, at: int
) -> str:
    """Give the token that is drawn at a position [SAMP-24].

    Args:
        support: at least one token.
        parameters: not greedy.
        origin: user seed, inference id and beacon of the request.
        choice: the index of the sequence.
        at: the index of the position.
    """
    stream = Stream(seed(*origin, choice, at))
    return scan(weigh(support, parameters), stream)
