"""The matrix of a hunt: every ordered pair of layouts, coloured by verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lockstep import spec
from lockstep.report import layouts
from lockstep.report.figures import Judged, cell, figure
from lockstep.report.markup import Markup, element
from lockstep.report.parts import counted, detail, grid, key, scrolled

SIGNS = {
    "EXACT_BYTE": ("b", "B", "the round trip gives back every byte"),
    "EXACT_TOKEN": ("t", "T", "every byte but padding that nobody reads"),
    "NOT_EXACT": ("n", "N", "it runs and loses something"),
    "REFUSED": ("r", "R", "no such map exists, with the reason's code"),
    "UNPROVEN": ("u", "?", "an observation was not made"),
}
"""Class, letter and meaning of each verdict [HUNT-7]."""


def draw(judged: Judged) -> Markup:
    """Draw the matrix of a hunt, and each layout's axes, steps, positions and lemmas."""
    predicate = judged.predicate
    names = [layout["name"] for layout in predicate["layouts"]]
    geometry = ", ".join(f"{name} {value}" for name, value in predicate["geometry"].items())
    table = f"m{judged.number}"
    return element(
        "div",
        counted(
            judged,
            ("layouts", "layouts"),
            ("rows", "ordered pairs"),
            ("exact_byte", "exact by byte"),
            ("exact_token", "exact but for padding"),
            ("not_exact", "not exact"),
            ("refused", "refused"),
            ("unproven", "unproven"),
        ),
        element("p", "Geometry: ", figure(judged, "/predicate/geometry", geometry), "."),
        key([(f"v-{one}", sign, [element("b", word), f": {says}"])
             for word, (one, sign, says) in SIGNS.items()]),
        element(
            "p",
            "Rows are sources, columns destinations. A click, or the arrow keys and Enter, shows "
            "the pair. Pairs that the specification does not demand are blank.",
            class_="hint",
        ),
        scrolled(_grid(judged, names, table), "layout matrix"),
        detail(table, "No pair is chosen.", _rows(judged, predicate, names)),
        layouts.draw(judged),
    )  # fmt: skip


def _grid(judged: Judged, names: Sequence[str], table: str) -> Markup:
    rows = {(row["src"], row["dst"]): n for n, row in enumerate(judged.predicate["rows"])}
    return grid(
        "from \\ to",
        [element("span", name) for name in names],
        [
            (
                figure(judged, f"/predicate/layouts/{row}/name", src),
                [
                    _cell(judged, rows.get((src, dst)), row == column)
                    for column, dst in enumerate(names)
                ],
            )
            for row, src in enumerate(names)
        ],
        "/predicate/rows/",
        "Verdict of each ordered pair of layouts",
        table,
    )


def _cell(judged: Judged, row: int | None, same: bool) -> Markup:
    if row is None:
        return element("td", class_="same" if same else "none")
    word = judged.predicate["rows"][row]["verdict"]
    class_, sign, _ = SIGNS[word]
    return cell(judged, f"/predicate/rows/{row}", sign, f"v-{class_}", row)


def _rows(judged: Judged, predicate: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Give what the script shows of a pair; its lemmas are the general ones and both sides' own."""
    words = predicate["counts"]["vocabulary"]
    return {
        "layouts": [
            [name, layouts.identity(judged, number), layouts.lemmas(judged, number)]
            for number, name in enumerate(names)
        ],
        "words": words,
        "lemmas": spec.load("lemmas.json")["rows"],
        "rows": [
            [
                names.index(row["src"]),
                names.index(row["dst"]),
                row["verdict"],
                row["frontier_code"] or "",
                [words.index(word) for word in row["transformations"]],
                [_seen(value) for value in row["observations"].values()],
                _positions(row["proof"]),
            ]
            for row in predicate["rows"]
        ],
    }


def _seen(value: bool | None) -> int:
    """Write an observation of three values: 1, 0, and -1 for one that was not made."""
    return -1 if value is None else int(value)


def _positions(proof: Mapping[str, Any] | None) -> list[int]:
    if proof is None:
        return []
    return [
        proof["source_positions_total"],
        proof["source_padding_positions"],
        proof["positions_total"],
        proof["dest_padding_positions"],
    ]
