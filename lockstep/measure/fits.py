"""Least squares without rounding: integers up to the solve, fractions after it [MEAS-8].

With the cross-products n·Σxy − Σx·Σy nothing is divided before the solve, so that no mean is
rounded. What a population cannot tell apart is refused by what it lacks, not by the size of a
determinant: that of a single batch budget is not 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt, lcm

from lockstep.errors import LockstepError


@dataclass(frozen=True)
class Solution:
    """A least-squares fit of a value by one or two regressors.

    Attributes:
        coefficients: the constant term, then one for each regressor.
        rank: of the design, the constant term included.
        determinant: of the matrix of the regressors' cross-products.
        condition_permille: condition number of their correlation matrix, in thousandths, rounded
            down.
        residuals: value less fit, in the order of the points.
    """

    coefficients: tuple[Fraction, ...]
    rank: int
    determinant: Fraction
    condition_permille: int
    residuals: tuple[Fraction, ...]

    @property
    def largest_residual(self) -> Fraction:
        """The largest magnitude of a residual."""
        return max(abs(residual) for residual in self.residuals)

    @property
    def mean_square_residual(self) -> Fraction:
        """The mean of the residuals' squares."""
        return sum((r * r for r in self.residuals), Fraction(0)) / len(self.residuals)


def solve(points: Sequence[tuple[Sequence[Fraction], Fraction]], pointer: str = "") -> Solution:
    """Fit values by a constant and by each point's regressors, exactly.

    Args:
        points: regressors, one or two, and value of each point.
        pointer: of the fit, for a refusal.

    Raises:
        LockstepError: FIT_NOT_IDENTIFIED, there are no more points than coefficients, or a
            regressor follows from the others.
    """
    width = len(points[0][0]) if points else 0
    if len(points) < width + 2:
        raise LockstepError("FIT_NOT_IDENTIFIED", pointer, f"{width + 2} points", len(points))
    rows = [(*regressors, value) for regressors, value in points]
    scales = [lcm(*(row[place].denominator for row in rows)) for place in range(width + 1)]
    whole = [[int(cell * scale) for cell, scale in zip(row, scales, strict=True)] for row in rows]
    slopes, determinant, condition = _slopes(whole, width, pointer)
    slopes = [s * Fraction(scales[k], scales[width]) for k, s in enumerate(slopes)]
    count = len(rows)
    total = sum((row[width] for row in rows), Fraction(0))
    explained = sum((s * row[k] for row in rows for k, s in enumerate(slopes)), Fraction(0))
    constant = (total - explained) / count
    residuals = tuple(
        row[width] - constant - sum((s * row[k] for k, s in enumerate(slopes)), Fraction(0))
        for row in rows
    )
    unscaled = Fraction(determinant)
    for scale in scales[:width]:
        unscaled /= scale * scale
    return Solution((constant, *slopes), width + 1, unscaled, condition, residuals)


def _slopes(rows: list[list[int]], width: int, pointer: str) -> tuple[list[Fraction], int, int]:
    """Solve the centred normal equations of integers: slopes, determinant, condition number."""
    count = len(rows)

    def cross(a: int, b: int) -> int:
        product = sum(row[a] * row[b] for row in rows)
        return count * product - sum(row[a] for row in rows) * sum(row[b] for row in rows)

    if width == 1:
        determinant = cross(0, 0)
        _require_rank(determinant, pointer)
        return [Fraction(cross(0, 1), determinant)], determinant, 1000
    xx, yy, xy, xv, yv = cross(0, 0), cross(1, 1), cross(0, 1), cross(0, 2), cross(1, 2)
    determinant = xx * yy - xy * xy
    _require_rank(determinant, pointer)
    slopes = [
        Fraction(xv * yy - yv * xy, determinant),
        Fraction(yv * xx - xv * xy, determinant),
    ]
    return slopes, determinant, condition_permille(xy * xy, xx * yy)


def condition_permille(shared: int, whole: int) -> int:
    """Give ⌊1000 (1 + r) / (1 − r)⌋ for the correlation r = √(shared ÷ whole), below 1."""
    # (1 + r) / (1 - r) is (whole + shared + 2 √(shared · whole)) / (whole - shared).
    top = 1000 * (whole + shared) + isqrt(4_000_000 * shared * whole)
    return top // (whole - shared)


def _require_rank(determinant: int, pointer: str) -> None:
    if determinant == 0:
        expected = "regressors that do not follow from one another"
        raise LockstepError("FIT_NOT_IDENTIFIED", pointer, expected, "determinant 0")
