"""Weights of many positions are those of each alone; each way of falling back is tripped."""

from __future__ import annotations

import random
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.sampling.batch import apportion, exp
from lockstep.sampling.batch.numbers import Numbers
from lockstep.sampling.batch.weights import Block, Weighed, takes, weigh
from lockstep.sampling.parameters import Parameters, resolve
from lockstep.sampling.weighting import of_values

FAR = (64 * 10**12, 64 * 10**12 + 1, 64 * 10**12 - 1, 1, 50, 51, 99_999 * 10**12, 45 * 10**12)


def rows(chosen: random.Random, count: int, most: int) -> list[list[int]]:
    """Draw positions of every kind that makes implementations differ."""
    made = []
    for _ in range(count):
        size = chosen.randint(1, most)
        few = [chosen.randrange(60) * 10**11 for _ in range(chosen.randint(1, 4))]
        kinds = (
            [int(chosen.expovariate(0.2) * 10**12) for _ in range(size)],
            [chosen.choice(few) for _ in range(size)],
            [0, *(chosen.choice(FAR) for _ in range(size - 1))],
            [1, *(int(chosen.uniform(15, 70) * 10**12) for _ in range(size - 1))],
            [chosen.randrange(10 ** chosen.randint(1, 16)) for _ in range(size)],
        )
        made.append(chosen.choice(kinds))
    return made


def block_of(given: list[list[int]]) -> Block:
    width = max(map(len, given))
    units = np.zeros((len(given), width), np.int64)
    there = np.zeros(units.shape, np.bool_)
    for number, row in enumerate(given):
        units[number, : len(row)] = row
        there[number, : len(row)] = True
    return Block(units, there)


def require_same(given: list[list[int]], parameters: Parameters) -> Weighed:
    found = weigh(block_of(given), parameters)
    for number, row in enumerate(given):
        names = [f"{place:04d}" for place in range(len(row))]
        values = [(name, -Decimal(unit).scaleb(-12)) for name, unit in zip(names, row, strict=True)]
        kept = {
            name: int(found.weights[number, place])
            for place, name in enumerate(names)
            if found.kept[number, place]
        }
        assert kept == of_values(values, parameters)
    return found


@pytest.mark.parametrize(
    "parameters",
    [
        resolve("1"),
        resolve("0.7", 3, "0.95"),
        resolve("0.00001", None, "0.0000000000000001"),
        resolve("0.699999988079071", None, "0.9999999999999999", "0.05"),
        resolve("2", 1, None, "1"),
        resolve("1.3", 7, None, "0.0000000000000001"),
    ],
)
def test_weights_are_those_of_each_alone(parameters: Parameters) -> None:
    assert takes(parameters)
    require_same(rows(random.Random(str(parameters)), 25, 12), parameters)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 99_999 * 10**12), min_size=1, max_size=6), st.integers(1, 30))
def test_any_position(units: list[int], tenths: int) -> None:
    text = str(Decimal(tenths) / 10).removesuffix(".0")
    require_same([units], resolve(text, None, "0.9", "0.01"))


def test_equal_remainders_go_to_the_first_in_string_order() -> None:
    for size in (3, 7, 100):
        require_same([[5 * 10**11] * size, [0, *[10**12] * (size - 1)]], resolve("1"))


def test_what_binary64_does_not_decide_is_done_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    given = rows(random.Random(1), 20, 6)
    monkeypatch.setattr(exp, "BOUND", 0.5)
    monkeypatch.setattr(apportion, "_APART", 0.4)
    found = require_same(given, resolve("0.7", None, "0.9"))
    assert found.exponentials > 20 and found.rows > 2


def test_too_wide_a_bound_alone_decides_nothing_wrongly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apportion, "_APART", 2.0)
    p = Numbers(np.array([[3 * 10**9, 7 * 10**9]]), np.array([[-10, -10]]))
    weights, undecided = apportion.apportion(p, np.ones((1, 2), np.bool_))
    assert weights.tolist() == [[19661, 45875]] and undecided == 1


def test_a_temperature_of_too_many_digits_is_not_taken() -> None:
    assert not takes(resolve("999.9999999999999999"))
