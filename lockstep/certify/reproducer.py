"""A script for a divergence that needs only the server and httpx.

It sends what a cell sent, in the same waves, and what it was compared with, until one request gets
two different answers. It asks in the server's own form, so that nothing of Lockstep is between.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import resources
from typing import TYPE_CHECKING, Any

from lockstep.certify.ask import Ask
from lockstep.certify.cells import PlannedCell, planned
from lockstep.certify.requests import Plan, Request, text_of

if TYPE_CHECKING:
    from lockstep.certify.adapters.adapter import Adapter, Overrides

TEMPLATE = "reproducer_template.py"
TURNS = 12
"""How often a script sends the rounds of each cell; it ends with the first difference."""
SHOWN = ("divergent", "first_run_only")
"""Verdicts of cells that get a script."""


_FLAT = re.compile(r"\[[^\[\]{}]*\]")
"""A list of scalars, which JSON with indents spreads over a line each."""


def scripts(
    predicate: Mapping[str, Any],
    adapter: Adapter,
    overrides: Overrides,
    url: str,
    key_variable: str | None,
) -> dict[str, str]:
    """Give a script for each cell of a certificate that shows a difference, by its file name.

    Args:
        predicate: of kind `certification`.
        adapter: that asked.
        overrides: over it.
        url: of the endpoint; a script takes another one as its argument.
        key_variable: the environment variable that a script reads its key from; None for none.
    """
    plan = predicate["plan"]
    cells = planned(plan)
    found: dict[str, str] = {}
    for at, cell in enumerate(predicate["cells"]):
        first = cell["first"]
        if cell["verdict"] not in SHOWN or first is None:
            continue
        sent = [_submissions(plan, one, adapter, overrides) for one in _cells(cells, at, first)]
        told = {
            "about": _about(cell, first),
            "url": url,
            "key": key_variable,
            "request": first["request"],
            "scope": first["scope"],
            "resets": list(overrides.resets or adapter.resets),
            "turns": TURNS,
            "cells": sent,
        }
        name = f"{at:03d}-{cell['case']}-{cell['control'] or cell['cache']}.py"
        found[name] = script(told)
    return found


def script(told: Mapping[str, Any]) -> str:
    """Put what a script sends into the template."""
    text = resources.files("lockstep.certify").joinpath(TEMPLATE).read_text(encoding="utf-8")
    literal = _FLAT.sub(lambda found: " ".join(found[0].split()), json.dumps(told, indent=1))
    _, _, rest = text.partition('"""\n')
    about = json.dumps(told["about"])[1:-1].replace("\\n", "\n")
    return f'"""{about}\n"""\n{rest}'.replace('DATA = "{}"\n', f"DATA = r'''{literal}'''\n")


def _cells(cells: Sequence[PlannedCell], at: int, first: Mapping[str, Any]) -> list[PlannedCell]:
    """Give the cells whose answers are compared, in the order of the plan."""
    places = sorted({first["a"]["cell"], first["b"]["cell"], at})
    return [cells[place] for place in places]


def _submissions(
    plan: Plan, cell: PlannedCell, adapter: Adapter, overrides: Overrides
) -> dict[str, Any]:
    """Give what a cell sends in each of its rounds."""
    rounds: list[dict[str, Any]] = []
    for number in range(cell.per_lifetime):
        present = cell.present(number)
        bodies = [_body(plan, cell, at, number, adapter, overrides) for at in range(len(present))]
        one: dict[str, Any] = {
            "waves": [list(places) for places in cell.submission(number)],
            "bodies": bodies,
            "rescores": [each.rescores for each in present],
            "compared": [_is_compared(each, number) for each in present],
            "leaves": [each.role == "cancelled" for each in present],
        }
        if one not in rounds:
            rounds.append(one)
    salts = adapter.salts and "salt" not in overrides.lacks
    return {
        "name": f"{cell.case}, {cell.control or 'cache ' + cell.cache}",
        "starts": list(cell.waves),
        "reset": cell.cache == "cold" and not salts,
        "salt": cell.cache in ("cold", "off") and salts,
        "rounds": rounds,
    }


def _is_compared(request: Request, number: int) -> bool:
    """Whether two answers to it must be alike: it has an end, and draws by a seed if it draws."""
    is_drawn = request.seed is not None
    return request.role != "cancelled" and not (is_drawn and request.fields(number)["seed"] is None)


def _body(
    plan: Plan, cell: PlannedCell, at: int, number: int, adapter: Adapter, overrides: Overrides
) -> dict[str, Any]:
    request = cell.requests[at]
    prompt: tuple[int, ...] | str = request.prompt
    if plan["form"] == "text":
        prompt = text_of(request.prompt)
    ask = Ask(prompt=prompt, echo=request.echo, **request.fields(number))
    ask = replace(ask, stream="stream" in plan["offers"], reuse=cell.cache != "off")
    path, body = adapter.call(ask)
    for name in overrides.omit:
        body.pop(name, None)
    return {"path": path, "json": {**body, **overrides.body}}


def _about(cell: Mapping[str, Any], first: Mapping[str, Any]) -> str:
    kinds = ", ".join(cell["kinds"])
    return (
        f"Request {first['request']} of {cell['case']} gets different answers ({kinds}).\n\n"
        "Needs Python 3.11, httpx and the server. Usage: python THIS [URL]\n"
        "Exit status: 1, two answers to one request differ; 0, none did; 2, the server failed."
    )
