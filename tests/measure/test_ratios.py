"""Ratios and their intervals: known values, and both implementations over random walls."""

from __future__ import annotations

from fractions import Fraction
from math import comb

from hypothesis import given
from hypothesis import strategies as st

from lockstep.claims import throughput_ratios as ratios
from lockstep.claims.throughput_ratios import Ratio
from lockstep_verify.derive import throughput_ratios as verifier

WALLS = st.integers(1, 1 << 53)
PAIRS = st.lists(st.tuples(WALLS, WALLS), min_size=0, max_size=24)


def test_ranks_at_95_percent() -> None:
    """By the table of the sign test (Conover, Practical Nonparametric Statistics, 3.2)."""
    known = {0: None, 1: None, 5: None, 6: 1, 8: 1, 9: 2, 11: 2, 12: 3, 15: 4, 17: 5, 20: 6, 25: 8}
    assert {count: ratios.rank(count, 950) for count in known} == known


def test_a_rank_reaches_the_confidence_and_the_next_one_does_not() -> None:
    for count in range(6, 60):
        k = ratios.rank(count, 950)
        assert k is not None
        outside = [Fraction(2 * sum(comb(count, i) for i in range(rank)), 2**count)
                   for rank in (k, k + 1)]  # fmt: skip
        assert outside[0] <= Fraction(50, 1000) < outside[1]


def test_an_interval_of_nine_leaves_the_ends_out() -> None:
    walls = [(105 + block, 100) for block in (3, 1, 8, 0, 5, 2, 7, 4, 6)]
    found = ratios.interval([Ratio(block, *pair) for block, pair in enumerate(walls)], 950)
    assert found is not None
    assert (found.low.a, found.median.a, found.high.a) == (106, 109, 112)
    assert found.coverage_ppm == 960_937
    assert ratios.document(found)["median"] == {"block": 7, "ppm": 1_090_000}


def test_ends_are_rounded_outwards() -> None:
    found = ratios.Interval(Ratio(0, 1, 3), Ratio(1, 2, 3), Ratio(2, 4, 3), 0)
    told = ratios.document(found)
    assert [told[end]["ppm"] for end in ("low", "median", "high")] == [333_333, 666_667, 1_333_334]  # type: ignore[index]


def test_equal_ratios_stand_by_block() -> None:
    found = ratios.ascending([Ratio(2, 4, 2), Ratio(0, 2, 1), Ratio(1, 8, 4)])
    assert [one.block for one in found] == [0, 1, 2]


def test_outcomes_are_exact() -> None:
    at = ratios.Interval(Ratio(0, 115, 100), Ratio(0, 115, 100), Ratio(0, 115, 100), 0)
    assert ratios.outcome(at, 1_150_000) == "not_separable"
    assert ratios.outcome(at, 1_150_001) == "below"
    assert ratios.outcome(at, 1_149_999) == "above"
    assert ratios.outcome(None, 1) == "not_separable"


@given(PAIRS, st.integers(500, 999), st.integers(0, 3_000_000))
def test_both_implementations_agree(
    pairs: list[tuple[int, int]], confidence: int, threshold: int
) -> None:
    mine = ratios.interval([Ratio(i, a, b) for i, (a, b) in enumerate(pairs)], confidence)
    other = verifier.interval([(Fraction(a, b), i) for i, (a, b) in enumerate(pairs)], confidence)
    assert ratios.document(mine) == verifier.stated(other)
    assert ratios.outcome(mine, threshold) == verifier.outcome(other, threshold)
