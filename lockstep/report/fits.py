"""Fits of a measurement: the records, the law through them, and what is left of each record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lockstep.claims.measurement import opened
from lockstep.cli.payload_measurement import number, published, readings_of, shown
from lockstep.errors import LockstepError
from lockstep.measure.drawn import Drawn, drawn
from lockstep.measure.records import Record
from lockstep.report.charts import Scale, bottom_axis, drawing, left_axis, range_of
from lockstep.report.figures import Judged, anchor, figure
from lockstep.report.markup import Content, Markup, element
from lockstep.report.parts import badge, counted, key, scrolled, table, verdict


def draw(judged: Judged) -> Markup:
    """Draw each fit with its residuals, and hold the published figures against their readings."""
    predicate = judged.predicate
    arms = {arm["id"]: arm for arm in predicate["arms"]}
    records = [opened(one, arms) for one in predicate["records"]]
    return element(
        "div",
        element("p", "Verdict ", verdict(judged, "/predicate/verdict"), "."),
        counted(
            judged,
            ("records", "records"),
            ("records_refused", "refused"),
            ("fits", "fits"),
            ("published", "published figures"),
            ("published_agreeing", "agree"),
            ("published_contradicted", "contradicted"),
            ("published_not_rederivable", "not re-derivable"),
        ),
        key(
            [
                ("point", "●", "a record, and on the right what the law leaves of it"),
                ("law", "○", "what the law gives there"),
            ]
        ),
        element(
            "div",
            [_fit(judged, n, one, records) for n, one in enumerate(predicate["fits"])],
            class_="fits",
        ),
        _published(judged),
        _withdrawn(judged),
    )


def _fit(
    judged: Judged, place: int, stated: Mapping[str, Any], records: Sequence[Record]
) -> Markup:
    at = f"/predicate/fits/{place}"
    made = drawn(stated, records)
    if made.solution.largest_residual != number(stated["largest_residual"]):
        raise LockstepError("STATISTICS_DO_NOT_RECOMPUTE", f"{judged.name}:{at}/largest_residual")
    coefficients = [
        element(
            "li",
            one["name"].replace("_", " "),
            " ",
            figure(judged, f"{at}/coefficients/{n}", shown(number(one["value"]))),
            f" {one['unit']}",
        )
        for n, one in enumerate(stated["coefficients"])
    ]
    return element(
        "figure",
        element(
            "figcaption",
            element("b", figure(judged, f"{at}/name")),
            f", law {stated['law']}, ",
            figure(judged, f"{at}/population"),
            " records; largest residual ",
            figure(judged, f"{at}/largest_residual", shown(made.solution.largest_residual)),
            " us" if made.unit == "s" else " us/token",
        ),
        element("ul", coefficients, class_="counts"),
        scrolled(_panels(judged, stated["name"], made), f"fit {stated['name']}"),
    )


def _panels(judged: Judged, name: str, made: Drawn) -> Markup:
    x = Scale(*range_of(made.places), 48, 262)
    y = Scale(*range_of([*made.values, *made.fitted, 0.0]), 180, 26)
    rx, bound = Scale(x.low, x.high, 330, 544), made.largest or 1.0
    ry = Scale(-1.15 * bound, 1.15 * bound, 180, 26)
    numbers = {one["id"]: n for n, one in enumerate(judged.predicate["records"])}
    marks: list[Content] = []
    for record, px, value, fit, left in zip(
        made.records, made.places, made.values, made.fitted, made.residuals, strict=True
    ):
        told = f"{record.id}: {value:.6g} {made.unit}, the law gives {fit:.6g}; "
        words = told + f"{left:+.4g} {made.left_unit} left"
        at = f"/predicate/records/{numbers[record.id]}"
        marks.append(
            anchor(
                judged,
                at,
                [
                    element("title", words),
                    element("circle", cx=x(px), cy=y(fit), r=5.5, class_="law"),
                    element("circle", cx=x(px), cy=y(value), r=2.5, class_="point"),
                    element("line", x1=rx(px), y1=ry(0.0), x2=rx(px), y2=ry(left), class_="stem"),
                    element("circle", cx=rx(px), cy=ry(left), r=3.5, class_="point"),
                ],
            )
        )
    label = f"Fit {name}: records with the law on the left, residuals on the right"
    return drawing(
        556,
        220,
        label,
        bottom_axis(x, 180, made.across),
        left_axis(y, 48, made.unit, 262),
        bottom_axis(rx, 180, made.across),
        left_axis(ry, 330, f"left over, {made.left_unit}", 544),
        element("line", x1=330, y1=ry(0.0), x2=544, y2=ry(0.0), class_="axis"),
        marks,
        links=True,
    )


def _published(judged: Judged) -> Markup:
    predicate = judged.predicate
    readings, rows = readings_of(predicate), []
    for place, one in enumerate(predicate["published"]):
        outcome, says, printed, computed, _, why = published(one, readings)
        link = figure(judged, f"/predicate/published/{place}", says)
        rows.append((link, badge(one["outcome"], outcome), printed, computed, why))
    return table(
        "Published figures", ("what was printed", "outcome", "printed", "computed", "why"), rows
    )


def _withdrawn(judged: Judged) -> Content:
    if not judged.withdrawn:
        return None
    rows = [
        (figure(judged, one.pointer, one.pointer), one.reason, one.instead or "nothing")
        for one in judged.withdrawn
    ]
    return table("WITHDRAWN", ("claim", "why", "instead"), rows, "refused")
