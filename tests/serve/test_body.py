"""Bodies of calls: JSON as it stands, fields in one form each, none passed over."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep.engine.sampling import Sampling
from lockstep.errors import LockstepError
from lockstep.serve.body import Body, parse_body


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"\xff", "BAD_ENCODING"),
        (b"{", "MALFORMED_JSON"),
        (b"", "MALFORMED_JSON"),
        (b'{"a": NaN}', "MALFORMED_JSON"),
        (b'{"a": 1} x', "MALFORMED_JSON"),
        (b'{"a": 1' + b"0" * 5000 + b"}", "MALFORMED_JSON"),
        (b'{"a": 1, "a": 2}', "DUPLICATE_KEY"),
        (b'{"a": "\\ud800"}', "BAD_UNICODE"),
        (b"[" * 100_000, "LIMIT_DEPTH"),
        (b"[]", "NOT_AN_OBJECT"),
    ],
)
def test_what_is_no_body_is_refused(data: bytes, code: str) -> None:
    with pytest.raises(LockstepError) as caught:
        parse_body(data)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("written", "read"),
    [("0", "0"), ("-0.0", "0"), ("0.70", "0.7"), ("1", "1"), ("1.0", "1"), ("2e-1", "0.2"),
     ("0.000000001", "0.000000001"), ("100", "100")],
)  # fmt: skip
def test_fractions_stay_the_decimals_that_they_are(written: str, read: str) -> None:
    body = Body(parse_body(f'{{"temperature": {written}}}'.encode()))
    assert body.decimal("temperature", "1") == read
    Sampling(temperature=read)


@pytest.mark.parametrize("written", ["-1", "1000", "0.0000000001", "0.30000000000000004", "1e400"])
def test_a_fraction_of_another_form_is_refused(written: str) -> None:
    body = Body(parse_body(f'{{"temperature": {written}}}'.encode()))
    with pytest.raises(LockstepError) as caught:
        body.decimal("temperature", "1")
    assert (caught.value.code, caught.value.pointer) == ("BAD_VALUE", "/temperature")


@given(st.decimals(0, 999, places=9))
def test_a_read_fraction_has_its_value_and_the_form_of_the_engine(value: Decimal) -> None:
    text = Body({"temperature": value}).decimal("temperature", "1")
    assert Decimal(text) == value
    assert text == "0" or not text.endswith("0") or "." not in text


@pytest.mark.parametrize("value", [True, "1", [1], 1.5])
def test_an_integer_is_nothing_else(value: object) -> None:
    with pytest.raises(LockstepError) as caught:
        Body({"n": value}).integer("n", 1, 2)
    assert caught.value.code == "WRONG_TYPE"


def test_null_counts_as_left_out() -> None:
    body = Body({"n": None, "stop": None})
    assert body.integer("n", 1, 2) is None
    body.close({}, ())


def test_a_field_that_nobody_took_is_refused() -> None:
    with pytest.raises(LockstepError) as caught:
        Body({"temprature": 1}).close({}, ("user",))
    assert (caught.value.code, caught.value.pointer) == ("UNKNOWN_FIELD", "/temprature")


@pytest.mark.parametrize("value", [0, Decimal("0.0")])
def test_a_known_field_that_asks_for_nothing_passes(value: object) -> None:
    Body({"presence_penalty": value, "user": "x"}).close({"presence_penalty": (0,)}, ("user",))


@pytest.mark.parametrize("value", [1, False, "0"])
def test_a_known_field_that_asks_for_something_is_refused(value: object) -> None:
    with pytest.raises(LockstepError) as caught:
        Body({"presence_penalty": value}).close({"presence_penalty": (0,)}, ())
    assert caught.value.code == "FIELD_UNSUPPORTED"
