"""A certified server by case: each cell's verdict, its pairs of answers, and all its rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lockstep import spec
from lockstep.certify.report import SAYS, message
from lockstep.report.figures import Judged, cell, figure
from lockstep.report.markup import Content, Markup, element
from lockstep.report.parts import badge, counted, detail, grid, key, scrolled, table, verdict

SIGNS = {
    "clean": ("clean", "="),
    "divergent": ("divergent", "≠"),
    "first_run_only": ("first", "1"),
}
"""Class and sign of the verdicts of a cell that was scored; any other says nothing of it."""
_OTHER = ("other", "?")
Condition = tuple[str, str, str, str]


def draw(judged: Judged) -> Markup:
    """Draw cases by conditions, and the server's identity and limits."""
    predicate = judged.predicate
    says = {one["id"]: one["says"] for one in spec.load("certification.json")["limits"]}
    name = f"s{judged.number}"
    return element(
        "div",
        element(
            "p",
            "Verdict ",
            verdict(judged, "/predicate/verdict"),
            " of ",
            figure(judged, "/predicate/adapter/name"),
            "; compared: ",
            figure(judged, "/predicate/plan/observable"),
            ".",
        ),
        counted(
            judged,
            ("cells_planned", "cells"),
            ("cells_clean", "clean"),
            ("cells_divergent", "divergent"),
            ("cells_first_run_only", "first run only"),
            ("rounds_scored", "rounds scored"),
            ("pairs", "pairs of answers compared"),
            ("pairs_differing", "differ"),
        ),
        key([*((f"s-{class_}", sign, [element("b", word), f": {SAYS[word]}"])
               for word, (class_, sign) in SIGNS.items()),
             ("s-other", "?", "not scored")]),
        element(
            "p",
            "Each cell has the pairs of answers that differ, of all pairs compared. A click, or "
            "the arrow keys and Enter, shows every round's answers.",
            class_="hint",
        ),
        scrolled(_grid(judged, name), "cases by conditions"),
        detail(name, "No cell is chosen.", _cells_data(predicate["cells"])),
        _controls(judged),
        element("h4", "What this does not show"),
        element(
            "ul",
            [element("li", figure(judged, f"/predicate/limits/{n}", says[one]))
             for n, one in enumerate(predicate["limits"])],
        ),
    )  # fmt: skip


def _grid(judged: Judged, name: str) -> Markup:
    cells = judged.predicate["cells"]
    conditions = list(dict.fromkeys(map(_condition, cells)))
    conditions.sort(key=lambda one: (one[0] != "", one[0]))
    numbers: dict[tuple[str, Condition], int] = {
        (one["case"], _condition(one)): n for n, one in enumerate(cells)
    }
    return grid(
        "case",
        map(_named, conditions),
        [
            (case, [_cell(judged, numbers.get((case, one))) for one in conditions])
            for case in dict.fromkeys(one["case"] for one in cells)
        ],
        "/predicate/cells/",
        "Verdict of each case under each condition",
        name,
        "grid wide",
    )


def _condition(one: Mapping[str, Any]) -> Condition:
    return one["control"] or "", one["cache"], one["filler"], one["order"]


def _named(condition: Condition) -> Content:
    control, cache, filler, order = condition
    words = [f"cache {cache}"]
    words += [f"filler {filler}"] if filler != "none" else []
    words += [f"order {order}"] if order != "fixed" else []
    first = element("b", f"control {control}".replace("_", " ")) if control else None
    return [first, element("br") if first else None, ", ".join(words)]


def _cell(judged: Judged, number: int | None) -> Markup:
    if number is None:
        return element("td", class_="none")
    one = judged.predicate["cells"][number]
    class_, sign = SIGNS.get(one["verdict"], _OTHER)
    return cell(
        judged,
        f"/predicate/cells/{number}",
        f"{sign} {one['pairs_differing']}/{one['pairs']}",
        f"s-{class_}",
        number,
        f"{one['verdict']}, {one['pairs_differing']} of {one['pairs']} pairs differ",
    )


def _cells_data(cells: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [_cell_data(number, cells) for number in range(len(cells))]


def _cell_data(number: int, cells: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Give what the script shows of a cell: its sentence, the answers of every round, its partner.

    The partner is the cell that its first difference is against, where that is another one with
    as many requests; -1 where there is none.
    """
    own = cells[number]
    first = own["first"] or {"a": {"cell": number}, "b": {"cell": number}}
    other = {first["a"]["cell"], first["b"]["cell"]} - {number}
    alike = [n for n in other if _width(cells[n]) == _width(own)]
    return {
        "partner": alike[0] if alike else -1,
        "says": message(own),
        "case": own["case"],
        "rounds": [
            [one["lifetime"], one["number"], _outputs(one, own["rounds"][0])]
            for one in own["rounds"]
        ],
    }


def _outputs(one: Mapping[str, Any], first: Mapping[str, Any]) -> list[int]:
    """Give a round's answers, -1 where there is none; nothing where they are the first round's."""
    if one is not first and one["outputs"] == first["outputs"]:
        return []
    return [-1 if output is None else output for output in one["outputs"]]


def _width(own: Mapping[str, Any]) -> int:
    return max((len(one["outputs"]) for one in own["rounds"]), default=0)


def _controls(judged: Judged) -> Markup:
    predicate = judged.predicate
    controls = [
        (figure(judged, f"/predicate/controls/{n}", one["name"]), badge(one["status"]))
        for n, one in enumerate(predicate["controls"])
    ]
    identity = [
        (
            figure(judged, f"/predicate/subject/identity/{n}", one["name"]),
            one["observed"] or "not read",
            one["recorded"] or "nothing",
        )
        for n, one in enumerate(predicate["subject"]["identity"])
    ]
    return element(
        "div",
        table("Controls", ("control", "status"), controls),
        table("Identity, by the signer's word", ("what", "observed", "recorded"), identity),
        class_="beside",
    )
