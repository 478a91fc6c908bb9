"""The strip of an invariance certificate: one tick a run of a relation, and the controls' ticks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from lockstep.report.charts import drawing, text
from lockstep.report.figures import Judged, anchor, figure
from lockstep.report.markup import Content, Markup, element
from lockstep.report.parts import badge, counted, key, scrolled, table, verdict

_STEP, _GAP, _TOP, _HEIGHT = 9, 10, 34, 30
_SIGNS = {"holds": "|", "violated": "x", "vacuous": "o", "not_run": "?"}


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
        counted(
            judged,
            ("runs", "runs"),
            ("holds", "hold"),
            ("violated", "violated"),
            ("positions", "positions compared"),
            ("differences", "differ"),
        ),
        scrolled(_strip(judged, "runs", predicate["runs"]), "runs, one tick each"),
        key(
            [
                ("t-holds", "|", "holds: every position agrees, byte for byte"),
                ("t-violated", "x", "violated: a position differs"),
                ("t-other", "o", "vacuous, does not apply, or not run: says nothing"),
            ]
        ),
        element("h4", "Controls"),
        element(
            "p",
            "A backend that is not invariant, run through the same relation. It has to differ: "
            "otherwise these relations would see nothing.",
        ),
        scrolled(_strip(judged, "controls", predicate["controls"]), "controls, one tick each"),
        table("Claims", ("claim", "verdict", "runs that hold"), claims),
        element("p", "Verdict ", verdict(judged, "/predicate/verdict")),
    )


def _strip(judged: Judged, member: str, runs: Sequence[Mapping[str, Any]]) -> Markup:
    """Draw ticks in the order of the certificate, grouped by relation or by backend."""
    parts: list[Content] = []
    x = 6.0
    numbered = list(enumerate(runs))
    for name, group in groupby(numbered, key=lambda one: _group(one[1])):
        start = x
        for number, run in group:
            parts.append(_tick(judged, f"/predicate/{member}/{number}", run, x))
            x += _STEP
        parts.append(text((start + x - _STEP) / 2, _TOP - 12, name, "middle"))
        x = max(x, start + 7.0 * len(name)) + _GAP
    label = f"{len(runs)} {member}, one tick each; every tick leads to its run"
    return drawing(int(x), _TOP + _HEIGHT + 16, label, parts, links=True)


def _group(run: Mapping[str, Any]) -> str:
    return str(run.get("backend", run["relation"]))


def _tick(judged: Judged, pointer: str, run: Mapping[str, Any], x: float) -> Markup:
    """Draw a run: up where it holds, down where it is violated, a ring where it says nothing."""
    outcome = run["outcome"]
    words = (
        f"{_group(run)}, {run['relation']}, block size {run['block_size']}: {outcome}, "
        f"{run['positions']:,} positions, {run['differences']:,} differ"
    )
    if run.get("shown"):
        words += f"; as a control: {run['shown']}"
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
    return anchor(judged, pointer, [element("title", words), room, mark])
