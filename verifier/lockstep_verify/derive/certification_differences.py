"""Which answers to one request differ, and where first (CERT-14, CERT-15, CERT-17)."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from lockstep_verify.derive.certification_outputs import Answer, contrast, delta
from lockstep_verify.derive.certification_plan import Cell

Document = dict[str, Any]


class Table(NamedTuple):
    """The table of outputs, and what counts of each."""

    outputs: list[Document]
    answers: list[Answer]

    def whole(self, seen: Seen) -> int:
        """Give the class of all that is compared."""
        return self.answers[seen.output].whole


class Seen(NamedTuple):
    """One output of a request.

    Attributes:
        lifetime: of the server.
        number: of its round within the lifetime.
        place: of the request.
        cell: index of its cell.
        output: its place in the table.
        settled: whether its round is settled (CERT-15).
    """

    lifetime: int
    number: int
    place: int
    cell: int
    output: int
    settled: bool

    def where(self) -> Document:
        """Give the member that says so."""
        return {"cell": self.cell, "lifetime": self.lifetime, "number": self.number}


Outputs = dict[str, list[Seen]]
"""Outputs in a cell of requests that are alike, by lifetime, round and place."""


class Alike(NamedTuple):
    """All outputs that a cell compares of requests that are alike.

    Attributes:
        place: the first at which one is sent.
        own: outputs in the cell, by lifetime, round and place.
        partners: settled ones of each partner, by its scope, likewise.
    """

    place: int
    own: list[Seen]
    partners: dict[str, list[Seen]]

    def others(self) -> list[Seen]:
        """Give the outputs of all partners."""
        return [one for several in self.partners.values() for one in several]


class Gap(NamedTuple):
    """One comparison of a request that rescores with what it rescores.

    Attributes:
        place: of the request.
        seen: its output.
        rescored: place in the table of the output that it rescores.
        at: leading numbers that agree; None where all do.
    """

    place: int
    seen: Seen
    rescored: int
    at: int | None


class Signatures:
    """Which requests of a cell are alike (CERT-14): equal signatures, in whatever cell."""

    def __init__(self, cell: Cell) -> None:
        self._requests = cell.requests
        self._written = [
            repr(sorted({**one, "wave": 0, "varying": None}.items())) for one in cell.requests
        ]

    def of(self, place: int, number: int) -> str | None:
        """Give the signature of a request in a round; None where it is like none."""
        request = self._requests[place]
        if request["role"] == "cancelled":
            return None
        varying = request["varying"]
        if varying is None:
            return self._written[place]
        value = varying["values"][number % len(varying["values"])]
        if varying["field"] == "seed" and value is None and request["seed"] is not None:
            return None
        return f"{self._written[place]} {varying['field']} {value}"


def collect(index: int, cell: Cell, rounds: list[Document], priming: int) -> Outputs:
    """Give the outputs of a cell by signature."""
    first = max(1, priming)
    later = Counter({one["lifetime"]: 0 for one in rounds})
    later.update(one["lifetime"] for one in rounds if one["number"] >= first)
    few = any(count < 2 for count in later.values())
    signatures, found = Signatures(cell), Outputs()
    for one in rounds:
        number, calm = one["number"], few or one["number"] >= first
        for place, output in enumerate(one["outputs"]):
            signature = signatures.of(place, number)
            if output is not None and signature is not None:
                seen = Seen(one["lifetime"], number, place, index, output, calm)
                found.setdefault(signature, []).append(seen)
    return found


def alike(seen: Outputs, partners: dict[str, Outputs]) -> list[Alike]:
    """Give what is compared of a cell, by the first place, then the first round.

    Args:
        seen: outputs of the cell.
        partners: outputs of the cells that it is compared with, by scope.
    """
    found = [
        Alike(
            min(one.place for one in own),
            own,
            {
                scope: [one for one in other.get(signature, ()) if one.settled]
                for scope, other in partners.items()
            },
        )
        for signature, own in seen.items()
    ]
    return sorted(found, key=lambda one: (one.place, one.own[0]))


def gaps(seen: Outputs, cell: Cell, rounds: list[Document], table: Table) -> list[Gap]:
    """Compare requests that rescore with what they rescore, by round, then place."""
    known = {(one.lifetime, one.number, one.place): one for ones in seen.values() for one in ones}
    found = []
    for one in rounds:
        for place, request in enumerate(cell.requests):
            again = request["rescores"]
            if again is None or None in (one["outputs"][place], one["outputs"][again]):
                continue
            rescored = one["outputs"][again]
            told = table.outputs[one["outputs"][place]]["prompt_logprobs"]
            wanted = table.outputs[rescored]["logprobs"]
            if told is not None and wanted is not None:
                tail = told[max(len(told) - len(wanted), 0) :]
                both = enumerate(zip(tail, wanted, strict=False))
                short = len(tail) if len(tail) < len(wanted) else None
                at = next((i for i, (got, other) in both if got != other), short)
                where = known[one["lifetime"], one["number"], place]
                found.append(Gap(place, where, rescored, at))
    return found


def kinds(compared: list[Alike], again: list[Gap], table: Table) -> list[str]:
    """Give what differs, `tokens` before `shape` before `logprobs`."""
    found = set()
    for each in compared:
        # Partners are compared with the cell's own outputs, not with one another.
        own = [table.answers[seen.output] for seen in each.own]
        others = [table.answers[seen.output] for seen in each.others()]
        if len({one.tokens for one in own + others}) > 1:
            found.add("tokens")
        tokens = {one.tokens for one in own}
        like = own + [one for one in others if one.tokens in tokens]
        if len({one.shape for one in like}) > len(tokens):
            found.add("shape")
        shapes = {one.shape for one in own}
        like = own + [one for one in others if one.shape in shapes]
        if len({one.whole for one in like}) > len(shapes):
            found.add("logprobs")
    if any(gap.at is not None for gap in again):
        found.add("logprobs")
    return [kind for kind in ("tokens", "shape", "logprobs") if kind in found]


def pairs(compared: list[Alike], again: list[Gap], table: Table) -> tuple[int, int]:
    """Give how many pairs of outputs are compared, and how many of them differ."""
    whole = len(again)
    differing = sum(gap.at is not None for gap in again)
    for each in compared:
        own = Counter(map(table.whole, each.own))
        others = Counter(map(table.whole, each.others()))
        size, other = own.total(), others.total()
        among, across = size * (size - 1) // 2, size * other
        whole += among + across
        differing += among - sum(n * (n - 1) // 2 for n in own.values())
        differing += across - sum(n * others[key] for key, n in own.items())
    return whole, differing


def settled(compared: list[Alike], again: list[Gap], table: Table) -> bool:
    """Whether settled rounds have no difference (CERT-15)."""
    for each in compared:
        calm = [one for one in each.own if one.settled]
        if calm and len({table.whole(one) for one in calm + each.others()}) > 1:
            return False
    return all(gap.at is None or not gap.seen.settled for gap in again)


def first(compared: list[Alike], again: list[Gap], table: Table) -> Document | None:
    """Give the first difference (CERT-17)."""
    for each in compared:
        for lifetime in sorted({one.lifetime for one in each.own}):
            ones = [one for one in each.own if one.lifetime == lifetime]
            if (found := _against(ones[0], ones, table)) is not None:
                return _told("repeats", each.place, ones[0], found, table)
    for each in compared:
        if (found := _against(each.own[0], each.own, table)) is not None:
            return _told("lifetimes", each.place, each.own[0], found, table)
    for scope in ("alone", "condition"):
        for each in compared:
            others = each.partners.get(scope, [])
            if (found := _against(each.own[0], others, table)) is not None:
                return _told(scope, each.place, each.own[0], found, table)
    for gap in again:
        if gap.at is not None:
            return _rescoring(gap, table)
    return None


def _against(one: Seen, others: list[Seen], table: Table) -> Seen | None:
    own = table.whole(one)
    return next((other for other in others if table.whole(other) != own), None)


def _told(scope: str, place: int, a: Seen, b: Seen, table: Table) -> Document:
    left, right = table.answers[a.output], table.answers[b.output]
    one, other = table.outputs[a.output], table.outputs[b.output]
    kind, position, apart = contrast(left, right, one, other)
    return _member(scope, kind, place, a, b, position, apart)


def _rescoring(gap: Gap, table: Table) -> Document:
    told = table.outputs[gap.seen.output]["prompt_logprobs"]
    wanted = table.outputs[gap.rescored]["logprobs"]
    tail = told[max(len(told) - len(wanted), 0) :]
    at = gap.at or 0
    apart = delta(tail[at], wanted[at]) if at < len(tail) else None
    return _member("rescoring", "logprobs", gap.place, gap.seen, gap.seen, gap.at, apart)


def _member(
    scope: str,
    kind: str,
    place: int,
    a: Seen,
    b: Seen,
    position: int | None,
    apart: str | None,
) -> Document:
    return {
        "scope": scope,
        "kind": kind,
        "request": place,
        "a": a.where(),
        "b": b.where(),
        "position": position,
        "delta": apart,
    }
