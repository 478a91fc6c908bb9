"""Outcomes, verdicts and counts of a matrix of operators and observers [MUT-9] to [MUT-13]."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lockstep import spec
from lockstep.mutation.declaration import FILE, observers

Cells = Sequence[Mapping[str, Any]]

PASSES, FAILS = "ALWAYS-PASS", "ALWAYS-FAIL"
"""The baselines: what agrees with everything, and what differs from everything."""

_NO_STEPS = "KERNEL-EQ"
"""It executes nothing, so that what it kills has no steps to detection."""


@dataclass(frozen=True)
class Matrix:
    """What counts and verdict follow from.

    Attributes:
        control: the cells of the engine as it is.
        rows: each operator's cells with their outcomes, its verdict, and what killed it.
        fit: the observers that agree on the control.
    """

    control: Cells
    rows: Sequence[Mapping[str, Any]]
    fit: Collection[str]


def baselines() -> frozenset[str]:
    """Give the names of the baselines, which are no observers."""
    return frozenset(one.name for one in observers() if one.sort == "baseline")


def outcome(cell: Mapping[str, Any], fit: Collection[str]) -> str:
    """Give what a cell came to; the first that applies."""
    if cell["observer"] not in fit:
        return "unfit"
    if cell["seen"] == "not_run":
        return "not_run"
    if not cell["ran"] or not cell["live"]:
        return "not_exercised"
    return "killed" if cell["seen"] == "differs" else "survived"


def verdict_of(cells: Cells, proved: bool) -> tuple[str, list[str]]:
    """Give an operator's verdict, and the observers that killed it.

    Args:
        cells: with their outcomes.
        proved: whether a proof says that the operator is equivalent.
    """
    apart = baselines()
    real = [cell for cell in cells if cell["observer"] not in apart]
    killers = [cell["observer"] for cell in real if cell["outcome"] == "killed"]
    outcomes = {cell["outcome"] for cell in real}
    if killers:
        said = "killed"
    elif outcomes & {"not_run", "unfit"}:
        said = "unproven"
    elif "survived" not in outcomes:
        said = "not_exercised"
    else:
        said = "equivalent" if proved else "survived"
    return said, killers


def of_observers(matrix: Matrix) -> list[dict[str, Any]]:
    """Give how many operators each observer killed, and how many it killed alone."""
    alone = Counter(row["killed_by"][0] for row in matrix.rows if len(row["killed_by"]) == 1)
    killed = Counter(name for row in matrix.rows for name in row["killed_by"])
    return [
        {"name": one.name, "killed": killed[one.name], "alone": alone[one.name]}
        for one in observers()
    ]


def verdict(matrix: Matrix) -> str:
    """Give the certificate's verdict [MUT-11]."""
    apart = baselines()
    clean = all(c["seen"] != "differs" for c in matrix.control if c["observer"] not in apart)
    every = [matrix.control, *(row["cells"] for row in matrix.rows)]
    teeth = all(
        cell["seen"] == {PASSES: "agrees", FAILS: "differs"}[cell["observer"]]
        for cells in every
        for cell in cells
        if cell["observer"] in apart
    )
    said = {row["verdict"] for row in matrix.rows}
    proxied = contradicted(matrix) or _unlooked(matrix)
    if not clean or not teeth or proxied or said & {"unproven", "not_exercised"}:
        return "UNPROVEN"
    return "SURVIVORS" if "survived" in said else "EXPLAINED"


def contradicted(matrix: Matrix) -> list[str]:
    """Give the operators declared invisible from which a comparison of schedules differs."""
    return [
        row["operator"]
        for row in matrix.rows
        if _invisible(row["operator"]) and _on_schedules(row["cells"], "differs")
    ]


def _unlooked(matrix: Matrix) -> bool:
    """Whether some comparison of schedules was not made where it could contradict [MUT-11]."""
    rows = [row["cells"] for row in matrix.rows if _invisible(row["operator"])]
    return any(_on_schedules(cells, "not_run") for cells in (matrix.control, *rows))


def _invisible(operator: str) -> bool:
    (declared,) = (one for one in spec.load(FILE)["operators"] if one["id"] == operator)
    return bool(declared["black_box"] == "invisible")


def _on_schedules(cells: Cells, seen: str) -> bool:
    told = {one.name for one in observers() if one.schedules}
    return any(cell["observer"] in told and cell["seen"] == seen for cell in cells)


def counts(matrix: Matrix) -> dict[str, int]:
    """Give the counts, in their order [MUT-13]."""
    rows, sorts = matrix.rows, {one.name: one.sort for one in observers()}
    said = Counter(row["verdict"] for row in rows)
    cells = Counter(cell["outcome"] for row in rows for cell in row["cells"])
    sight = {one["id"]: one["black_box"] for one in spec.load(FILE)["operators"]}
    seen = {
        word: [row["verdict"] for row in rows if sight[row["operator"]] == word]
        for word in ("visible", "invisible")
    }
    taken = (
        [
            cell["steps"]
            for cell in row["cells"]
            if cell["observer"] in row["killed_by"] and cell["observer"] != _NO_STEPS
        ]
        for row in rows
    )
    first = sorted(min(steps) for steps in taken if steps)
    scored = len(rows) - said["equivalent"]
    real = [name for name, sort in sorts.items() if sort != "baseline"]
    verdicts = ("killed", "survived", "equivalent", "not_exercised", "unproven")
    outcomes = ("killed", "survived", "not_exercised", "not_run", "unfit")
    return {
        "operators": len(rows),
        **{word: said[word] for word in verdicts},
        "cells": sum(cells.values()),
        **{f"cells_{word}": cells[word] for word in outcomes},
        "visible": len(seen["visible"]),
        "visible_killed": seen["visible"].count("killed"),
        "invisible": len(seen["invisible"]),
        "invisible_killed": seen["invisible"].count("killed"),
        "contradicted": len(contradicted(matrix)),
        "relations_killed": sum(
            any(sorts[name] == "relation" for name in row["killed_by"]) for row in rows
        ),
        "steps_median": first[(len(first) - 1) // 2] if first else 0,
        "score_permille": 1000 * said["killed"] // scored if scored else 0,
        "observers": len(real),
        "fit": sum(name in matrix.fit for name in real),
    }
