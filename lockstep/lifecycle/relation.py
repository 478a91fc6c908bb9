"""The relation over states and events, and the n-grams that are its words [LIFE-1] to [LIFE-4]."""

from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from lockstep import spec
from lockstep.errors import LockstepError


class Cell(NamedTuple):
    """A state, an event that may happen in it, and the state that follows."""

    state: str
    event: str
    next: str


@dataclass(frozen=True)
class Relation:
    """A lifecycle relation.

    Attributes:
        states: its states, in declared order.
        events: its events, in declared order.
        initial: the state of a request that was just submitted.
        terminal: the states without a cell.
        cells: what may happen.
        unreachable: pairs (state, event) that stand in no cell, although a reader would look for
            them there.
    """

    states: tuple[str, ...]
    events: tuple[str, ...]
    initial: str
    terminal: tuple[str, ...]
    cells: tuple[Cell, ...]
    unreachable: tuple[tuple[str, str], ...]

    def next_state(self, state: str, event: str) -> str | None:
        """Give the state that follows, or None where the pair stands in no cell."""
        return next((c.next for c in self.cells if (c.state, c.event) == (state, event)), None)

    def n_grams(self, n: int) -> frozenset[tuple[str, ...]]:
        """Give every legal n-gram of events [LIFE-3].

        The relation is read as an automaton whose states are all initial and all final; it is
        unrolled n times, and words that several paths spell count once.
        """
        ends: set[tuple[tuple[str, ...], str]] = {((), state) for state in self.states}
        for _ in range(n):
            ends = {
                ((*word, cell.event), cell.next)
                for word, state in ends
                for cell in self.cells
                if cell.state == state
            }
        return frozenset(word for word, _ in ends)


def parse(document: dict[str, Any]) -> Relation:
    """Read a relation from the members of `lifecycle.json`, and hold it against its rules.

    Raises:
        LockstepError: BAD_VALUE, where a name is undeclared or stands twice, a pair has two cells
            or is declared unreachable beside its cell, a terminal state has a cell or another has
            none.
    """
    given = Relation(
        tuple(document["states"]),
        tuple(document["events"]),
        document["initial"],
        tuple(document["terminal"]),
        tuple(Cell(c["state"], c["event"], c["next"]) for c in document["cells"]),
        tuple((c["state"], c["event"]) for c in document["unreachable"]),
    )
    pairs = [(cell.state, cell.event) for cell in given.cells] + list(given.unreachable)
    named = {state for state, _ in pairs} | {cell.next for cell in given.cells}
    leaving = {cell.state for cell in given.cells}
    faults = {
        "/states": _repeated(given.states) or named - set(given.states),
        "/events": _repeated(given.events) or {event for _, event in pairs} - set(given.events),
        "/initial": {given.initial} - set(given.states),
        "/cells": _repeated(pairs),
        "/terminal": set(given.terminal) ^ (set(given.states) - leaving),
    }
    for pointer, wrong in faults.items():
        if wrong:
            got = ", ".join(sorted(map(str, wrong)))
            raise LockstepError("BAD_VALUE", f"lifecycle.json:{pointer}", "a relation", got)
    return given


@cache
def relation() -> Relation:
    """Give the relation of the spec."""
    return parse(spec.load("lifecycle.json"))


def observed_n_grams(events: tuple[str, ...], n: int) -> Counter[tuple[str, ...]]:
    """Count the n-grams that one request's log of events shows."""
    return Counter(tuple(events[i : i + n]) for i in range(len(events) - n + 1))


def _repeated(names: Any) -> set[Any]:
    return {name for name, count in Counter(names).items() if count > 1}
