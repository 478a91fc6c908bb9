"""Exponentials of many numbers: those of the exact one, wherever binary64 does not decide."""

from __future__ import annotations

import random
from decimal import Decimal

from lockstep.sampling.exp import exp
from lockstep.sampling.near_exp import LEAST, exp_all
from lockstep.sampling.pipeline import context

EDGES = ("0", "-64", "-1E-12", "-1E-11", "-5E-11", "-2.302585093", "-4.605170186", "-0.6403554005")


def test_they_are_those_of_the_exact_one() -> None:
    drawn, arithmetic = random.Random(5), context()
    values = [Decimal(text) for text in EDGES]
    while len(values) < 4000:
        digits = Decimal(-drawn.randrange(1, 10 ** drawn.randrange(1, 11)))
        value = arithmetic.scaleb(digits, -drawn.randrange(12))
        if value >= LEAST:
            values.append(value)
    assert exp_all(values, arithmetic) == [exp(value) for value in values]


def test_no_value_gives_none() -> None:
    assert exp_all([], context()) == []
