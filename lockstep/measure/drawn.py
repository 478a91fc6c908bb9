"""What every drawing of a fit has: its records along one regressor, the law, and what it leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lockstep.measure import laws
from lockstep.measure.fits import Solution, solve
from lockstep.measure.records import Record

AXES = {
    "wall": ("tokens of the prompt", "wall", "s"),
    "linear": ("tokens of the prompt", "wall", "s"),
    "quadratic": ("tokens of the prompt", "wall", "s"),
    "stall": ("batch budget, tokens a step", "stall", "s"),
    "depth": ("depth, tokens", "cost", "us/token"),
}
"""What a law's drawing has across, what it has up, and the unit of that."""
_UNITS = {"s": (1e-6, "ms", 1e-3), "us/token": (1.0, "us/token", 1.0)}
"""By unit: how a law's values are scaled to it, the unit of residuals, how they are scaled."""


@dataclass(frozen=True)
class Drawn:
    """A fit as it is drawn.

    Attributes:
        records: of its population.
        points: the law's regressors and value for each.
        solution: the law.
        places: where each record stands along the drawing.
        values: what each has, in `unit`.
        fitted: what the law gives there.
        residuals: what is left of each, in `left_unit`.
        largest: the largest magnitude of these.
        across: what `places` are.
        up: what `values` are.
        unit: of values and of `fitted`.
        left_unit: of residuals.
    """

    records: list[Record]
    points: list[laws.Point]
    solution: Solution
    places: list[float]
    values: list[float]
    fitted: list[float]
    residuals: list[float]
    largest: float
    across: str
    up: str
    unit: str
    left_unit: str


def drawn(fit: Mapping[str, Any], records: Sequence[Record]) -> Drawn:
    """Solve a fit of a predicate again, and give what its drawing has."""
    law = fit["law"]
    across, up, unit = AXES[law]
    scale, left_unit, factor = _UNITS[unit]
    left_out = [entry["record"] for entry in fit["left_out"]]
    chosen = laws.population(records, law, fit["arms"], left_out)
    points = [laws.point(law, record) for record in chosen]
    solution = solve(points)
    values = [float(value) * scale for _, value in points]
    return Drawn(
        chosen,
        points,
        solution,
        [float(_place(law, *pair)) for pair in zip(points, chosen, strict=True)],
        values,
        [v - float(r) * scale for v, r in zip(values, solution.residuals, strict=True)],
        [float(residual) * factor for residual in solution.residuals],
        float(solution.largest_residual) * factor,
        across,
        up,
        unit,
        left_unit,
    )


def _place(law: str, point: laws.Point, record: Record) -> Fraction:
    """Give where a record stands along a drawing, which has one regressor."""
    if law == "wall":
        return Fraction(record.values["tokens"] or 0)
    return point[0][0]
