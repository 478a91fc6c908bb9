"""Drawing the fits of a certificate of measurements: points, law, residuals, and intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lockstep.claims.measurement import opened
from lockstep.errors import LockstepError
from lockstep.measure.drawn import Drawn, drawn
from lockstep.measure.fits import solve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROW_INCHES = 2.7
"""Height of a fit's row of panels."""


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
            _row(fit, drawn(fit, records), panels)
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
        pyplot.close(figure)


def _row(fit: Mapping[str, Any], one: Drawn, panels: Sequence[Axes]) -> None:
    _points(panels[0], fit, one)
    title = f"{fit['name']}: {len(one.records)} records"
    panels[0].set(xlabel=one.across, ylabel=f"{one.up}, {one.unit}", title=title)
    panels[1].axhline(0, color="0.6", linewidth=0.8)
    panels[1].axhspan(-one.largest, one.largest, color="C0", alpha=0.08)
    panels[1].vlines(one.places, 0, one.residuals, color="C0", linewidth=1)
    panels[1].plot(one.places, one.residuals, "o", color="C0", markersize=3)
    title = f"at most {one.largest:,.3g} {one.left_unit}"
    panels[1].set(xlabel=one.across, ylabel=f"residual, {one.left_unit}", title=title)
    _intervals(panels[2], fit, one.points, one.solution.coefficients)


def _points(panel: Axes, fit: Mapping[str, Any], one: Drawn) -> None:
    if len(fit["ranges"]) == 1:
        # With one regressor the law is one line for all arms.
        law = sorted(zip(one.places, one.fitted, strict=True))
        panel.plot([p for p, _ in law], [f for _, f in law], color="0.5", alpha=0.6)
    for number, arm in enumerate(fit["arms"]):
        mine = sorted((one.places[i], one.fitted[i], one.values[i])
                      for i, record in enumerate(one.records) if record.arm == arm)  # fmt: skip
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
