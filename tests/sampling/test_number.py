"""Each number and each token has one text."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep.sampling.number import (
    canonical,
    is_logprob,
    is_token,
    logprob,
    parameter,
    require_token,
    written,
)
from tests.refusals import refused

GOOD = [
    "0",
    "-1",
    "-0.5",
    "-99999",
    "-12.000000000001",
    "-0.05000000074505806",
    "-0.69314718055994",
]
BAD = [
    "", "-0", "-0.0", "0.0", "-1.0", "-1.50", "-01", "1", "0.5", "+0", "-.5", "-1.", "-1e-05",
    "-1E5", " -1", "-1 ", "-1\n", "-1_0", "-inf", "nan", "-Infinity", "-\uff11", "-\u0661",
    "-100000", "-0." + "1" * 25, "-1,5", "--1", "-0x1",
]  # fmt: skip


@pytest.mark.parametrize("text", GOOD)
def test_log_probabilities(text: str) -> None:
    assert is_logprob(text)
    assert logprob(text) == Decimal(text)
    assert canonical(text) == text


@pytest.mark.parametrize("text", BAD)
def test_what_is_none(text: str) -> None:
    assert not is_logprob(text)
    refused("BAD_VALUE", lambda: logprob(text))


@pytest.mark.parametrize("value", [None, -1, -0.5, b"-1", True])
def test_what_is_no_text(value: object) -> None:
    assert not is_logprob(value)
    refused("WRONG_TYPE", lambda: logprob(value))  # type: ignore[arg-type]


@given(st.floats(max_value=0, allow_nan=False, allow_infinity=False, width=32))
def test_what_an_executor_writes_is_canonical_and_near(value: float) -> None:
    text = written(value)
    assert is_logprob(text)
    exact = max(Fraction(value), Fraction(-99999))
    assert abs(Fraction(text) - exact) <= Fraction(1, 2 * 10**12)


def test_ties_of_written_numbers_go_to_the_even_multiple() -> None:
    # 2^-13 has 13 decimals, the last of them a 5.
    assert written(-(2.0**-13)) == "-0.000122070312"
    assert written(-3 * 2.0**-13) == "-0.000366210938"
    assert written(1e-9) == "0"
    assert written(-1e-13) == "0"
    assert written(-1e300) == "-99999"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_what_is_not_finite_is_not_written(value: float) -> None:
    refused("BAD_VALUE", lambda: written(value))


@given(st.decimals(allow_nan=False, allow_infinity=False, places=9, min_value=-999, max_value=999))
def test_respelling_keeps_the_value(value: Decimal) -> None:
    text = canonical(str(value))
    assert Decimal(text) == value
    assert canonical(text) == text
    assert "e" not in text.lower()


@pytest.mark.parametrize(
    ("text", "spelt"),
    [
        ("1.0", "1"), ("-0.0", "0"), ("1E+2", "100"), ("-1e-05", "-0.00001"), ("+07.50", "7.5"),
        (".5", "0.5"),
    ],
)  # fmt: skip
def test_respelling(text: str, spelt: str) -> None:
    assert canonical(text) == spelt


@pytest.mark.parametrize("text", ["", ".", "e5", "1_0", " 1", "inf", "1e999", "1" * 65])
def test_what_cannot_be_respelt(text: str) -> None:
    refused("BAD_VALUE", lambda: canonical(text))


@pytest.mark.parametrize("text", ["0", "7", "10", "99"])
def test_tokens(text: str) -> None:
    assert is_token(text, 100)
    assert require_token(text) == text


@pytest.mark.parametrize(
    "text", ["", "07", "+7", "-1", " 7", "7 ", "100", "1e1", "\u0667", "7\n", "9" * 11]
)
def test_what_is_no_token(text: str) -> None:
    assert not is_token(text, 100)
    refused("BAD_VALUE", lambda: require_token(text, vocab_size=100))


@pytest.mark.parametrize("text", ["0", "1", "0.7", "999.9", "0.0000000000000001"])
def test_parameters(text: str) -> None:
    assert parameter(text, "/temperature") == Decimal(text)


@pytest.mark.parametrize(
    "text", ["-1", "1000", "0.70", "1.0", "1e0", "", ".5", "0.00000000000000001"]
)
def test_what_is_no_parameter(text: str) -> None:
    fault = refused("BAD_VALUE", lambda: parameter(text, "/temperature"))
    assert fault.pointer == "/temperature"
