"""Weights: what holds of every support, and what parameters mean."""

from __future__ import annotations

import decimal
import random
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.sampling import draw, resolve, weighting, weights
from lockstep.sampling.parameters import Parameters, support_rule
from lockstep.sampling.weighting import apportion
from tests.refusals import refused

TEXTS = st.integers(0, 60_000).map(
    lambda n: "0" if n == 0 else f"-{n / 1000:.3f}".rstrip("0").rstrip(".")
)
SUPPORTS = st.dictionaries(st.integers(0, 300).map(str), TEXTS, min_size=1, max_size=24)
PARAMETERS = st.builds(
    resolve,
    st.sampled_from(["0.00001", "0.1", "0.7", "1", "2.5", "100"]),
    st.none() | st.integers(-1, 30),
    st.none() | st.sampled_from(["0.0001", "0.5", "0.9", "0.999", "1", "3"]),
    st.none() | st.sampled_from(["0", "0.001", "0.05", "0.5", "1"]),
)


@settings(max_examples=150)
@given(SUPPORTS, PARAMETERS)
def test_they_sum_to_2_to_the_16_and_none_is_negative(
    support: dict[str, str], parameters: Parameters
) -> None:
    made = weights(support, parameters)
    assert sum(made.values()) == 65536
    assert min(made.values()) >= 0
    assert list(made) == sorted(made)
    assert set(made) <= set(support)
    likeliest = max(support.values(), key=lambda text: Fraction(text))
    assert any(support[token] == likeliest for token in made)


@settings(max_examples=60)
@given(SUPPORTS, PARAMETERS, st.randoms(use_true_random=False))
def test_the_order_of_the_support_changes_nothing(
    support: dict[str, str], parameters: Parameters, chosen: random.Random
) -> None:
    pairs = list(support.items())
    chosen.shuffle(pairs)
    assert weights(pairs, parameters) == weights(support, parameters)
    assert list(weights(pairs, parameters)) == list(weights(support, parameters))


@settings(max_examples=60)
@given(st.lists(st.integers(0, 10**40), min_size=1, max_size=30).filter(any))
def test_shares_are_quotas_or_one_more(shares: list[int]) -> None:
    made = apportion(shares, 65536)
    assert sum(made) == 65536
    for share, weight in zip(shares, made, strict=True):
        exact = Fraction(share * 65536, sum(shares))
        assert exact.__floor__() <= weight <= exact.__floor__() + 1
        assert share or not weight


def test_equal_remainders_go_to_the_first() -> None:
    assert apportion([1, 1, 1], 65536) == [21846, 21845, 21845]
    assert list(weights({"2": "0", "10": "0", "9": "0"}, resolve("1")).items()) == [
        ("10", 21846), ("2", 21845), ("9", 21845),
    ]  # fmt: skip


def test_threads_and_the_callers_context_change_nothing() -> None:
    chosen = random.Random(5)
    supports = [
        {str(n): f"-{chosen.randint(1, 9)}.{chosen.randint(1, 10**9)}1" for n in range(12)}
        for _ in range(24)
    ]
    parameters = resolve("0.7", 8, "0.9", "0.01")
    alone = [weights(one, parameters) for one in supports]

    def in_a_thread(one: dict[str, str]) -> dict[str, int]:
        decimal.getcontext().prec = 3
        decimal.getcontext().rounding = decimal.ROUND_UP
        return weights(one, parameters)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(in_a_thread, supports)) == alone
    with decimal.localcontext() as changed:
        changed.prec, changed.Emax, changed.Emin = 2, 5, -5
        changed.clear_flags()
        assert [weights(one, parameters) for one in supports] == alone
        assert not any(changed.flags.values())


def kept(**changes: Any) -> list[str]:
    support = {"1": "-3.2", "5": "-2.1", "9": "-1", "791": "-0.05"}
    return list(weights(support, resolve("1", **changes)))


def test_filters() -> None:
    everything = ["1", "5", "791", "9"]
    for off in ({}, {"top_k": 0}, {"top_k": -1}, {"top_k": 4}, {"top_k": 9}, {"top_p": "1"},
                {"top_p": "1.5"}, {"min_p": "0"}):  # fmt: skip
        assert kept(**off) == everything, off
    assert kept(top_k=1) == kept(top_p="0.6") == kept(min_p="1") == ["791"]
    assert kept(top_k=3) == kept(top_p="0.95") == kept(min_p="0.05") == ["5", "791", "9"]


def test_equality_ends_top_p_and_keeps_under_min_p() -> None:
    four = {"1": "0", "2": "0", "3": "0", "4": "0"}
    assert list(weights(four, resolve("1", None, "0.5"))) == ["1", "2"]
    assert list(weights(four, resolve("1", None, "0.500000001"))) == ["1", "2", "3"]
    assert list(weights(four, resolve("1", None, None, "1"))) == ["1", "2", "3", "4"]
    tied = {"30": "-1", "4": "-1", "200": "-1", "1": "-3"}
    assert list(weights(tied, resolve("1", 2))) == ["200", "30"]


def test_a_gap_below_64_weighs_nothing_and_is_never_drawn() -> None:
    made = weights({"1": "0", "2": "-64", "3": "-65"}, resolve("1"))
    assert made == {"1": 65536, "2": 0, "3": 0}
    assert {draw(made, str(n)) for n in range(50)} == {"1"}


@pytest.mark.parametrize(
    ("code", "pointer", "support"),
    [
        ("BAD_VALUE", "/support", {}),
        ("BAD_VALUE", "/support", {"07": "-1"}),
        ("BAD_VALUE", "/support/7", {"7": "-1.0"}),
        ("BAD_VALUE", "/support/7", [("7", "-1"), ("7", "-2")]),
        ("WRONG_TYPE", "/support", {7: "-1"}),
        ("WRONG_TYPE", "/support/7", {"7": -1}),
    ],
)
def test_supports_that_are_refused(code: str, pointer: str, support: Any) -> None:
    assert refused(code, lambda: weights(support, resolve("1"))).pointer == pointer


def test_more_tokens_than_the_limit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    lowered = weighting.limits()._replace(most=2)
    monkeypatch.setattr(weighting, "limits", lambda: lowered)
    refused("LIMIT_SIZE", lambda: weights({"1": "0", "2": "0", "3": "0"}, resolve("1")))


@pytest.mark.parametrize(
    ("pointer", "arguments"),
    [
        ("/temperature", ("-1",)), ("/temperature", ("1.0",)), ("/temperature", ("Infinity",)),
        ("/top_k", ("1", -2)), ("/top_k", ("1", 1 << 31)), ("/top_p", ("1", None, "0")),
        ("/min_p", ("1", None, None, "1.5")),
    ],
)  # fmt: skip
def test_parameters_that_are_refused(pointer: str, arguments: Any) -> None:
    assert refused("BAD_VALUE", lambda: resolve(*arguments)).pointer == pointer


def test_a_truth_value_is_no_top_k() -> None:
    refused("WRONG_TYPE", lambda: resolve("1", True))


def test_greedy_draws_nothing() -> None:
    assert resolve("0").greedy
    assert resolve("0.0000099999").greedy
    assert not resolve("0.00001").greedy
    refused("BAD_VALUE", lambda: weights({"1": "0"}, resolve("0")))


@pytest.mark.parametrize(
    ("rule", "parameters", "vocab_size"),
    [
        ("top_k", resolve("1", 20), 50000),
        ("top_k", resolve("1", 20), 256),
        ("top_k", resolve("1", 1024, None, "0.1"), 50000),
        ("whole", resolve("1", 256), 256),
        ("whole", resolve("1"), 1024),
        ("min_p", resolve("1", 100000, None, "0.1"), 50000),
        ("min_p", resolve("1", None, "0.9", "0.1"), 1025),
        ("unbounded", resolve("1", None, "0.9"), 50000),
        ("unbounded", resolve("1", 1025), 50000),
    ],
)
def test_support_rules(rule: str, parameters: Parameters, vocab_size: int) -> None:
    assert support_rule(parameters, vocab_size) == rule


@pytest.mark.parametrize("given_weights", [{}, {"1": 0}, {"1": 0, "2": 0}, {"1": 5, "2": -1}])
def test_draws_that_are_refused(given_weights: dict[str, int]) -> None:
    refused("BAD_VALUE", lambda: draw(given_weights, "x"))
