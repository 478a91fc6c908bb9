"""Exact least squares: against an independent solve, and what a population cannot tell."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.measure.fits import condition_permille, solve
from lockstep.measure.laws import fit
from lockstep.measure.records import Record
from lockstep_verify.derive import measurement_fits as verifiers
from tests.refusals import refused

numbers = st.integers(-(10**9), 10**9)
fractions = st.builds(Fraction, numbers, st.integers(1, 1000))


def by_hand(points: list[tuple[tuple[Fraction, ...], Fraction]]) -> list[Fraction] | None:
    """Solve the normal equations by Cramer's rule, by determinants of their own."""
    rows = [[Fraction(1), *regressors, value] for regressors, value in points]
    width = len(rows[0]) - 1
    left = [[sum(r[i] * r[j] for r in rows) for j in range(width)] for i in range(width)]
    right = [sum(r[i] * r[width] for r in rows) for i in range(width)]

    def determinant(matrix: list[list[Fraction]]) -> Fraction:
        if len(matrix) == 1:
            return matrix[0][0]
        minors = ([row[:j] + row[j + 1 :] for row in matrix[1:]] for j in range(len(matrix)))
        return sum((-1) ** j * matrix[0][j] * determinant(m) for j, m in enumerate(minors))

    whole = determinant(left)
    if whole == 0:
        return None
    swapped = [
        [[*row[:j], right[i], *row[j + 1 :]] for i, row in enumerate(left)] for j in range(width)
    ]
    return [determinant(matrix) / whole for matrix in swapped]


@settings(max_examples=40, deadline=None)
@given(st.data(), st.sampled_from([1, 2]))
def test_the_fit_is_that_of_cramers_rule_and_of_elimination(data: st.DataObject, k: int) -> None:
    point = st.tuples(st.tuples(*[fractions] * k), fractions)
    points = data.draw(st.lists(point, min_size=k + 2, max_size=8))
    wanted = by_hand(points)
    if wanted is None:
        refused("FIT_NOT_IDENTIFIED", lambda: solve(points))
        return
    found = solve(points)
    assert list(found.coefficients) == wanted
    listed = [(list(regressors), value) for regressors, value in points]
    assert verifiers._solve(listed, "") == wanted
    # The residuals are orthogonal to every regressor: nothing was rounded on the way.
    assert sum(found.residuals) == 0
    for place in range(k):
        assert sum(r * p[0][place] for r, p in zip(found.residuals, points, strict=True)) == 0


@given(st.integers(0, 10**12), st.integers(1, 10**12))
def test_the_condition_number_is_rounded_down_exactly(shared: int, more: int) -> None:
    whole = shared + more
    found = condition_permille(shared, whole)
    # With c = found / 1000: c ≤ (1 + r) / (1 − r), that is (c − 1) / (c + 1) ≤ r.
    for bound, holds in ((found, True), (found + 1, False)):
        least = Fraction(bound - 1000, bound + 1000)
        assert (least <= 0 or least**2 <= Fraction(shared, whole)) == holds
    assert found >= 1000
    r = sqrt(shared / whole)
    if r < 0.999:
        assert abs(found - 1000 * (1 + r) / (1 - r)) < 2


def records(*rows: tuple[int, int, int, int]) -> list[Record]:
    """Give records of (budget, tokens, steps, wall)."""
    return [
        Record(str(i), "a", "p", 0, budget, {"tokens": t, "steps": s, "wall_us": w}, None)
        for i, (budget, t, s, w) in enumerate(rows)
    ]


def test_one_budget_is_refused_although_its_determinant_is_not_zero() -> None:
    tokens = (511, 2048, 4098, 8186, 12372, 16510, 20072)
    one = records(*((2048, t, -(-t // 2048), 1000 + t) for t in tokens))
    points = [((Fraction(r.values["steps"] or 0), Fraction(r.values["tokens"] or 0)),
               Fraction(r.values["wall_us"] or 0)) for r in one]  # fmt: skip
    assert solve(points).determinant != 0
    assert refused("FIT_NOT_IDENTIFIED", lambda: fit("wall", one)).got == [2048]
    assert fit("wall", [*one, *records((8192, 16463, 3, 16652))]).rank == 3
    unknown = [*one, *records((8192, 16463, 3, 16652))]
    unknown[0] = Record("x", "a", "p", 0, None, unknown[0].values, None)
    refused("FIT_NOT_IDENTIFIED", lambda: fit("wall", unknown))


def test_too_few_records_and_too_few_lengths_are_refused() -> None:
    few = records((2048, 1, 1, 1), (8192, 2, 1, 2), (8192, 3, 1, 4))
    refused("FIT_NOT_IDENTIFIED", lambda: fit("wall", few))
    two = records(*[(2048, t, 1, t) for t in (5, 5, 9, 9)])
    refused("FIT_NOT_IDENTIFIED", lambda: fit("quadratic", two))
    refused("FIT_NOT_IDENTIFIED", lambda: fit("linear", records(*[(1, 4, 1, 1)] * 4)))


def test_records_of_two_profiles_are_not_joined() -> None:
    some = records(*[(2048, t, 1, t) for t in (5, 7, 9, 11)])
    some[0] = Record("x", "a", "another", 0, 2048, some[0].values, None)
    refused("PROFILE_MISMATCH", lambda: fit("linear", some))


def test_a_quadratic_total_comes_back_from_a_cost_affine_in_depth() -> None:
    # wall = 1000 + 900 n + 0.7 n²: a token at depth d costs 900 + 1.4 d.
    some = records(*[(64, n, 1, 1000 + 900 * n + 7 * n * n // 10) for n in (10, 20, 50, 100, 300)])
    assert fit("quadratic", some).coefficients == (1000, 900, Fraction(7, 10))
