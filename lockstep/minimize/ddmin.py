"""Delta debugging over a list of units (A. Zeller, R. Hildebrandt, IEEE TSE 28(2), 2002).

Complements are tried alone: where the failure needs only what one subset holds, the complements of
the others lead there too, and most units of a case depend on others, so that subsets are illegal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Unit = TypeVar("Unit")
Result = TypeVar("Result")


def largest_removal(
    units: Sequence[Unit],
    first: Callable[[Iterator[tuple[Unit, ...]]], tuple[Unit, ...] | None],
) -> tuple[Unit, ...]:
    """Give units that may go together, so many that none of those left may go beside them.

    Args:
        units: all that might go.
        first: gives the first of some sets of units without which the failure still shows, None
            where there is none.

    Returns:
        What may go; for each unit that stays, going beside what goes was tried in vain.
    """
    kept: list[Unit] = list(units)
    gone: tuple[Unit, ...] = ()
    parts, offset = 1, 0
    while kept:
        pieces = _pieces(kept, parts)
        order = [(offset + place) % len(pieces) for place in range(len(pieces))]
        found = first((*gone, *pieces[place]) for place in order)
        if found is not None:
            size = len(found) - len(gone)
            took = next(p for p in order if pieces[p] == list(found[len(gone) :]))
            offset = took
            kept = [unit for place, piece in enumerate(pieces) if place != took for unit in piece]
            gone = found
            parts = max(1, min(len(kept), -(-len(kept) // size)))
        elif parts == len(kept):
            break
        else:
            offset = offset * 2
            parts = min(len(kept), parts * 2)
    return gone


def _pieces(units: Sequence[Unit], parts: int) -> list[list[Unit]]:
    """Split units into so many pieces of nearly one size."""
    length = len(units)
    return [
        list(units[length * place // parts : length * (place + 1) // parts])
        for place in range(parts)
    ]


def least(greatest: int, first: Callable[[Iterator[int]], int | None], low: int = 0) -> int:
    """Give a number of units that reproduces while one less does not, by halving.

    Where the failure holds for every number from some least one on, it is the least.

    Args:
        greatest: that is known to reproduce.
        first: gives the first of some numbers that reproduces, None where none does.
        low: the least that is tried.
    """
    if greatest == low or first(iter((low,))) is not None:
        return low
    fails, holds = low, greatest
    while holds - fails > 1:
        middle = (fails + holds) // 2
        if first(iter((middle,))) is not None:
            holds = middle
        else:
            fails = middle
    return holds
