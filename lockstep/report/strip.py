"""The strip of an invariance certificate: one tick a run of a relation, and the controls."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import Any

from lockstep.report.charts import drawing, text
from lockstep.report.figures import Judged, anchor, figure
from lockstep.report.markup import Content, Markup, element
from lockstep.report.parts import badge, counted, key, scrolled, table, verdict

_STEP, _GAP, _LETTER, _TOP, _HEIGHT = 8.0, 12.0, 7.4, 34, 30


def draw(judged: Judged) -> Markup:
    """Draw every run and every control of a certificate of invariance."""
    predicate = judged.predicate
    claims = [
        (
            figure(judged, f"/predicate/claims/{number}", one["name"]),
            badge(one["verdict"]),
            f"{one['held']} of {one['demanded']}",
        )
        for number, one in enumerate(predicate["claims"])
    ]
    return element(
        "div",
        element("p", "Verdict ", verdict(judged, "/predicate/verdict"), "."),
        counted(
            judged,
            ("runs", "runs"),
            ("holds", "hold"),
            ("violated", "violated"),
            ("positions", "positions compared"),
            ("differences", "differ"),
        ),
        scrolled(_strip(judged), "runs, one tick each"),
        key(
            [
                ("t-holds", "|", "holds: every position agrees, byte for byte"),
                ("t-violated", "x", "violated: a position differs"),
                ("t-other", "o", "vacuous, does not apply, or not run: says nothing"),
            ]
        ),
        table("Claims", ("claim", "verdict", "runs that hold"), claims),
        element(
            "p",
            "A control is a backend that is not invariant, run through the same relation. It has "
            "to differ: otherwise these relations would see nothing.",
        ),
        _controls(judged),
    )


def _controls(judged: Judged) -> Markup:
    rows = [
        (
            figure(judged, f"/predicate/controls/{number}", one["backend"]),
            one["shown"].replace("_", " "),
            one["relation"],
            one["outcome"],
            figure(judged, f"/predicate/controls/{number}/positions"),
            figure(judged, f"/predicate/controls/{number}/differences"),
        )
        for number, one in enumerate(judged.predicate["controls"])
    ]
    columns = ("backend", "as a control", "relation", "outcome", "positions", "differ")
    return table("Controls", columns, rows)


def _strip(judged: Judged) -> Markup:
    """Draw a tick for each run, in the order of the certificate, grouped by relation."""
    runs = list(enumerate(judged.predicate["runs"]))
    parts: list[Content] = []
    x = 0.0
    for name, group in groupby(runs, key=lambda one: str(one[1]["relation"])):
        ticks = list(group)
        width = max(_STEP * len(ticks), _LETTER * len(name)) + _GAP
        parts.append(text(x + width / 2, _TOP - 12, name, "middle"))
        first = x + (width - _STEP * (len(ticks) - 1)) / 2
        for place, (number, run) in enumerate(ticks):
            parts.append(_tick(judged, number, run, first + _STEP * place))
        x += width
    label = f"{len(runs)} runs, one tick each; every tick leads to its run"
    return drawing(int(x), _TOP + _HEIGHT + 8, label, parts, links=True)


def _tick(judged: Judged, number: int, run: Mapping[str, Any], x: float) -> Markup:
    """Draw a run: up where it holds, down where it is violated, a ring where it says nothing."""
    outcome = run["outcome"]
    words = (
        f"{run['relation']}, block size {run['block_size']}: {outcome}, "
        f"{run['positions']:,} positions, {run['differences']:,} differ"
    )
    middle = _TOP + _HEIGHT / 2
    if outcome == "holds":
        mark = element("line", x1=x, y1=_TOP, x2=x, y2=middle + 4, class_="t-holds")
    elif outcome == "violated":
        mark = element("line", x1=x, y1=middle - 4, x2=x, y2=_TOP + _HEIGHT, class_="t-violated")
    else:
        mark = element("circle", cx=x, cy=middle, r=3, class_="t-other")
    room = element(
        "rect", x=x - _STEP / 2, y=_TOP - 4, width=_STEP, height=_HEIGHT + 8, class_="room"
    )
    return anchor(judged, f"/predicate/runs/{number}", [element("title", words), room, mark])
