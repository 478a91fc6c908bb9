"""The first difference of a cell [CERT-17]."""

from __future__ import annotations

from typing import Any

from lockstep.claims import certification_answers as answers
from lockstep.claims.certification_cells import Cell, tail
from lockstep.claims.certification_differences import Difference


def first(cell: Cell) -> dict[str, Any] | None:
    """Give the member `first` of a cell: None where nothing differs."""
    one = cell.found.first
    if one is None:
        return None
    position, delta = _rescored(cell, one) if one.scope == "rescoring" else _where(cell, one)
    return {
        "scope": one.scope,
        "kind": one.kind,
        "request": one.place,
        "a": one.a.where(),
        "b": one.b.where(),
        "position": position,
        "delta": delta,
    }


def _where(cell: Cell, one: Difference) -> tuple[int | None, str | None]:
    left, right = cell.run.outputs[one.a.output], cell.run.outputs[one.b.output]
    if one.kind == "shape":
        return None, None
    position = answers.agreeing(left, right, one.kind)
    if one.kind == "tokens" or position is None:
        return position, None
    numbers, others = left.logprobs or (), right.logprobs or ()
    if position >= len(numbers):
        # `top` of a malformed answer may go further than its log-probabilities.
        return position, None
    return position, answers.delta(numbers[position], others[position])


def _rescored(cell: Cell, one: Difference) -> tuple[int, str | None]:
    seen = next(
        told
        for told in cell.rounds
        if (told.lifetime, told.number) == (one.a.lifetime, one.a.number)
    )
    place = cell.planned.requests[one.place].rescores
    rescored = None if place is None else seen.outputs[place]
    wanted = cell.run.outputs[rescored or 0]
    numbers = tail(cell.run.outputs[one.a.output], wanted)
    said = wanted.logprobs or ()
    position = answers.leading(numbers, said)
    if position >= len(numbers):
        return position, None
    return position, answers.delta(numbers[position], said[position])
