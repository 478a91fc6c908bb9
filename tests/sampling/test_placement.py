"""Where a line may be drawn, by both implementations, on random statistics."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep import spec
from lockstep.sampling.distance import MOST
from lockstep.sampling.placement import placement, verdict
from lockstep_verify.derive import distance_placements as derived

GATES = len(spec.load("distance-calibration.json")["gates"])
NUMBERS = st.one_of(st.integers(0, 20), st.integers(0, MOST))


@st.composite
def ladders(draw: st.DrawFn) -> list[list[list[int]]]:
    texts, rungs = draw(st.integers(1, 5)), draw(st.integers(2, 5))
    row = st.lists(NUMBERS, min_size=GATES, max_size=GATES)
    return [draw(st.lists(row, min_size=texts, max_size=texts)) for _ in range(rungs)]


@settings(max_examples=50)
@given(ladders(), st.lists(st.integers(30, 34), min_size=1, max_size=6))
def test_both_implementations_draw_the_same_lines(
    rungs: list[list[list[int]]], lengths: list[int]
) -> None:
    for accepts in range(1, len(rungs)):
        one, other = placement(rungs, accepts), derived.place(rungs, accepts)
        assert (one.accepts, list(one.thresholds), list(one.outcomes), one.held_out_beyond) == (
            other.accepts,
            other.thresholds,
            other.outcomes,
            other.held_out_beyond,
        )
        assert verdict(lengths, one) == derived.verdict(lengths, other)


def rung(*texts: int) -> list[list[int]]:
    return [[value] * GATES for value in texts]


def test_outcomes() -> None:
    found = placement([rung(1, 2, 3, 6), rung(7, 7, 7, 7), rung(7, 7, 6, 7), rung(0, 0, 1, 3)], 1)
    # Texts 0 and 2 calibrate: twice 3, and eight times at the largest.
    assert found.thresholds == (6,) * (GATES - 1) + (24,)
    assert found.outcomes == ("held", "separated", "overlapping", "not_separated")
    assert verdict([32] * 4, found) == "overlapping"
    assert placement([rung(1, 7), rung(9, 9)], 1).outcomes == ("not_held", "separated")
    assert placement([rung(1, 7), rung(9, 9)], 1).held_out_beyond == 1


def test_each_gate_counts() -> None:
    for gate in range(GATES):
        above = [10] * GATES
        above[gate] = 81
        rungs = [rung(10, 10), [above, above]]
        assert placement(rungs, 1).outcomes == ("held", "separated"), gate


def test_a_weaker_look_never_separates() -> None:
    told = placement([rung(1, 1, 1, 1), rung(9, 9, 9, 9)], 1)
    assert verdict([32] * 4, told) == "separated"
    assert verdict([32] * 3, told) == verdict([32, 32, 31, 32], told) == "not_decided"


def test_thresholds_have_an_end() -> None:
    assert set(placement([rung(MOST, MOST), rung(MOST, MOST)], 1).thresholds) == {MOST}
