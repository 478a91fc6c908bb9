"""Measures of a position: where they are 0, what changes nothing, and what they are bounds of."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep import spec
from lockstep.sampling.distance import (
    MOST,
    Measures,
    beyond,
    has_mass,
    measure,
    quantile,
    statistics,
    top,
    values,
)
from lockstep.sampling.number import written
from lockstep_verify.derive import distance_measures as derived
from tests.refusals import refused

UNIT = 10**24
DATA = spec.load("distance-calibration.json")
TEXTS = st.one_of(
    st.integers(1, 10**6).map(lambda n: "-" + (f"{n / 10**5:.5f}".rstrip("0").rstrip("."))),
    st.just("0"),
    st.integers(1, 99999).map(lambda n: f"-{n}"),
    st.integers(1, 10**24 - 1).map(lambda n: f"-0.{n:024d}".rstrip("0")),
)
SUPPORTS = st.dictionaries(st.integers(0, 40).map(str), TEXTS, min_size=1, max_size=9)


@st.composite
def sides(draw: st.DrawFn) -> tuple[dict[str, str], dict[str, str]]:
    """Give a support that was signed, and one that holds its tokens, its numbers or others."""
    signed = draw(SUPPORTS)
    recomputed = draw(SUPPORTS)
    for token, text in signed.items():
        if draw(st.booleans()) or token not in recomputed:
            recomputed[token] = text if draw(st.booleans()) else draw(TEXTS)
    return signed, recomputed


def as_text(support: dict[str, str]) -> str:
    return " ".join(f"{token}:{text}" for token, text in sorted(support.items()))


@settings(max_examples=80)
@given(sides())
def test_both_implementations_measure_alike(given_: tuple[dict[str, str], dict[str, str]]) -> None:
    signed, recomputed = given_
    parsed = [derived.parse(as_text(one), 100) for one in given_]
    assert parsed[0] is not None and parsed[1] is not None
    found = measure(values(signed), values(recomputed))
    assert tuple(found) == derived.measure(parsed[0].values, parsed[1])
    assert list(top(values(recomputed), 99)) == parsed[1].ranking
    for vocab_size in (41, 500):
        assert has_mass(values(recomputed), len(signed), vocab_size) == derived.massive(
            parsed[1], len(signed), vocab_size
        )


@given(SUPPORTS)
def test_what_is_signed_as_it_is_recomputed_is_at_0(support: dict[str, str]) -> None:
    assert measure(values(support), values(support)) == Measures(0, 0, 0)


@given(sides())
def test_it_is_0_only_where_nothing_contradicts(
    given_: tuple[dict[str, str], dict[str, str]],
) -> None:
    signed, recomputed = (values(one) for one in given_)
    found = measure(signed, recomputed)
    agree = all(recomputed[token] == value for token, value in signed.items())
    likeliest = sorted((recomputed[token] for token in signed), reverse=True) == [
        recomputed[token] for token in top(recomputed, len(signed))
    ]
    # Differences below a unit are cut off, and so the other way asks for one unit.
    if agree and likeliest:
        assert found == Measures(0, 0, 0)
    if any(abs(recomputed[t] - v) >= 10**12 for t, v in signed.items()):
        assert found.max > 0


@given(sides(), st.randoms(use_true_random=False))
def test_the_order_of_tokens_changes_nothing(
    given_: tuple[dict[str, str], dict[str, str]], chosen: random.Random
) -> None:
    before = measure(*(values(one) for one in given_))
    mixed = []
    for one in given_:
        pairs = list(one.items())
        chosen.shuffle(pairs)
        mixed.append(values(pairs))
    assert measure(*mixed) == before


@given(SUPPORTS, st.data())
def test_means_and_largest_are_symmetric_on_the_same_tokens(
    support: dict[str, str], data: st.DataObject
) -> None:
    other = {token: data.draw(TEXTS) for token in support}
    there, back = (
        measure(values(one), values(two)) for one, two in ((support, other), (other, support))
    )
    assert (there.mae, there.max) == (back.mae, back.max)


@given(sides(), TEXTS)
def test_what_is_recomputed_besides_changes_nothing(
    given_: tuple[dict[str, str], dict[str, str]], text: str
) -> None:
    signed, recomputed = given_
    before = measure(values(signed), values(recomputed))
    edge = min(values(recomputed)[token] for token in top(values(recomputed), len(signed)))
    if values({"99": text})["99"] < edge:
        assert measure(values(signed), values({**recomputed, "99": text})) == before


@settings(max_examples=40)
@given(st.lists(st.floats(-4, 4), min_size=6, max_size=6), st.lists(st.floats(-4, 4), min_size=6,
       max_size=6), st.integers(1, 6))  # fmt: skip
def test_each_is_a_lower_bound_of_what_the_whole_vocabularies_have(
    one: list[float], other: list[float], count: int
) -> None:
    rows = []
    for logits in (one, other):
        whole = math.log(math.fsum(map(math.exp, logits)))
        rows.append({str(t): written(min(0.0, x - whole)) for t, x in enumerate(logits)})
    p, q = (values(row) for row in rows)
    signed = {token: p[token] for token in top(p, count)}
    found = measure(signed, q)
    exact = {t: Fraction(p[t] - q[t], UNIT) for t in p}
    divergence = math.fsum(math.exp(p[t] / UNIT) * float(exact[t]) for t in p)
    assert found.max <= max(abs(one) for one in exact.values()) * 10**12
    # Numbers are written to 12 digits, which moves the sum of a distribution by that much.
    assert found.kl <= (divergence + 1e-11) * 1e15


def test_kl_is_directed() -> None:
    one, other = values({"1": "-0.1", "2": "-3"}), values({"1": "-1", "2": "-0.5"})
    assert measure(one, other).kl != measure(other, one).kl


def test_examples() -> None:
    signed = {"5": "-0.5", "10": "-1.2", "2": "-2.5", "100": "-3.9", "7": "-4.1"}
    # A token that was left out though it is likely: all that it is above the edge.
    narrow = measure(values({"7": "-4.1"}), values(signed))
    assert (narrow.mae, narrow.max) == (1_800_000_000_000, 3_600_000_000_000)
    # Two tokens at the edge that are ordered differently: no more than the numbers say.
    edge = measure(values({"1": "-0.2", "2": "-2"}), values({"1": "-0.2", "2": "-2.01", "3": "-2"}))
    assert (edge.mae, edge.max) == (3_333_333_333, 10_000_000_000)
    assert measure(values({"1": "0"}), values({"1": "-99999"})) == Measures(MOST, MOST, MOST)
    assert measure(values({"1": "-99999"}), values({"1": "0"})).kl == 10**15
    assert measure(values({"1": "0"}), values({"1": "-0.000000000000999999"})).max == 0


def test_what_cannot_be_measured_is_refused() -> None:
    refused("BAD_VALUE", lambda: measure({}, values({"1": "-1"})))
    refused("BAD_VALUE", lambda: measure(values({"1": "-1", "2": "-1"}), values({"1": "-1"})))
    refused("BAD_VALUE", lambda: values({"01": "-1"}))
    refused("BAD_VALUE", lambda: values({"1": "-1.0"}))
    refused("BAD_VALUE", lambda: values([("1", "-1"), ("1", "-1")]))


@given(st.lists(st.integers(0, 50), min_size=1, max_size=60), st.integers(1, 1000))
def test_a_quantile_is_one_of_the_numbers_by_nearest_rank(
    numbers: list[int], permille: int
) -> None:
    found = quantile(numbers, permille)
    assert derived.quantile(sorted(numbers), permille) == found
    assert found in numbers
    assert 1000 * sum(one <= found for one in numbers) >= permille * len(numbers)
    assert 1000 * sum(one < found for one in numbers) < permille * len(numbers)


def test_gates_see_what_a_mean_of_means_hides() -> None:
    quiet, bent = Measures(1, 1, 1), Measures(10**12, 10**15, 10**12)
    told = statistics([bent] * 2 + [quiet] * 30)
    assert told == (1, 10**12, 1, 10**15, 1, 10**12, 10**12)
    assert told == tuple(derived.statistics([tuple(one) for one in [bent] * 2 + [quiet] * 30]))
    assert statistics([bent] + [quiet] * 31) == (*(1,) * 6, 10**12)
    assert not beyond(told, told) and beyond(told, (1, 10**12 - 1, *told[2:]))


def test_the_verifier_has_the_constants_of_the_data() -> None:
    names = DATA["measures"]
    gates = [
        (names.index(one["measure"]), one["permille"], one["margin_permille"])
        for one in DATA["gates"]
    ]
    assert list(derived.GATES) == gates
    assert tuple(names) == Measures._fields
    assert DATA["digits"] == derived.PLACES


@pytest.mark.parametrize(
    ("support", "vocab_size", "holds"),
    [
        ({"1": "-0.7", "2": "-0.7"}, 2, True),
        ({"1": "-0.7", "2": "-0.6"}, 2, False),
        ({"1": "-0.7", "2": "-0.75"}, 2, False),
        ({"1": "-0.7", "2": "-0.75"}, 3, True),
        ({"1": "0", "2": "-4.7"}, 2, True),
        ({"1": "0", "2": "-4.6"}, 2, False),
    ],
)
def test_mass(support: dict[str, str], vocab_size: int, holds: bool) -> None:
    assert has_mass(values(support), 2, vocab_size) is holds
