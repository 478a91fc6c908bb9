"""Operations on arrays give what decimal's give, ties and cancellations included."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from lockstep.sampling import pipeline
from lockstep.sampling.batch import numbers
from lockstep.sampling.batch.numbers import Numbers

ARITHMETIC = pipeline.context()
COUNT = 3_000


def drawn(seed: int, least: int) -> Numbers:
    """Draw numbers of few and of many digits, some 0, some next to a power of ten."""
    chosen = np.random.default_rng(seed)
    c = chosen.integers(numbers.ONE, numbers.END, COUNT)
    c -= c % numbers.POWERS[chosen.integers(0, 10, COUNT)]
    c = np.where(chosen.random(COUNT) < 0.03, numbers.ONE, c)
    c = np.where(chosen.random(COUNT) < 0.03, numbers.END - 1, c)
    c = np.where(chosen.random(COUNT) < 0.03, 0, c)
    q = chosen.integers(least, -7, COUNT)
    return Numbers(c, np.where(c == 0, numbers.ZERO_EXPONENT, q))


def decimals(given: Numbers) -> list[Decimal]:
    return [Decimal(c).scaleb(q) for c, q in zip(given.c.tolist(), given.q.tolist(), strict=True)]


def require(found: Numbers, wanted: list[Decimal]) -> None:
    assert decimals(found) == wanted
    zero = found.c == 0
    assert ((found.c >= numbers.ONE) & (found.c < numbers.END) | zero).all()
    assert (found.q[zero] == numbers.ZERO_EXPONENT).all()


@pytest.mark.parametrize("least", [-10, -14, -22, -40])
def test_two_numbers(least: int) -> None:
    a, b = drawn(1, least), drawn(2, least)
    pairs = list(zip(decimals(a), decimals(b), strict=True))
    require(numbers.add(a, b), [ARITHMETIC.add(x, y) for x, y in pairs])
    larger = a.keys >= b.keys
    high = Numbers(np.where(larger, a.c, b.c), np.where(larger, a.q, b.q))
    low = Numbers(np.where(larger, b.c, a.c), np.where(larger, b.q, a.q))
    require(
        numbers.subtract(high, low), [ARITHMETIC.subtract(max(pair), min(pair)) for pair in pairs]
    )
    divisor = Numbers(np.where(b.c == 0, numbers.ONE, b.c), b.q)
    require(
        numbers.divide(a, divisor),
        [ARITHMETIC.divide(x, y) for x, y in zip(decimals(a), decimals(divisor), strict=True)],
    )
    assert (a.keys < b.keys).tolist() == [x < y for x, y in pairs]


@pytest.mark.parametrize("text", ["0", "5E-1", "0.25", "7E-1", "9999999999999999E-16", "1E-16"])
def test_a_product(text: str) -> None:
    a = drawn(3, -40)
    _, digits, exponent = Decimal(text).as_tuple()
    factor = int("".join(map(str, digits)))
    require(
        numbers.multiply(a, factor, int(exponent)),
        [ARITHMETIC.multiply(x, Decimal(text)) for x in decimals(a)],
    )


@pytest.mark.parametrize("text", ["1", "0.5", "0.7", "999999999999999999E-15", "1234567E-9"])
def test_written_numbers(text: str) -> None:
    chosen = np.random.default_rng(4)
    units = chosen.integers(0, 10 ** chosen.integers(1, 18, COUNT))
    _, digits, exponent = Decimal(text).as_tuple()
    divisor = int("".join(map(str, digits)))
    exact = [Decimal(unit).scaleb(-12) for unit in units.tolist()]
    require(
        numbers.ratio(units, -12, divisor, int(exponent)),
        [ARITHMETIC.divide(x, Decimal(text)) for x in exact],
    )
    require(numbers.written(units, -12), [ARITHMETIC.plus(x) for x in exact])


def test_sums_go_row_by_row() -> None:
    given = drawn(5, -20)
    block = Numbers(given.c.reshape(-1, 30), given.q.reshape(-1, 30))
    wanted = []
    for row in range(len(block.c)):
        values = decimals(Numbers(block.c[row], block.q[row]))
        wanted.append(pipeline.total(values, ARITHMETIC))
    require(numbers.total(block), wanted)


def test_a_bound_of_more_digits() -> None:
    for text in ("0.95", "1.01", "0.0000000000000001", "0.9999999999999999", "0.12345678901"):
        key = numbers.least_key(Decimal(text))
        least = decimals(numbers.of_keys(np.array([key, key - 1])))
        assert least[0] >= Decimal(text) > least[1]
