"""Sampling parameters: one form for each value, and nothing outside its range."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep.engine.sampling import Sampling, fraction
from lockstep.errors import LockstepError

WHOLE: dict[str, Any] = {
    "temperature": "0.7",
    "top_k": 40,
    "top_p": "0.95",
    "min_p": "0.01",
    "seed": 5,
}


def test_parameters_are_read_and_told() -> None:
    sampling = Sampling.parse(WHOLE)
    assert sampling == Sampling("0.7", 40, "0.95", "0.01", 5)
    assert sampling.document() == WHOLE and not sampling.greedy
    assert Sampling.parse({**WHOLE, "temperature": "0"}).greedy


@pytest.mark.parametrize(
    "text",
    [
        "",
        "00",
        "01",
        "1.",
        ".5",
        "0.50",
        "1.0",
        "1e3",
        "+1",
        "-1",
        " 1",
        "1\n",
        "1_0",
        "0x1",
        "1,5",
        "nan",
        "Infinity",
        "\uff11",
        "\u0663",
        "1000",
        "0.1234567891",
    ],
)
def test_other_forms_are_refused(text: str) -> None:
    with pytest.raises(LockstepError) as caught:
        Sampling.parse({**WHOLE, "temperature": text}, "/requests/0/sampling")
    assert caught.value.code == "BAD_VALUE"
    assert caught.value.pointer == "/requests/0/sampling/temperature"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", "100.1"),
        ("temperature", "101"),
        ("top_p", "0"),
        ("top_p", "1.000000001"),
        ("min_p", "1.1"),
        ("top_k", -1),
        ("top_k", 1 << 31),
        ("seed", -1),
        ("seed", 1 << 53),
        ("beacon", ""),
        ("beacon", "0b" * 31),
        ("beacon", "0B" * 32),
        ("beacon", "0b" * 33),
    ],
)
def test_values_outside_a_range_are_refused(name: str, value: object) -> None:
    with pytest.raises(LockstepError) as caught:
        Sampling.parse({**WHOLE, name: value}, "/s")
    assert (caught.value.code, caught.value.pointer) == ("BAD_VALUE", f"/s/{name}")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", "100"),
        ("temperature", "0.000000001"),
        ("top_p", "0.000000001"),
        ("top_p", "1"),
        ("min_p", "1"),
        ("top_k", (1 << 31) - 1),
        ("seed", (1 << 53) - 1),
        ("beacon", "0b" * 32),
    ],
)
def test_the_ends_of_a_range_are_taken(name: str, value: object) -> None:
    assert Sampling.parse({**WHOLE, name: value}).document()[name] == value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", 1),
        ("top_p", 0.5),
        ("min_p", None),
        ("top_k", "4"),
        ("seed", True),
        ("beacon", None),
    ],
)
def test_other_types_are_refused(name: str, value: object) -> None:
    with pytest.raises(LockstepError) as caught:
        Sampling.parse({**WHOLE, name: value}, "/s")
    assert (caught.value.code, caught.value.pointer) == ("WRONG_TYPE", f"/s/{name}")


@pytest.mark.parametrize("name", sorted(WHOLE))
def test_every_member_is_required(name: str) -> None:
    member = {key: value for key, value in WHOLE.items() if key != name}
    with pytest.raises(LockstepError) as caught:
        Sampling.parse(member, "/s")
    assert (caught.value.code, caught.value.pointer) == ("MISSING_FIELD", f"/s/{name}")


def test_other_members_are_refused() -> None:
    with pytest.raises(LockstepError) as caught:
        Sampling.parse({**WHOLE, "typical_p": "1"}, "/s")
    assert (caught.value.code, caught.value.pointer) == ("UNKNOWN_FIELD", "/s/typical_p")
    with pytest.raises(LockstepError) as caught:
        Sampling.parse([], "/s")
    assert caught.value.code == "WRONG_TYPE"


@given(st.integers(0, 999), st.integers(0, 10**9 - 1))
def test_a_fraction_is_exact(whole: int, billionths: int) -> None:
    text = f"{whole}.{billionths:09}".rstrip("0").rstrip(".")
    value = fraction(text)
    assert value.numerator * 10**9 == (whole * 10**9 + billionths) * value.denominator
