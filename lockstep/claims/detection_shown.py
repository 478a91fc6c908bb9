"""The observation by which a trial's server is not as the one without fault [DET-6] to [DET-13]."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from lockstep.certify.cells import POSITIVE, PlannedCell
from lockstep.certify.observation import Round, Seen
from lockstep.certify.requests import Plan
from lockstep.claims.certification import cells
from lockstep.claims.certification_cells import Cell
from lockstep.claims.certification_differences import Difference
from lockstep.claims.certification_first import first

_SORTS = ("difference", "rescoring", "malformed", "failure", "reused")
"""In the order in which they are looked for: what can be derived again stands first."""

Shown = dict[str, Any]


def shown(seen: Seen) -> Shown | None:
    """Give the first observation of a run that shows a fault; None where none does.

    Args:
        seen: what the certifier saw.
    """
    every = [one for one in cells(seen) if one.planned.control not in POSITIVE]
    found = {one["sort"]: one for cell in reversed(every) for one in _of(cell, every)}
    return next((found[sort] for sort in _SORTS if sort in found), None)


def no_answer(told: str) -> Shown:
    """Give the observation of a server that answered none of the first requests [DET-12]."""
    return {**_empty("no_answer"), "told": told}


def _empty(sort: str) -> Shown:
    names = ("cell", "case", "control", "cache", "filler", "order", "scope", "kind", "position")
    told: Shown = {"sort": sort, **dict.fromkeys(names), "delta": None}
    return {**told, "answers": [], "failure": None, "reused": None, "told": ""}


def _of(cell: Cell, every: Sequence[Cell]) -> Iterator[Shown]:
    """Give the observations of a cell, one of each sort at most."""
    planned = cell.planned
    told = {
        **_empty(""),
        "cell": cell.index,
        "case": planned.case,
        "control": planned.control,
        "cache": planned.cache,
        "filler": planned.filler,
        "order": planned.order,
    }
    if (one := cell.found.first) is not None:
        yield {**told, **_difference(cell, one, every)}
    for round_ in cell.rounds:
        for failure in round_.failures:
            said = {
                "request": failure.request,
                "kind": failure.kind,
                "status": failure.status,
                "detail": failure.detail,
            }
            yield {**told, "sort": "failure", "failure": {**_where(round_), **said}}
            break
    if (broken := _malformed(cell)) is not None:
        yield {**told, "sort": "malformed", "answers": broken}
    for round_ in cell.rounds:
        if reuses(planned, round_, cell.run.plan):
            reused = {**_where(round_), "cached": list(round_.cached or ())}
            yield {**told, "sort": "reused", "reused": reused}
            break


def _where(one: Round) -> dict[str, int]:
    return {"lifetime": one.lifetime, "number": one.number}


def _difference(cell: Cell, one: Difference, every: Sequence[Cell]) -> Shown:
    told = first(cell) or {}
    places = [one.a.place, one.b.place]
    if one.scope == "rescoring":
        places = [one.a.place, cell.planned.requests[one.a.place].rescores or 0]
    sort = "rescoring" if one.scope == "rescoring" else "difference"
    by_index = {other.index: other for other in every}
    held = [
        _answer(by_index[sight.cell], sight.lifetime, sight.number, place)
        for sight, place in zip((one.a, one.b), places, strict=True)
    ]
    names = ("scope", "kind", "position", "delta")
    return {"sort": sort, **{name: told[name] for name in names}, "answers": held}


def _answer(cell: Cell, lifetime: int, number: int, place: int) -> Shown:
    """Give an answer verbatim, and where it stands."""
    one = next(one for one in cell.rounds if (one.lifetime, one.number) == (lifetime, number))
    output = cell.output(one, place)
    return {
        "cell": cell.index,
        "lifetime": lifetime,
        "number": number,
        "place": place,
        "output": None if output is None else output.document(),
    }


def _malformed(cell: Cell) -> list[Shown] | None:
    """Give the first answer that is none to its request, with what it rescores."""
    for one in cell.rounds:
        for place in cell.malformed(one):
            rescored = cell.planned.present(one.number)[place].rescores
            places = [place] if rescored is None else [place, rescored]
            if all(cell.output(one, at) is not None for at in places):
                return [_answer(cell, one.lifetime, one.number, at) for at in places]
    return None


def reuses(planned: PlannedCell, one: Round, plan: Plan) -> bool:
    """Whether a round used the cache where its cell's condition excludes it [DET-11]."""
    cache = planned.cache
    if cache == "warm" or one.number < max(1, plan["priming"]) or one.cached is None:
        return False
    told = [
        cached
        for request, cached in zip(planned.present(one.number), one.cached, strict=True)
        if request.role == "probe"
        and len(request.prompt) > plan["block_size"]
        and cached is not None
        and (cache == "off" or request.wave == 0)
    ]
    return any(told) if cache == "off" else bool(told) and all(told)
