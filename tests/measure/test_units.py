"""Units: one spelling each, and nothing converted unasked."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep.measure import units
from lockstep_verify.derive import measurement_units as verifiers
from lockstep_verify.errors import Refusal
from tests.refusals import refused

BASES = ["as", "byte", "ms", "s", "step", "token", "unat", "us"]
powers = st.dictionaries(st.sampled_from(BASES), st.sampled_from([-3, -2, -1, 1, 2, 3]))


@given(powers, powers)
def test_both_packages_read_and_multiply_alike(one: dict[str, int], two: dict[str, int]) -> None:
    text, other = units.render(one), units.render(two)
    assert units.parse(text) == one
    assert verifiers.write_unit(verifiers.read_unit(text, "")) == text
    product = units.render(units.times(one, two))
    assert (
        verifiers.write_unit(
            verifiers.multiply(verifiers.read_unit(text, ""), verifiers.read_unit(other, ""))
        )
        == product
    )
    assert "_" + units.words(text) == verifiers.ending(text)


@pytest.mark.parametrize(
    "text", ["us/us", "token*us/us", "us^1", "us/", "/us", "1/1", "us*byte", "week", "us^5", ""]
)
def test_another_spelling_is_refused(text: str) -> None:
    refused("UNIT_MISMATCH", lambda: units.parse(text))
    with pytest.raises((Refusal, ValueError)):
        verifiers.read_unit(text, "")


def test_milliseconds_are_microseconds_only_when_converted() -> None:
    ms, us = units.parse("ms/token"), units.parse("us/token")
    assert ms != us
    assert units.conversion(ms, us) == 1000
    assert units.conversion(units.parse("token/s"), units.parse("token/ms")) == Fraction(1, 1000)
    assert units.conversion(units.parse("us/token^2"), units.parse("as/token^2")) == 10**12
    for other in ("us", "us/step", "token/us", "us^2/token"):
        refused("UNIT_MISMATCH", lambda other=other: units.conversion(ms, units.parse(other)))
        with pytest.raises(Refusal):
            verifiers.factor(
                verifiers.read_unit("ms/token", ""), verifiers.read_unit(other, ""), ""
            )


@pytest.mark.parametrize(
    ("unit", "name", "says"),
    [("token", "prefill_token", True), ("token", "prefill_us_per_token", False),
     ("token", "x_per_token", False), ("step", "x_us_per_token_step", False),
     ("us", "first_token_us", True), ("us/token", "x_us_per_token", True),
     ("1/token", "x_per_token", True), ("1/token", "x_us_per_token", False),
     ("1/token", "x_token2_per_token", False), ("1", "us_per_token_ratio", True),
     ("1", "ratio", False), ("us", "per_us", False), ("us", "per_step_us", False),
     ("us", "whisper_us", True), ("1/token", "x_per_per_token", False)],
)  # fmt: skip
def test_a_name_reads_as_no_longer_unit(unit: str, name: str, says: bool) -> None:
    assert units.names(unit, name) is says
    assert verifiers.named(name, unit) is says


def test_names_say_the_unit() -> None:
    told = {"us/token": "us_per_token", "as/token^2": "as_per_token2", "1": "ratio",
            "token/step": "token_per_step", "1/s": "per_s", "byte*step": "byte_step"}  # fmt: skip
    for unit, words in told.items():
        assert units.words(unit) == words
        assert verifiers.ending(unit) == "_" + words
