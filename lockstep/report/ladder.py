"""The ladder of precision: how far computations of one model lie from it, and from binary64."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lockstep import spec
from lockstep.cli.payload_distance import UNITS, nats, thresholds
from lockstep.report.charts import Scale, bottom_axis, drawing, text
from lockstep.report.figures import Judged, anchor, figure
from lockstep.report.markup import Content, Markup, element
from lockstep.report.parts import badge, counted, key, scrolled, table, verdict

_LEFT, _RIGHT, _ROW, _TOP = 190, 860, 30, 30
_MEASURES = ("mae", "kl", "max")
_SHOWN = "kl"


def distances(judged: Judged) -> Markup:
    """Draw the rungs of a calibration of distances."""
    predicate = judged.predicate
    chosen = predicate["placements"][predicate["accepts"] - 1]
    place = f"/predicate/placements/{predicate['accepts'] - 1}/thresholds"
    return element(
        "div",
        element("p", "Verdict ", verdict(judged, "/predicate/verdict"), "."),
        counted(
            judged,
            ("rungs", "rungs"),
            ("accepted", "count as the model"),
            ("separated", "told from it"),
            ("comparisons", "positions compared"),
            ("identical", "of them identical"),
        ),
        scrolled(_rungs(judged, chosen), "ladder of precision"),
        key(
            [
                ("r-held", "—", "counts as the model: 5 % to largest, dot at the median"),
                ("r-separated", "—", "told from the model"),
                ("r-gate", "┆", "largest threshold of the Kullback-Leibler divergence"),
            ]
        ),
        table(
            "Rungs, in nats",
            (
                "rung",
                "outcome",
                "weights",
                "computed by",
                "mae, median",
                "kl, median",
                "max, largest",
            ),
            [_rung(judged, n, rung, chosen) for n, rung in enumerate(predicate["rungs"])],
        ),
        table(
            "Thresholds",
            ("gate", "nat"),
            [
                (gate, figure(judged, f"{place}/{n}", most))
                for n, (gate, most) in enumerate(thresholds(chosen["thresholds"]))
            ],
        ),
    )


def _rung(
    judged: Judged, number: int, rung: Mapping[str, Any], chosen: Mapping[str, Any]
) -> list[Content]:
    at, outcome = f"/predicate/rungs/{number}", chosen["outcomes"][number]
    quantiles = zip(_MEASURES, (1, 1, 3), strict=True)
    return [
        figure(judged, f"{at}/name"),
        badge(outcome, figure(judged, _outcome(judged, number), outcome)),
        rung["weights"],
        f"{rung['backend']} {rung['dtype']}, {rung['schedule']}",
        *(
            figure(judged, f"{at}/quantiles/{n}/{which}", nats(name, rung["quantiles"][n][which]))
            for n, (name, which) in enumerate(quantiles)
        ),
    ]


def _outcome(judged: Judged, number: int) -> str:
    return f"/predicate/placements/{judged.predicate['accepts'] - 1}/outcomes/{number}"


def _rungs(judged: Judged, chosen: Mapping[str, Any]) -> Markup:
    """Draw each rung's Kullback-Leibler divergence on a logarithmic scale."""
    rungs, measure = judged.predicate["rungs"], _MEASURES.index(_SHOWN)
    unit = UNITS[_SHOWN]
    values = [value / unit for rung in rungs for value in rung["quantiles"][measure] if value]
    gates = spec.load("distance-calibration.json")["gates"]
    limits = [most / unit for gate, most in zip(gates, chosen["thresholds"], strict=True)
              if gate["measure"] == _SHOWN and most]  # fmt: skip
    known = [*values, *limits] or [1e-12, 1.0]
    scale = Scale(min(known) / 3, max(known) * 3, _LEFT + 40, _RIGHT, log=True)
    foot = _TOP + _ROW * len(rungs)
    parts: list[Content] = [
        bottom_axis(scale, foot, "Kullback-Leibler divergence from the model, nat", _TOP - 8),
        text(_LEFT + 12, foot + 17, "0", "middle"),
    ]
    if limits:
        x = scale(max(limits))
        parts.append(element("line", x1=x, y1=_TOP - 8, x2=x, y2=foot, class_="r-gate"))
    for number, rung in enumerate(rungs):
        y, outcome = _TOP + _ROW * number + _ROW / 2, chosen["outcomes"][number]
        parts.append(text(_LEFT - 12, y + 4, rung["name"].replace("_", " "), "end"))
        low, median, _, high = rung["quantiles"][measure]
        words = f"{rung['name']}: {outcome}; median {nats(_SHOWN, median)} nat"
        shape = _span(scale, y, low / unit, median / unit, high / unit, outcome)
        at = f"/predicate/rungs/{number}/quantiles/{measure}"
        parts.append(anchor(judged, at, [element("title", words), shape]))
    label = "Divergence of each rung from the model, on a logarithmic scale"
    return drawing(_RIGHT + 20, foot + 44, label, parts, links=True)


def _span(
    scale: Scale, y: float, low: float, median: float, high: float, outcome: str
) -> list[Markup]:
    """Draw a rung from its low quantile to its largest value; nothing but zeros as a ring."""
    class_ = "r-held" if outcome in ("held", "not_held") else "r-separated"
    if not high:
        return [element("circle", cx=_LEFT + 12, cy=y, r=5, class_=f"{class_} ring")]
    start = scale(low) if low else float(_LEFT + 12)
    return [
        element("line", x1=start, y1=y, x2=scale(high), y2=y, class_=class_),
        element("circle", cx=scale(median) if median else start, cy=y, r=5, class_=class_),
    ]


def fidelity(judged: Judged) -> Markup:
    """Draw each measure of a comparison with binary64 against its bound."""
    predicate = judged.predicate
    rows = [
        (
            figure(judged, f"/predicate/measures/{n}/name"),
            figure(judged, f"/predicate/measures/{n}/value"),
            one["limit"],
            figure(judged, f"/predicate/measures/{n}/bound"),
            _share(one),
        )
        for n, one in enumerate(predicate["measures"])
    ]
    return element(
        "div",
        counted(
            judged,
            ("prompts", "prompts"),
            ("logit_rows", "rows of logits"),
            ("top_agreements", "with binary64's top token"),
            ("near_ties", "near ties"),
        ),
        table(
            "Measures, in the units of the specification",
            ("measure", "value", "has to be", "bound", "share of the room that is used"),
            rows,
        ),
    )


def _share(one: Mapping[str, Any]) -> Markup:
    part, whole = one["value"], one["bound"]
    if one["limit"] == "at least":
        part, whole = whole, part
    share = min(part / whole, 1.0) if whole else float(part > 0)
    words = f"{100 * part // whole} %" if whole else "there is no room"
    return element(
        "span",
        drawing(
            120,
            10,
            words,
            element("rect", x=0, y=0, width=120, height=10, class_="bar-all"),
            element("rect", x=0, y=0, width=120 * share, height=10, class_="bar-full"),
        ),
        f" {words}",
    )
