"""Least squares over records, in fractions alone (MEAS-8)."""

from fractions import Fraction
from math import isqrt
from typing import Any, NamedTuple

from lockstep_verify import limits, spec
from lockstep_verify.derive.measurement_records import Record, known, unique
from lockstep_verify.errors import Refusal

_AT = "/predicate/fits"
_STATISTICS = "STATISTICS_DO_NOT_RECOMPUTE"
Number = Fraction | int
"""Sums of integers cost a tenth of those of fractions, and most points are integers."""
Point = tuple[list[Number], Number]


class Coefficient(NamedTuple):
    """A coefficient of a fit, with its unit, its profile, and the cells that the fit is over."""

    value: Fraction
    unit: str
    profile: str
    cells: tuple[tuple[str, str], ...]


def check_fits(
    predicate: dict[str, Any], records: list[Record]
) -> dict[tuple[str, str], Coefficient]:
    """Fit each law again to its population, and give the coefficients by fit and name.

    Raises:
        Refusal: BAD_VALUE, FIT_NOT_IDENTIFIED, PROFILE_MISMATCH, STATISTICS_DO_NOT_RECOMPUTE,
            COVERAGE_DENOMINATOR_NOT_DERIVED, OUTCOME_NOT_DERIVED.
    """
    unique(predicate["fits"], "name", _AT)
    arms = {arm["id"] for arm in predicate["arms"]}
    found: dict[tuple[str, str], Coefficient] = {}
    for i, fit in enumerate(predicate["fits"]):
        at = f"{_AT}/{i}"
        law = next(
            one for one in spec.load("measurement.json")["laws"] if one["name"] == fit["law"]
        )
        population = _population(fit, law, records, arms, at)
        values = _check_fit(fit, law, population, at)
        cells = tuple((record.name, need) for record in population for need in law["needs"])
        for (name, unit), value in zip(law["coefficients"], values, strict=True):
            found[fit["name"], name] = Coefficient(value, unit, fit["profile"], cells)
    return found


def _population(
    fit: dict[str, Any], law: dict[str, Any], records: list[Record], arms: set[str], at: str
) -> list[Record]:
    """Give the records that a fit is of: all that it can take, but for those it leaves out."""
    for j, arm in enumerate(fit["arms"]):
        known(arm, arms, f"{at}/arms/{j}")
        if arm in fit["arms"][:j]:
            raise Refusal("BAD_VALUE", f"{at}/arms/{j}", "each arm once", arm)
    unique(fit["left_out"], "record", f"{at}/left_out")
    able = [
        record
        for record in records
        if record.arm in fit["arms"]
        and record.refusal is None
        and all(name in record.values for name in law["needs"])
    ]
    names = {record.name for record in able}
    for j, entry in enumerate(fit["left_out"]):
        known(entry["record"], names, f"{at}/left_out/{j}/record")
    left = {entry["record"] for entry in fit["left_out"]}
    return [record for record in able if record.name not in left]


def _check_fit(
    fit: dict[str, Any], law: dict[str, Any], population: list[Record], at: str
) -> list[Fraction]:
    if fit["population"] != len(population):
        code = "COVERAGE_DENOMINATOR_NOT_DERIVED"
        raise Refusal(code, f"{at}/population", len(population), fit["population"])
    if len(population) > law["most"]:
        raise Refusal("LIMIT_SIZE", f"{at}/population", law["most"], len(population))
    profiles = sorted({record.profile for record in population})
    if len(profiles) > 1:
        raise Refusal("PROFILE_MISMATCH", f"{at}/arms", "arms of one profile", profiles)
    _check_identified(law, population, at)
    if fit["profile"] != profiles[0]:
        raise Refusal("OUTCOME_NOT_DERIVED", f"{at}/profile", profiles[0], fit["profile"])
    points = [_point(law["name"], record) for record in population]
    solved = _solve(points, at)
    _check_design(fit, law, points, at)
    for j, ((name, unit), value) in enumerate(zip(law["coefficients"], solved, strict=True)):
        expected = {"name": name, "unit": unit, "value": written(value)}
        stated = fit["coefficients"][j] if j < len(fit["coefficients"]) else None
        if stated != expected:
            raise Refusal(_STATISTICS, f"{at}/coefficients/{j}", expected, stated)
    if len(fit["coefficients"]) != len(solved):
        raise Refusal(_STATISTICS, f"{at}/coefficients", len(solved), len(fit["coefficients"]))
    residuals = [
        value - solved[0] - sum(s * x for s, x in zip(solved[1:], regressors, strict=True))
        for regressors, value in points
    ]
    largest = max(abs(residual) for residual in residuals)
    mean = sum((residual**2 for residual in residuals), Fraction(0)) / len(residuals)
    for member, found in (("largest_residual", largest), ("mean_square_residual", mean)):
        require(fit[member], written(found), f"{at}/{member}")
    return solved


def _check_identified(law: dict[str, Any], population: list[Record], at: str) -> None:
    """See that the population can tell the law's coefficients apart, by what it holds."""
    needed = len(law["coefficients"]) + 1
    if len(population) < needed:
        got = len(population)
        raise Refusal("FIT_NOT_IDENTIFIED", at, f"{needed} records", got)
    if law["identified_by"] == "budgets":
        budgets = {record.budget for record in population}
        if None in budgets or len(budgets) < 2:
            raise Refusal("FIT_NOT_IDENTIFIED", at, "two known batch budgets", len(budgets))
    if law["identified_by"] == "lengths":
        lengths = {record.values["tokens"] for record in population}
        if len(lengths) < 3:
            raise Refusal("FIT_NOT_IDENTIFIED", at, "three lengths", len(lengths))


def _point(law: str, record: Record) -> Point:
    """Give the regressors and the value that a law has of a record."""
    cell = {name: value or 0 for name, value in record.values.items()}
    if law == "depth":
        before, after = cell["tokens_before"], cell["tokens_after"]
        return [Fraction(after + before, 2)], Fraction(cell["wall_us"], after - before)
    if law == "stall":
        return [record.budget or 0], cell["stall_us"]
    regressors = {
        "wall": ["steps", "tokens"],
        "quadratic": ["tokens", "tokens"],
        "linear": ["tokens"],
    }[law]
    return [
        cell[name] ** (1 + (law == "quadratic" and place == 1))
        for place, name in enumerate(regressors)
    ], cell["wall_us"]


def _solve(points: list[Point], at: str) -> list[Fraction]:
    """Solve the normal equations by elimination: the constant, then a slope a regressor."""
    rows: list[list[Number]] = [[1, *regressors, value] for regressors, value in points]
    width = len(rows[0]) - 1
    matrix = [
        [Fraction(sum(row[i] * row[j] for row in rows)) for j in range(width + 1)]
        for i in range(width)
    ]
    for i in range(width):
        pivot = next((k for k in range(i, width) if matrix[k][i] != 0), None)
        if pivot is None:
            raise Refusal("FIT_NOT_IDENTIFIED", at, "regressors that are independent", "rank")
        matrix[i], matrix[pivot] = matrix[pivot], matrix[i]
        matrix[i] = [cell / matrix[i][i] for cell in matrix[i]]
        for k in range(width):
            if k != i:
                scale = matrix[k][i]
                matrix[k] = [a - scale * b for a, b in zip(matrix[k], matrix[i], strict=True)]
    return [row[width] for row in matrix]


def _check_design(fit: dict[str, Any], law: dict[str, Any], points: list[Point], at: str) -> None:
    """See to rank, determinant, condition number and ranges, which the regressors alone give."""
    columns = list(zip(*(regressors for regressors, _ in points), strict=True))
    count = len(points)
    crossed = [
        [
            Fraction(count * sum(x * y for x, y in zip(a, b, strict=True)) - sum(a) * sum(b))
            for b in columns
        ]
        for a in columns
    ]
    determinant, condition = crossed[0][0], 1000
    if len(columns) == 2:
        whole, shared = crossed[0][0] * crossed[1][1], crossed[0][1] ** 2
        determinant = whole - shared
        scale = whole.denominator * shared.denominator
        a, b = int(whole * scale), int(shared * scale)
        condition = (1000 * (a + b) + isqrt(4_000_000 * a * b)) // (a - b)
    if fit["rank"] != len(columns) + 1:
        raise Refusal(_STATISTICS, f"{at}/rank", len(columns) + 1, fit["rank"])
    require(fit["determinant"], written(determinant), f"{at}/determinant")
    require(fit["condition_permille"], digits(condition), f"{at}/condition_permille")
    ranges = [
        {
            "regressor": name,
            "least": written(Fraction(min(cells))),
            "greatest": written(Fraction(max(cells))),
        }
        for name, cells in zip(law["regressors"], columns, strict=True)
    ]
    require(fit["ranges"], ranges, f"{at}/ranges")


def written(value: Fraction) -> dict[str, str]:
    """Write a fraction in lowest terms; one that the schema has no room for is none that it has."""
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > limits.FRACTION_BITS:
        return {"num": f"beyond {limits.FRACTION_BITS} bits", "den": "1"}
    return {"num": str(value.numerator), "den": str(value.denominator)}


def digits(value: int) -> str:
    """Write an integer; one that the schema has no room for is none that it has."""
    return written(Fraction(value))["num"]


def require(stated: object, expected: object, at: str) -> None:
    """See that a figure is the one that was computed.

    Raises:
        Refusal: STATISTICS_DO_NOT_RECOMPUTE.
    """
    if stated != expected:
        raise Refusal(_STATISTICS, at, expected, stated)
