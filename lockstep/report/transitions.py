"""The transition graph of a request's lifecycle, and how much of it executions have shown."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from lockstep.report.charts import drawing, text
from lockstep.report.figures import Judged, anchor, figure
from lockstep.report.markup import Content, Markup, element
from lockstep.report.parts import details, key, scrolled, table

_WIDTH, _HEIGHT = 900, 380
_PLACES: dict[str, tuple[float, float]] = {
    "QUEUED": (70, 190),
    "ADMITTED": (250, 190),
    "PREFILLING": (450, 90),
    "DECODING": (650, 190),
    "PREEMPTED": (450, 320),
    "FINISHED": (825, 190),
}
"""Where states stand; any other stands on a circle."""
_HALF_WIDTH, _HALF_HEIGHT = 52, 18


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
    edges = [
        _edge(judged, cells, places[ends[0]], places[ends[1]], numbers, taken)
        for ends, numbers in between.items()
    ]
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
    return drawing(_WIDTH, _HEIGHT, label, _arrow_head(), edges, nodes, links=True)


def _place(state: str, number: int, count: int) -> tuple[float, float]:
    angle = 2 * math.pi * number / count
    round_ = (_WIDTH / 2 + 330 * math.cos(angle), _HEIGHT / 2 + 140 * math.sin(angle))
    return _PLACES.get(state, round_)


def _arrow_head() -> Markup:
    return element(
        "defs",
        element(
            "marker",
            element("path", d="M0 0L9 4L0 8z", class_="head"),
            id="arrow",
            viewBox="0 0 9 8",
            refX=9,
            refY=4,
            markerWidth=9,
            markerHeight=8,
            orient="auto",
            markerUnits="userSpaceOnUse",
        ),
    )


def _edge(
    judged: Judged,
    cells: Sequence[Mapping[str, Any]],
    start: tuple[float, float],
    stop: tuple[float, float],
    numbers: Sequence[int],
    taken: Counter[int] | None,
) -> Markup:
    """Draw the events that lead from a state to another as one arrow with a line each."""
    (x1, y1), (x2, y2) = start, stop
    if start == stop:
        way = (f"M{x1 - 18:g} {y1 - _HALF_HEIGHT:g}C{x1 - 34:g} {y1 - 62:g} {x1 + 34:g} "
               f"{y1 - 62:g} {x1 + 18:g} {y1 - _HALF_HEIGHT:g}")  # fmt: skip
        x, y = x1, y1 - 56 - 13 * (len(numbers) - 1)
    else:
        (x1, y1), (x2, y2) = _border(start, stop), _border(stop, start)
        way = f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"
        x, y = (x1 + x2) / 2, (y1 + y2) / 2 - 7 - 13 * (len(numbers) - 1)
        if y1 != y2:
            y += 9
    unseen = taken is not None and not any(taken[n] for n in numbers)
    arrow = element(
        "path", d=way, class_="e-unseen" if unseen else "e-seen", marker_end="url(#arrow)"
    )
    labels: list[Content] = []
    for row, number in enumerate(numbers):
        cell = cells[number]
        many = "" if taken is None else f" {taken[number]:,}"
        words = f"{cell['state']} to {cell['next']} by {cell['event']}"
        if taken is not None:
            words += f": {taken[number]:,} cases"
        shown = [element("title", words), text(x, y + 13 * row, cell["event"] + many, "middle")]
        labels.append(anchor(judged, f"/predicate/lifecycle/cells/{number}", shown))
    return element("g", arrow, labels, class_="edge")


def _border(start: tuple[float, float], stop: tuple[float, float]) -> tuple[float, float]:
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
    """Show how many pairs and triples of events were seen, of how many are legal."""
    told = judged.predicate["coverage"]
    if "n_grams" in told:
        rows = [
            (row["population"], f"{row['n']} events in a row", row["observed"], row["legal"],
             f"/predicate/coverage/n_grams/{number}")
            for number, row in enumerate(told["n_grams"])
        ]  # fmt: skip
    else:
        rows = [
            (row["population"], what, row[what], legal, f"/predicate/coverage/rows/{n}/{what}")
            for n, row in enumerate(told["rows"])
            for what, legal in told["legal"].items()
        ]
    return table(
        "Seen, of all that are legal",
        ("population", "of", "seen", "legal", "share"),
        [
            (name, what, figure(judged, pointer, f"{seen:,}"), f"{legal:,}", _bar(seen, legal))
            for name, what, seen, legal, pointer in rows
        ],
        "bars",
    )


def _bar(seen: int, legal: int) -> Markup:
    whole = seen * 100 // legal if legal else 0
    return element(
        "span",
        drawing(
            120,
            10,
            f"{whole} %",
            element("rect", x=0, y=0, width=120, height=10, class_="bar-all"),
            element("rect", x=0, y=0, width=120 * seen / legal if legal else 0.0, height=10,
                    class_="bar-full" if seen == legal else "bar-part"),
        ),
        f" {whole} %",
    )  # fmt: skip
