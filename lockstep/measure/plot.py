"""Drawing the fits of a certificate of measurements: points, law, residuals, and intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lockstep.claims.measurement import opened
from lockstep.errors import LockstepError
from lockstep.measure import laws
from lockstep.measure.fits import solve
from lockstep.measure.records import Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROW_INCHES = 2.7
"""Height of a fit's row of panels."""

_AXES = {
    "wall": ("tokens of the prompt", "wall, s", 1e-6),
    "linear": ("tokens of the prompt", "wall, s", 1e-6),
    "quadratic": ("tokens of the prompt", "wall, s", 1e-6),
    "stall": ("batch budget, tokens a step", "stall, s", 1e-6),
    "depth": ("depth, tokens", "cost, us/token", 1.0),
}


def draw(predicate: Mapping[str, Any], path: Path) -> None:
    """Draw every fit of a certificate: a row each, with three panels.

    Left, the records and the law; in the middle, what is left of each record; right, how far each
    coefficient moves when any one record is left out.

    Args:
        predicate: of a certificate.
        path: where the drawing goes; its ending says which form it has.

    Raises:
        LockstepError: LIBRARY_MISSING, there is no matplotlib; ZERO_POPULATION, there is no fit.
    """
    try:
        import matplotlib
    except ImportError:
        hint = "The extra 'plot' brings it: in a checkout, pip install '.[plot]'."
        raise LockstepError("LIBRARY_MISSING", "--plot", "matplotlib", "none", hint) from None
    matplotlib.use("agg")
    from matplotlib import pyplot

    fits = predicate["fits"]
    if not fits:
        raise LockstepError("ZERO_POPULATION", "--plot", "a fit at least", 0)
    arms = {arm["id"]: arm for arm in predicate["arms"]}
    records = [opened(one, arms) for one in predicate["records"]]
    # The salt: the same certificate gives the same file.
    with pyplot.rc_context({"svg.hashsalt": "lockstep", "font.size": 8}):
        figure, rows = pyplot.subplots(
            len(fits), 3, figsize=(11, ROW_INCHES * len(fits)), squeeze=False, layout="constrained"
        )
        for fit, panels in zip(fits, rows, strict=True):
            for panel in panels:
                panel.spines[["top", "right"]].set_visible(False)
            left_out = [entry["record"] for entry in fit["left_out"]]
            chosen = laws.population(records, fit["law"], fit["arms"], left_out)
            _row(fit, chosen, panels)
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
        pyplot.close(figure)


def _row(fit: Mapping[str, Any], chosen: Sequence[Record], panels: Sequence[Axes]) -> None:
    points = [laws.point(fit["law"], record) for record in chosen]
    solution = solve(points)
    across, up, scale = _AXES[fit["law"]]
    places = [float(_place(fit["law"], point, record)) for point, record in
              zip(points, chosen, strict=True)]  # fmt: skip
    values = [float(value) * scale for _, value in points]
    fitted = [value - float(residual) * scale for value, residual in
              zip(values, solution.residuals, strict=True)]  # fmt: skip
    _points(panels[0], fit, chosen, places, values, fitted)
    panels[0].set(xlabel=across, ylabel=up, title=f"{fit['name']}: {len(chosen)} records")
    unit, factor = ("ms", 1e-3) if scale != 1 else ("us/token", 1.0)
    panels[1].axhline(0, color="0.6", linewidth=0.8)
    bound = float(solution.largest_residual) * factor
    panels[1].axhspan(-bound, bound, color="C0", alpha=0.08)
    residuals = [float(residual) * factor for residual in solution.residuals]
    panels[1].vlines(places, 0, residuals, color="C0", linewidth=1)
    panels[1].plot(places, residuals, "o", color="C0", markersize=3)
    panels[1].set(xlabel=across, ylabel=f"residual, {unit}", title=f"at most {bound:,.3g} {unit}")
    _intervals(panels[2], fit, points, solution.coefficients)


def _points(
    panel: Axes,
    fit: Mapping[str, Any],
    chosen: Sequence[Record],
    places: Sequence[float],
    values: Sequence[float],
    fitted: Sequence[float],
) -> None:
    if len(fit["ranges"]) == 1:
        # With one regressor the law is one line for all arms.
        law = sorted(zip(places, fitted, strict=True))
        panel.plot([p for p, _ in law], [f for _, f in law], color="0.5", alpha=0.6)
    for number, arm in enumerate(fit["arms"]):
        mine = sorted((places[i], fitted[i], values[i]) for i, one in enumerate(chosen)
                      if one.arm == arm)  # fmt: skip
        if len(fit["ranges"]) > 1:
            line = [f for _, f, _ in mine]
            panel.plot([p for p, _, _ in mine], line, color=f"C{number}", alpha=0.6)
        panel.plot([p for p, _, _ in mine], [v for _, _, v in mine], "o", color=f"C{number}",
                   markersize=3, label=arm)  # fmt: skip
    panel.legend(frameon=False)
    panel.locator_params(axis="x", nbins=5)


def _intervals(
    panel: Axes,
    fit: Mapping[str, Any],
    points: Sequence[tuple[tuple[Fraction, ...], Fraction]],
    whole: Sequence[Fraction],
) -> None:
    """Show how far each coefficient moves, in percent of it, when one record is left out."""
    names = [f"{one['name']}\n{float(value):,.4g} {one['unit']}"
             for one, value in zip(fit["coefficients"], whole, strict=True)]  # fmt: skip
    without = [_solved([*points[:i], *points[i + 1 :]]) for i in range(len(points))]
    # Where too few records are left to fit, there is no interval to draw.
    solved = [one for one in without if one is not None]
    for row, value in enumerate(whole):
        moved = [float((one[row] - value) / abs(value)) * 100 for one in solved if value]
        if moved:
            panel.plot([min(moved), max(moved)], [row, row], color="C0", linewidth=3, alpha=0.4)
        panel.plot([0], [row], "o", color="C0", markersize=4)
    panel.set_yticks(range(len(names)), names)
    panel.set_ylim(-0.6, len(names) - 0.4)
    title = "one record left out" if solved else "too few records to leave one out"
    panel.set(xlabel="change of the coefficient, percent", title=title)


def _solved(
    points: Sequence[tuple[tuple[Fraction, ...], Fraction]],
) -> tuple[Fraction, ...] | None:
    try:
        return solve(points).coefficients
    except LockstepError:
        return None


def _place(name: str, point: tuple[tuple[Fraction, ...], Fraction], record: Record) -> Fraction:
    """Give where a record stands along the first panel."""
    if name == "wall":
        return Fraction(record.values["tokens"] or 0)
    return point[0][0]
