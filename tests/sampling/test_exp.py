"""The exponential is correctly rounded, by another library's word at many digits."""

from __future__ import annotations

from decimal import Context, Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.sampling.exp import exp

TEN, MANY = Context(prec=10, Emin=-(10**9), Emax=10**9), Context(prec=60, Emin=-(10**9), Emax=10**9)


def rounded(x: Decimal) -> Decimal:
    return TEN.plus(MANY.exp(x))


@settings(max_examples=300)
@given(st.integers(1, 10**10 - 1), st.integers(-14, -8))
def test_it_is_the_nearest_number_of_ten_digits(mantissa: int, exponent: int) -> None:
    x = Decimal(f"-{mantissa}E{exponent}")
    assert exp(x) == rounded(x)


@pytest.mark.parametrize(
    "text", ["-1E-11", "-4.999999999E-11", "-5.000000001E-11", "-1E-10", "-64", "-2.302585093",
             "-2.302585092", "-23.02585093", "-690.7755279", "-23000", "-2302000"]
)  # fmt: skip
def test_it_is_right_next_to_powers_of_ten_and_far_out(text: str) -> None:
    assert exp(Decimal(text)) == rounded(Decimal(text))


def test_it_is_1_at_0_and_near_it() -> None:
    assert exp(Decimal(0)) == exp(Decimal("-0")) == exp(Decimal("-1E-300000")) == 1


@pytest.mark.parametrize("text", ["-0.6403554005", "-4.509225607", "-63.99999999"])
def test_too_few_bits_are_noticed_and_doubled(text: str) -> None:
    # With 40 bits the bound of the error is wider than the last digit.
    assert exp(Decimal(text), bits=40) == exp(Decimal(text)) == rounded(Decimal(text))


@pytest.mark.parametrize("text", ["1", "Infinity", "-Infinity", "NaN"])
def test_other_arguments_are_a_fault_of_the_caller(text: str) -> None:
    with pytest.raises((ValueError, ArithmeticError)):
        exp(Decimal(text))
