"""Seeds are framed: no two different origins, choices or positions share one."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep.sampling import derive_seed
from lockstep.sampling.rng import RANGE, below, u64
from lockstep.sampling.seed import Origin
from tests.refusals import refused

ORIGIN = Origin(-7, "chain-abc", "0f" * 32)
IDS = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=8)
ORIGINS = st.builds(
    Origin,
    st.integers(-(1 << 63), (1 << 63) - 1) | st.integers(-20, 20),
    IDS,
    st.sampled_from(["", "0" * 64, "f" * 64]),
)
PLACES = st.tuples(ORIGINS, st.integers(0, 12), st.integers(0, 120))


def test_the_framed_bytes_are_those_of_the_specification() -> None:
    lines = [
        "lockstep-sampling-v1", "user_seed_len=2", "-7", "inference_id_len=9", "chain-abc",
        "beacon_len=64", "0f" * 32, "choice_len=1", "3", "position_len=2", "12",
    ]  # fmt: skip
    assert derive_seed(ORIGIN, 3, 12) == hashlib.sha256("\n".join(lines).encode()).hexdigest()
    bare = "lockstep-sampling-v1\nuser_seed_len=1\n0\ninference_id_len=1\n!\nbeacon_len=0\n\n"
    bare += "choice_len=1\n0\nposition_len=1\n0"
    assert derive_seed(Origin(0, "!"), 0, 0) == hashlib.sha256(bare.encode()).hexdigest()


@given(PLACES, PLACES)
def test_different_places_have_different_seeds(one: Any, other: Any) -> None:
    assert (derive_seed(*one) == derive_seed(*other)) == (one == other)


class Whole(int):
    """An integer of another class."""


@pytest.mark.parametrize(
    ("code", "pointer", "arguments"),
    [
        ("MISSING_FIELD", "/inference_id", (Origin(0, None), 0, 0)),  # type: ignore[arg-type]
        ("WRONG_TYPE", "/inference_id", (Origin(0, 7), 0, 0)),  # type: ignore[arg-type]
        ("BAD_VALUE", "/inference_id", (Origin(0, ""), 0, 0)),
        ("LIMIT_SIZE", "/inference_id", (Origin(0, "x" * 257), 0, 0)),
        ("BAD_VALUE", "/inference_id", (Origin(0, "a b"), 0, 0)),
        ("BAD_VALUE", "/inference_id", (Origin(0, "caf\u00e9"), 0, 0)),
        ("BAD_VALUE", "/inference_id", (Origin(0, "a\n"), 0, 0)),
        ("WRONG_TYPE", "/user_seed", (Origin(True, "x"), 0, 0)),
        ("WRONG_TYPE", "/user_seed", (Origin(Whole(1), "x"), 0, 0)),
        ("WRONG_TYPE", "/user_seed", (Origin("7", "x"), 0, 0)),  # type: ignore[arg-type]
        ("WRONG_TYPE", "/user_seed", (Origin(1.0, "x"), 0, 0)),  # type: ignore[arg-type]
        ("BAD_VALUE", "/user_seed", (Origin(1 << 63, "x"), 0, 0)),
        ("BAD_VALUE", "/user_seed", (Origin(-(1 << 63) - 1, "x"), 0, 0)),
        ("WRONG_TYPE", "/beacon", (Origin(0, "x", None), 0, 0)),  # type: ignore[arg-type]
        ("BAD_VALUE", "/beacon", (Origin(0, "x", "0F" * 32), 0, 0)),
        ("WRONG_TYPE", "/choice", (Origin(0, "x"), True, 0)),
        ("BAD_VALUE", "/choice", (Origin(0, "x"), 1 << 16, 0)),
        ("BAD_VALUE", "/position", (Origin(0, "x"), 0, -1)),
    ],
)
def test_what_is_refused(code: str, pointer: str, arguments: Any) -> None:
    assert refused(code, lambda: derive_seed(*arguments)).pointer == pointer


def test_the_counter_goes_round() -> None:
    assert u64("x", RANGE) == u64("x", 0)
    assert below("x", RANGE, RANGE - 1) == (u64("x", RANGE - 1), RANGE)


@pytest.mark.parametrize("n", [0, -1, RANGE + 1])
def test_a_bounded_draw_has_bounds(n: int) -> None:
    refused("BAD_VALUE", lambda: below("x", n))


def test_draws_past_the_largest_multiple_are_passed_over() -> None:
    # Of 2^63 + 1 nearly every second draw is.
    n = (1 << 63) + 1
    drawn, counter = below("reference_seed_v1", n, 1)
    assert u64("reference_seed_v1", 1) >= n
    assert drawn < n
    assert counter > 2
