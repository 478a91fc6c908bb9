"""The transition graph of a request's lifecycle, and how much of it executions have shown."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from lockstep.report.charts import drawing, text
from lockstep.report.figures import Judged, anchor, figure
from lockstep.report.markup import Content, Markup, element
from lockstep.report.parts import details, key, scrolled, table

_WIDTH, _HEIGHT = 900, 350
Point = tuple[float, float]
_PLACES: dict[str, Point] = {
    "QUEUED": (70, 190),
    "ADMITTED": (250, 190),
    "PREFILLING": (450, 96),
    "DECODING": (650, 190),
    "PREEMPTED": (450, 320),
    "FINISHED": (825, 190),
}
"""Where states stand; any other stands on a circle."""
_HALF_WIDTH, _HALF_HEIGHT = 52, 18
_LONG = 180
"""Length of an arrow from which another may cross it."""


def draw(judged: Judged) -> Markup:
    """Draw the graph, with the number of cases that took each transition where they are told."""
    predicate = judged.predicate
    cells = predicate["lifecycle"]["cells"]
    taken = _taken(predicate)
    return element(
        "div",
        scrolled(_graph(judged, cells, taken), "transition graph"),
        key(
            [
                ("e-seen", "→", "taken, with the number of cases that took it"),
                ("e-unseen", "⇢", "legal, and taken by no case"),
            ]
        )
        if taken is not None
        else None,
        _unreachable(judged),
        _n_grams(judged),
        details(
            "The graph as a table",
            table(
                "Transitions",
                ("state", "event", "next", "cases"),
                [
                    (
                        figure(judged, f"/predicate/lifecycle/cells/{n}", cell["state"]),
                        cell["event"],
                        cell["next"],
                        "not told by transition" if taken is None else f"{taken[n]:,}",
                    )
                    for n, cell in enumerate(cells)
                ],
            ),
        ),
    )


def _taken(predicate: Mapping[str, Any]) -> Counter[int] | None:
    """Count the cases that took each transition; None where the kind does not tell."""
    if "populations" not in predicate:
        return None
    return Counter(
        cell
        for population in predicate["populations"]
        for record in population["records"]
        for cell in record["cells"]
    )


def _graph(
    judged: Judged, cells: Sequence[Mapping[str, Any]], taken: Counter[int] | None
) -> Markup:
    states = list(dict.fromkeys(one[end] for one in cells for end in ("state", "next")))
    places = {state: _place(state, number, len(states)) for number, state in enumerate(states)}
    between: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, cell in enumerate(cells):
        between[cell["state"], cell["next"]].append(number)
    ways = {ends: _way(places[ends[0]], places[ends[1]]) for ends in between}
    arrows = [
        _arrow(f"{judged.anchor}-arrow", ways[ends].path, between[ends], taken) for ends in ways
    ]
    labels = [_labels(judged, cells, between[ends], taken, ways[ends]) for ends in ways]
    nodes = [
        element(
            "g",
            element("rect", x=x - _HALF_WIDTH, y=y - _HALF_HEIGHT, width=2 * _HALF_WIDTH,
                    height=2 * _HALF_HEIGHT, rx=9, class_="node"),
            text(x, y + 4, state, "middle", "state"),
        )
        for state, (x, y) in places.items()
    ]  # fmt: skip
    label = f"Transition graph: {len(states)} states, {len(cells)} legal transitions"
    return drawing(
        _WIDTH,
        _HEIGHT,
        label,
        _arrow_head(f"{judged.anchor}-arrow"),
        arrows,
        labels,
        nodes,
        links=True,
    )


def _place(state: str, number: int, count: int) -> Point:
    angle = 2 * math.pi * number / count
    round_ = (_WIDTH / 2 + 330 * math.cos(angle), _HEIGHT / 2 + 140 * math.sin(angle))
    return _PLACES.get(state, round_)


def _arrow_head(name: str) -> Markup:
    return element(
        "defs",
        element(
            "marker",
            element("path", d="M0 0L9 4L0 8z", class_="head"),
            id=name,
            viewBox="0 0 9 8",
            refX=9,
            refY=4,
            markerWidth=9,
            markerHeight=8,
            orient="auto",
            markerUnits="userSpaceOnUse",
        ),
    )


class _Way(NamedTuple):
    """The path of an arrow, and where the lowest line of its label is, with its anchor."""

    path: str
    x: float
    y: float
    side: str


def _way(start: Point, stop: Point) -> _Way:
    """Give the way from a state to another, or back to itself."""
    if start == stop:
        x, y = start[0], start[1] - _HALF_HEIGHT
        loop = f"M{x - 18:g} {y:g}C{x - 34:g} {y - 44:g} {x + 34:g} {y - 44:g} {x + 18:g} {y:g}"
        return _Way(loop, x, y - 38, "middle")
    (x1, y1), (x2, y2) = _border(start, stop), _border(stop, start)
    # Away from the middle, where arrows cross.
    share = 0.5 if abs(x2 - x1) + abs(y2 - y1) < _LONG else 0.3
    x, y = x1 + (x2 - x1) * share, y1 + (y2 - y1) * share
    way = f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"
    if x1 == x2:
        return _Way(way, x + 7, y1 + (y2 - y1) * 0.8, "start")
    return _Way(way, x, y + (-6 if y1 == y2 else 4), "middle")


def _arrow(head: str, way: str, numbers: Sequence[int], taken: Counter[int] | None) -> Markup:
    unseen = taken is not None and not any(taken[number] for number in numbers)
    class_ = "e-unseen" if unseen else "e-seen"
    return element("path", d=way, class_=class_, marker_end=f"url(#{head})")


def _labels(
    judged: Judged,
    cells: Sequence[Mapping[str, Any]],
    numbers: Sequence[int],
    taken: Counter[int] | None,
    way: _Way,
) -> Markup:
    """Give a line for each event that leads from a state to another, the last of them lowest."""
    lines: list[Content] = []
    for row, number in enumerate(reversed(numbers)):
        cell = cells[number]
        many = "" if taken is None else f" {taken[number]:,}"
        words = f"{cell['state']} to {cell['next']} by {cell['event']}"
        if taken is not None:
            words += f": {taken[number]:,} cases"
        line = text(way.x, way.y - 14 * row, cell["event"] + many, way.side)
        at = f"/predicate/lifecycle/cells/{number}"
        lines.append(anchor(judged, at, [element("title", words), line]))
    return element("g", lines, class_="edge")


def _border(start: Point, stop: Point) -> Point:
    """Give the point on a state's border towards another state."""
    dx, dy = stop[0] - start[0], stop[1] - start[1]
    shares = [half / abs(d) for half, d in ((_HALF_WIDTH, dx), (_HALF_HEIGHT, dy)) if d]
    share = min(shares)
    return start[0] + dx * share, start[1] + dy * share


def _unreachable(judged: Judged) -> Content:
    stated = judged.predicate["lifecycle"].get("unreachable", ())
    if not stated:
        return None
    listed: list[Content] = []
    for number, one in enumerate(stated):
        pointer = f"/predicate/lifecycle/unreachable/{number}"
        listed += [
            ", " if listed else "",
            figure(judged, pointer, f"{one['event']} in {one['state']}"),
        ]
    return element("p", "In the table and unreachable, by proof: ", listed, ".")


def _n_grams(judged: Judged) -> Markup:
    """Show of how many legal ones each population saw how many, a column each kind."""
    told = judged.predicate["coverage"]
    if "n_grams" in told:
        entries = [
            (row["population"], f"{row['n']} events in a row", row["observed"], row["legal"],
             f"/predicate/coverage/n_grams/{number}")
            for number, row in enumerate(told["n_grams"])
        ]  # fmt: skip
    else:
        entries = [
            (row["population"], what, row[what], legal, f"/predicate/coverage/rows/{n}/{what}")
            for n, row in enumerate(told["rows"])
            for what, legal in told["legal"].items()
        ]
    columns = list(dict.fromkeys(what for _, what, *_ in entries))
    rows: dict[str, dict[str, Content]] = defaultdict(dict)
    for name, what, seen, legal, pointer in entries:
        shown = figure(judged, pointer, f"{seen:,}")
        rows[name][what] = [_bar(seen, legal), " ", shown, f" of {legal:,}"]
    return table(
        "Seen, of all that are legal",
        ("population", *columns),
        [(name, *(row.get(what) for what in columns)) for name, row in rows.items()],
        "bars",
    )


def _bar(seen: int, legal: int) -> Markup:
    share = seen / legal if legal else 0.0
    class_ = "bar-full" if seen == legal else "bar-part"
    return drawing(
        90,
        10,
        f"{100 * share:.0f} %",
        element("rect", x=0, y=0, width=90, height=10, class_="bar-all"),
        element("rect", x=0, y=0, width=90 * share, height=10, class_=class_),
    )
