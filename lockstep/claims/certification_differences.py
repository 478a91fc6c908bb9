"""What is known of a difference between two outputs [CERT-14, CERT-17]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

SCOPES = ("repeats", "lifetimes", "alone", "condition", "rescoring")
"""Where two outputs can differ, in the order in which the first one is looked for."""


@dataclass(frozen=True, order=True)
class Sight:
    """One output: in which round of which cell, at which place, which output."""

    lifetime: int
    number: int
    place: int
    cell: int
    output: int

    def where(self) -> dict[str, int]:
        """Give the member that says so."""
        return {"cell": self.cell, "lifetime": self.lifetime, "number": self.number}


@dataclass(frozen=True)
class Difference:
    """Two outputs that must be equal, and are not.

    Attributes:
        scope: `repeats`, `lifetimes`, `alone`, `condition` or `rescoring`.
        place: the first in the cell at which a request like these is sent.
        sent: the first output of such a request in the cell.
        a: the one.
        b: the other.
        settled: whether both are of settled rounds.
        kind: what differs.
    """

    scope: str
    place: int
    sent: Sight
    a: Sight
    b: Sight
    settled: bool
    kind: str

    @property
    def order(self) -> tuple[Any, ...]:
        """What orders differences, the first one least [CERT-17]."""
        if self.scope == "rescoring":
            return SCOPES.index(self.scope), self.a
        return SCOPES.index(self.scope), self.place, self.sent, self.a, self.b


class Found(NamedTuple):
    """What the differences of a cell come to.

    Attributes:
        kinds: what differs, the gravest first.
        differing: how many differences there are.
        settled: whether one is among settled rounds.
        first: the first by its order.
    """

    kinds: list[str]
    differing: int
    settled: bool
    first: Difference | None
