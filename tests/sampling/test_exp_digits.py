"""The digits of an exponential, by another library's word at many digits and by the verifier's."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Context, Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.sampling.exp_digits import exp_digits
from lockstep_verify.derive.sampling_numbers import Number, digits_of_exponential

MANY = Context(prec=110, rounding=ROUND_FLOOR, Emin=-(10**9), Emax=10**9)
ONE = 10**24


def by_decimal(units: int) -> int:
    whole = MANY.multiply(MANY.exp(Decimal(f"{units}E-24")), Decimal(10) ** 40)
    return int(whole.to_integral_value(rounding=ROUND_FLOOR))


@settings(max_examples=200)
@given(st.one_of(st.integers(1, 120 * ONE), st.integers(1, ONE), st.integers(1, 10**6)))
def test_it_is_the_integer_below(units: int) -> None:
    assert (
        exp_digits(-units) == digits_of_exponential(Number(-units, -24), 40) == by_decimal(-units)
    )


@pytest.mark.parametrize(
    "x",
    [
        "-92",
        "-92.103403719761827360719659",
        "-92.11",
        "-93",
        "-93.5",
        "-99999",
        "-2.302585092994045684017991",
        "-0.693147180559945309417232",
    ],
)
def test_it_is_right_at_powers_and_where_nothing_is_left(x: str) -> None:
    units = int(Decimal(x) * ONE)
    assert exp_digits(units) == digits_of_exponential(Number(units, -24), 40) == by_decimal(units)


def test_it_is_1_at_0() -> None:
    assert exp_digits(0) == digits_of_exponential(Number(0, 0), 40) == 10**40


@pytest.mark.parametrize("units", [1, ONE // 3, 7 * ONE, 92 * ONE])
def test_too_few_bits_are_noticed_and_doubled(units: int) -> None:
    # With 60 bits the bound of the error is wider than the last digit.
    assert exp_digits.__wrapped__(-units, 60) == by_decimal(-units)


def test_what_is_above_0_is_a_fault_of_the_caller() -> None:
    with pytest.raises(ValueError):
        exp_digits(1)
