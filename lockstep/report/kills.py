"""The kill matrix of a mutation campaign: faults put into the engine, by who noticed them."""

from __future__ import annotations

from lockstep.report.figures import Judged, cell, figure
from lockstep.report.markup import Markup, element
from lockstep.report.parts import counted, grid, key, scrolled, table, verdict

SIGNS = {
    "killed": ("k", "K", "killed: the observer noticed"),
    "survived": ("s", "s", "survived: it looked, the fault was live, and it saw nothing"),
    "not_exercised": ("i", "·", "not exercised: the fault's value did not differ there"),
    "unfit": ("f", "u", "unfit: the observer does not hold on the engine as it is"),
    "not_run": ("n", "?", "not run"),
}
"""Class, letter and meaning of each outcome of a cell."""


def draw(judged: Judged) -> Markup:
    """Draw operators by observers, and what each observer comes to."""
    predicate = judged.predicate
    control = {one["observer"]: n for n, one in enumerate(predicate["control"])}
    observers = [
        (
            figure(judged, f"/predicate/observers/{number}/name", one["name"]),
            figure(judged, f"/predicate/control/{control[one['name']]}/seen"),
            figure(judged, f"/predicate/observers/{number}/killed"),
            figure(judged, f"/predicate/observers/{number}/alone"),
        )
        for number, one in enumerate(predicate["observers"])
    ]
    return element(
        "div",
        counted(
            judged,
            ("operators", "operators"),
            ("killed", "killed"),
            ("survived", "survived"),
            ("equivalent", "equivalent by a lemma"),
            ("not_exercised", "not exercised"),
            ("cells", "cells"),
        ),
        element("p", "Verdict ", verdict(judged, "/predicate/verdict"), "."),
        key([(f"k-{one}", sign, says) for one, sign, says in SIGNS.values()]),
        scrolled(_grid(judged), "kill matrix"),
        table(
            "Observers",
            ("observer", "engine as it is", "killed", "killed by it alone"),
            observers,
        ),
    )


def _grid(judged: Judged) -> Markup:
    predicate = judged.predicate
    return grid(
        "operator \\ observer",
        [element("span", one["name"]) for one in predicate["observers"]],
        [
            (
                figure(judged, f"/predicate/rows/{n}", row["operator"]),
                [_cell(judged, n, place, one["outcome"]) for place, one in enumerate(row["cells"])],
            )
            for n, row in enumerate(predicate["rows"])
        ],
        "/predicate/rows/",
        "Outcome of each operator under each observer",
    )


def _cell(judged: Judged, row: int, place: int, outcome: str) -> Markup:
    class_, sign, _ = SIGNS[outcome]
    pointer = f"/predicate/rows/{row}/cells/{place}"
    return cell(judged, pointer, sign, f"k-{class_}", f"{row}:{place}")
