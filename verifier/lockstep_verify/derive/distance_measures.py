"""How far two supports are apart, in integers (spec/distance.md, DIST-1 to 8, 13)."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from lockstep_verify.derive.sampling_numbers import (
    Number,
    digits_of_exponential,
    is_token,
    logprob,
)

PLACES = 40
"""Of an exponential."""

_FINE = 24
"""Decimals of a log-probability; values are integers in units of the last of them."""

_LARGEST = (1 << 53) - 1
_UNIT = 10**12
_DIVERGENCE_DIGITS = 15

GATES: tuple[tuple[int, int, int], ...] = (
    (0, 500, 2000),
    (0, 950, 2000),
    (1, 500, 2000),
    (1, 950, 2000),
    (2, 500, 2000),
    (2, 950, 2000),
    (2, 1000, 8000),
)
"""Which measure, which quantile of it, and what a threshold allows of it; both in thousandths."""

Measured = tuple[int, int, int]
"""mae, kl and max of a position."""


class Support(NamedTuple):
    """A support as it was written.

    Attributes:
        values: log-probabilities by token in units of 10^-24, in string order.
        ranking: tokens, the most likely first, of equal ones the first in string order.
    """

    values: dict[str, int]
    ranking: list[str]


def parse(text: str, vocab_size: int) -> Support | None:
    """Read a support of a text, None where the text is none [DIST-13]."""
    values: dict[str, int] = {}
    last = ""
    for part in text.split(" "):
        token, _, number = part.partition(":")
        found = logprob(number)
        if found is None or not is_token(token, vocab_size) or token <= last:
            return None
        last = token
        values[token] = found.c * 10 ** (_FINE + found.q)
    # Sorting is stable, and tokens stand in string order.
    return Support(values, sorted(values, key=lambda token: -values[token]))


@cache
def power(value: int) -> int:
    """Give e^value in units of 10^-40, cut off there [DIST-4]."""
    return digits_of_exponential(Number(value, -_FINE), PLACES)


def massive(support: Support, count: int, vocab_size: int) -> bool:
    """Say whether a support has the mass of a vocabulary [DIST-13].

    Args:
        support: what was signed or recomputed.
        count: how many of it are the most likely of all tokens.
        vocab_size: of the model.
    """
    mass = sum(map(power, support.values.values()))
    rest = (vocab_size - len(support.values)) * power(support.values[support.ranking[count - 1]])
    whole: int = 10**PLACES
    return 100 * mass <= 101 * whole and 100 * (mass + rest) >= 99 * whole


def measure(signed: Mapping[str, int], recomputed: Support) -> Measured:
    """Give mae, kl and max of a position [DIST-2 to 4].

    Args:
        signed: values of at least one token.
        recomputed: with all tokens of `signed` and as many of the most likely.
    """
    edge = min(signed.values())
    union = dict.fromkeys(recomputed.ranking[: len(signed)], edge)
    total = largest = divergence = 0
    for token, said in {**union, **signed}.items():
        value = recomputed.values[token]
        if token not in signed and value < edge:
            said = value
        if said == value:
            continue
        apart = abs(said - value)
        total += apart
        if apart > largest:
            largest = apart
        p, q = power(said), power(value)
        divergence += p * (said - value) + (q - p) * 10**_FINE
    count = len(union.keys() | signed.keys())
    fine = 10**_FINE // _UNIT
    kl = divergence // 10 ** (PLACES + _FINE - _DIVERGENCE_DIGITS)
    return (
        min(total // (count * fine), _LARGEST),
        min(max(kl, 0), _LARGEST),
        min(largest // fine, _LARGEST),
    )


def quantile(ascending: Sequence[int], permille: int) -> int:
    """Give the quantile of sorted numbers by nearest rank [DIST-6]."""
    return ascending[(permille * len(ascending) + 999) // 1000 - 1]


def by_measure(positions: Sequence[Measured]) -> list[list[int]]:
    """Give the numbers of each measure in ascending order."""
    return [sorted(one[place] for one in positions) for place in range(3)]


def statistics(positions: Sequence[Measured]) -> list[int]:
    """Give a sequence's statistic at each gate [DIST-7]."""
    columns = by_measure(positions)
    return [quantile(columns[place], permille) for place, permille, _ in GATES]


def beyond(found: Sequence[int], thresholds: Sequence[int]) -> bool:
    """Say whether a statistic is above its threshold [DIST-8]."""
    return any(one > most for one, most in zip(found, thresholds, strict=True))
