"""The exponential in binary64 is the exact one wherever it decides, and says where it does not."""

from __future__ import annotations

from decimal import Context, Decimal

import numpy as np

from lockstep.sampling import benchmark
from lockstep.sampling.batch import exp, numbers
from lockstep.sampling.batch.numbers import Numbers
from lockstep.sampling.exp import exp as exactly

MANY = Context(prec=30)


def test_it_agrees_and_falls_back() -> None:
    found = benchmark.compare(4_000, 7)
    assert found.arguments == 4_000
    assert found.differing == 0
    # Arguments next to midpoints see to it that both ways are taken.
    assert 0 < found.undecided < 400


def test_its_ends() -> None:
    c = np.array([0, 5 * 10**9, 5 * 10**9 + 1, 10**9, 6_400_000_000, 2_302_585_093, 2_302_585_092])
    q = np.array([numbers.ZERO_EXPONENT, -20, -20, -30, -8, -9, -9])
    found = exp.exp(Numbers(c, q)).values
    for place in range(len(c)):
        wanted = exactly(-Decimal(int(c[place])).scaleb(int(q[place])))
        assert Decimal(int(found.c[place])).scaleb(int(found.q[place])) == wanted


def test_errors_keep_their_bound() -> None:
    given = benchmark.arguments(2_000, 3, 0)
    known, decided = exp.near(given)
    assert decided.mean() > 0.9
    # Whatever is not decided is still the nearest number or the one next to it.
    exact = exp.exp(given).values
    same = known.q == exact.q
    assert (np.abs(known.c - exact.c)[same] <= 1).all() and same.mean() > 0.99


def test_the_table_is_right() -> None:
    table = exp.table()
    for j in (1, 255, 256, 590, 4_096, 16_384):
        with_rounding = exactly(Decimal(-j) / 256)
        value = Decimal(int(table.whole[j])) + Decimal(float(table.part[j]))
        assert abs(value.scaleb(int(table.q[j])) / with_rounding - 1) < Decimal("1E-9")
    assert ((table.whole >= 10**9) & (table.whole < 10**10)).all()
    assert ((table.part >= 0) & (table.part <= 1)).all()


def test_the_rough_exponential_keeps_its_bound() -> None:
    x = np.concatenate(
        [[0.0, 63.999, 64.0, 1 / 256, 255 / 256], np.random.default_rng(1).uniform(0, 64, 300)]
    )
    for value, found in zip(x.tolist(), exp.roughly(x).tolist(), strict=True):
        true = MANY.exp(-Decimal(value))
        assert abs(Decimal(found) / true - 1) < Decimal("1E-10")
