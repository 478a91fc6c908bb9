"""The producer's sampler and the verifier's, which share no line, on the same inputs."""

from __future__ import annotations

import random
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.errors import LockstepError
from lockstep.sampling import rng, upstream, weights
from lockstep.sampling.categorical import draw
from lockstep.sampling.exp import exp
from lockstep.sampling.number import is_logprob, is_token
from lockstep.sampling.parameters import resolve
from lockstep.sampling.seed import Origin, derive_seed
from lockstep_verify.derive import sampling_draws, sampling_numbers, sampling_upstream
from lockstep_verify.derive import sampling_weights as derived
from lockstep_verify.errors import Refusal

POSITIONS = 2000
LONG = 200_000
Given = tuple[dict[str, str], tuple[str, int | None, str | None, str | None]]


def decimal_text(chosen: random.Random, most: float, places: int) -> str:
    """Give the only text of a number up to `most`, of at most so many places."""
    number = Decimal(repr(round(chosen.uniform(0, most), chosen.randint(0, places))))
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def position(chosen: random.Random) -> Given:
    """Give a random position: ties, gaps of all sizes, and every filter in and out of use."""
    size = chosen.choice((1, 2, 3, 5, 20, 64))
    spread = chosen.choice((0.0, 1e-9, 0.5, 4.0, 30.0, 200.0))
    tokens = chosen.sample(range(chosen.choice((70, 200_000))), size)
    numbers = [decimal_text(chosen, spread, chosen.choice((1, 4, 12))) for _ in tokens]
    support = {str(t): n if n == "0" else f"-{n}" for t, n in zip(tokens, numbers, strict=True)}
    temperature = chosen.choice(("1", "0.7", "0.1", "2", "0.00001", decimal_text(chosen, 2, 9)))
    if Decimal(temperature) < Decimal("0.00001"):
        temperature = "0.35"
    top_k = chosen.choice((None, None, 0, -1, 1, 2, 7, 1000))
    top_p = chosen.choice((None, "1", "0.5", "0.95", "0.000001", "0.9999999999999999"))
    min_p = chosen.choice((None, "0", "1", "0.05", "0.5", "0.0000000000000001"))
    return support, (temperature, top_k, top_p, min_p)


def by_verifier(given: Given) -> dict[str, int]:
    support, parameters = given
    pairs = [(token, sampling_numbers.logprob(support[token])) for token in sorted(support)]
    held = [(token, number) for token, number in pairs if number is not None]
    assert len(held) == len(pairs)
    return dict(derived.weigh(held, derived.resolve(*parameters)))


def compare(given: Given, seed: str) -> None:
    made = weights(given[0], resolve(*given[1]))
    again = by_verifier(given)
    assert made == again, given
    assert sum(again.values()) == 65536
    stream = sampling_draws.Stream(seed)
    assert sampling_draws.scan(list(again.items()), stream) == draw(made, seed)


def test_random_positions() -> None:
    chosen = random.Random("two implementations")
    for n in range(POSITIONS):
        compare(position(chosen), f"seed {n}")


@pytest.mark.slow
def test_many_random_positions() -> None:
    chosen = random.Random("many")
    for n in range(LONG):
        compare(position(chosen), f"seed {n}")


@given(st.randoms(use_true_random=False), st.text(max_size=20))
@settings(max_examples=60, deadline=None)
def test_positions_that_are_shrunk(chosen: random.Random, seed: str) -> None:
    compare(position(chosen), seed)


@given(st.integers(1, 10**10 - 1), st.integers(-40, -3))
@settings(max_examples=300, deadline=None)
def test_exponentials(c: int, q: int) -> None:
    x = Decimal(-c).scaleb(q)
    if x >= -2_302_000:
        number = sampling_numbers.exponential(sampling_numbers.rounded(-c, 1, q))
        wanted = exp(x)
        exponent = wanted.as_tuple().exponent
        assert isinstance(exponent, int)
        digits = int("".join(map(str, wanted.as_tuple().digits)))
        assert sampling_numbers.compare(number, sampling_numbers.Number(digits, exponent)) == 0


@given(
    st.integers(-(2**63), 2**63 - 1),
    st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=256),
    st.sampled_from(("", "ab" * 32)),
    st.integers(0, 2**16 - 1),
    st.integers(0, 2**31 - 1),
)
@settings(max_examples=60, deadline=None)
def test_seeds(user_seed: int, name: str, beacon: str, choice: int, at: int) -> None:
    made = derive_seed(Origin(user_seed, name, beacon), choice, at)
    assert made == sampling_draws.seed(user_seed, name, beacon, choice, at)


@given(st.text(max_size=70), st.integers(0, 2**64 - 1), st.integers(1, 2**64))
@settings(max_examples=100, deadline=None)
def test_draws(seed: str, counter: int, n: int) -> None:
    stream = sampling_draws.Stream(seed, counter)
    assert rng.u64(seed, counter) == stream.draw()
    again = sampling_draws.Stream(seed, counter)
    value, after = rng.below(seed, n, counter)
    assert (value, after % 2**64) == (again.below(n), again.counter)


LIKE_NUMBERS = st.text("-+0123456789.eE_ \u0663infa", max_size=34)


@given(LIKE_NUMBERS)
@settings(max_examples=300, deadline=None)
def test_the_grammars_of_numbers(text: str) -> None:
    assert is_logprob(text) == (sampling_numbers.logprob(text) is not None)
    for size in (1, 300, 2**31 - 1):
        assert is_token(text, size) == sampling_numbers.is_token(text, size)


UPSTREAM_NUMBERS = st.sampled_from(
    ("0", "-0", "-1", "-1.5", "-0.5e1", " -2 ", "1_0", "inf", "-inf", "nan", "1e400001", "-1e9",
     "-1e-400000", "-23", "0.3", "-1E+3", ".5", "5.", "", "x", "1" * 65)
)  # fmt: skip
MAYBE = st.none() | UPSTREAM_NUMBERS


def outcome(act: Any) -> Any:
    """Give what a function gives, None for an error of either kind."""
    try:
        return act()
    except (LockstepError, Refusal):
        return None


@given(
    st.dictionaries(st.sampled_from(("1", "2", "10", "07", "é", "\U0001f600")), UPSTREAM_NUMBERS),
    UPSTREAM_NUMBERS,
    st.none() | st.integers(-4, 7),
    MAYBE,
    MAYBE,
)
@settings(max_examples=200, deadline=None)
def test_the_profile_of_upstream(
    support: dict[str, str], t: str, top_k: int | None, top_p: str | None, min_p: str | None
) -> None:
    made = outcome(
        lambda: upstream.weights(support, upstream.UpstreamParameters(t, top_k, top_p, min_p))
    )
    again = outcome(lambda: dict(sampling_upstream.weigh(support, t, top_k, top_p, min_p)))
    assert made == again
