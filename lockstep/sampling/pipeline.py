"""From log-probabilities to probabilities that filters have passed [SAMP-16] to [SAMP-21].

Every operation is that of a context made for the call: no thread, and nothing that was set before
by anybody, changes a result. The context's division, product, sum and difference are correctly
rounded by their definition; the exponential is our own.
"""

from collections.abc import Callable, Sequence
from decimal import (
    ROUND_HALF_EVEN,
    Context,
    Decimal,
    DivisionByZero,
    InvalidOperation,
    Overflow,
)
from typing import NamedTuple

from lockstep.sampling.exp import PRECISION, exp

_EXPONENTS = 999_999
_ZERO = Decimal(0)


class Chance(NamedTuple):
    """A token with its probability over the support."""

    token: str
    p: Decimal


def context() -> Context:
    """Make the arithmetic of one call: 10 digits, ties to even, no flag of any other context."""
    return Context(
        prec=PRECISION,
        rounding=ROUND_HALF_EVEN,
        Emin=-_EXPONENTS,
        Emax=_EXPONENTS,
        capitals=1,
        clamp=0,
        flags=[],
        traps=[InvalidOperation, DivisionByZero, Overflow],
    )


def exp_each(values: Sequence[Decimal], arithmetic: Context) -> list[Decimal]:
    """Give the exponential of each value, one by one, in integers [SAMP-14]."""
    return [exp(value) for value in values]


ExpAll = Callable[[Sequence[Decimal], Context], list[Decimal]]
"""Gives the correctly rounded exponentials of numbers that are 0 or below."""


def exponentials(
    values: Sequence[Decimal],
    temperature: Decimal,
    gap_least: int,
    arithmetic: Context,
    exp_all: ExpAll = exp_each,
) -> list[Decimal]:
    """Give e_i of each log-probability at a temperature; the largest is 1 [SAMP-17].

    Args:
        values: log-probabilities, in string order of their tokens.
        temperature: not 0.
        gap_least: below it an exponential is 0.
        arithmetic: as `context` makes it.
        exp_all: gives the exponentials; whatever computes them, they are the same numbers.
    """
    scaled = [arithmetic.divide(value, temperature) for value in values]
    largest = max(scaled)
    gaps = [arithmetic.subtract(value, largest) for value in scaled]
    powers = iter(exp_all([gap for gap in gaps if gap >= gap_least], arithmetic))
    return [_ZERO if gap < gap_least else next(powers) for gap in gaps]


def total(values: Sequence[Decimal], arithmetic: Context) -> Decimal:
    """Add from 0 in the order given, rounding after each addition."""
    added = _ZERO
    for value in values:
        added = arithmetic.add(added, value)
    return added


def chances(tokens: Sequence[str], powers: Sequence[Decimal], arithmetic: Context) -> list[Chance]:
    """Give each token's share of the sum of the exponentials [SAMP-17]."""
    whole = total(powers, arithmetic)
    return [
        Chance(token, arithmetic.divide(power, whole))
        for token, power in zip(tokens, powers, strict=True)
    ]


def ranked(given: Sequence[Chance]) -> list[Chance]:
    """Rank tokens by probability, larger first, and equal ones as they stand [SAMP-18]."""
    # Reversing keeps equal elements in their order.
    return sorted(given, key=lambda chance: chance.p, reverse=True)


def top_k(given: Sequence[Chance], most: int) -> list[Chance]:
    """Keep the first of the ranking [SAMP-19]; a negative number leaves off the last [SAMP-43]."""
    return list(given) if most >= len(given) else in_order(ranked(given)[:most])


def top_p(given: Sequence[Chance], share: Decimal, arithmetic: Context) -> list[Chance]:
    """Keep the ranking up to and with the token that reaches a share [SAMP-20]."""
    kept, passed = [], _ZERO
    for chance in ranked(given):
        kept.append(chance)
        passed = arithmetic.add(passed, chance.p)
        if passed >= share:
            break
    return in_order(kept)


def min_p(given: Sequence[Chance], least: Decimal, arithmetic: Context) -> list[Chance]:
    """Keep what has at least a share of the largest probability [SAMP-21]."""
    threshold = arithmetic.multiply(max(chance.p for chance in given), least)
    return [chance for chance in given if chance.p >= threshold]


def in_order(given: Sequence[Chance]) -> list[Chance]:
    """Sort by token, in string order [SAMP-10]."""
    return sorted(given, key=lambda chance: chance.token)
