"""Which answers to one request differ, and where first (CERT-14, CERT-15, CERT-17)."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from lockstep_verify.derive.certification_outputs import Answer, agree, delta
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
    """One output of a probe.

    Attributes:
        cell: index of its cell.
        lifetime: of the server.
        number: of its round within the lifetime.
        output: its place in the table.
        settled: whether its round is settled (CERT-15).
    """

    cell: int
    lifetime: int
    number: int
    output: int
    settled: bool

    def where(self) -> Document:
        """Give the member that says so."""
        return {"cell": self.cell, "lifetime": self.lifetime, "number": self.number}


class Probe(NamedTuple):
    """All outputs of one probe that a cell compares.

    Attributes:
        place: its first in the cell.
        own: outputs in the cell, by round, then place.
        alone: settled ones where it was sent by itself.
    """

    place: int
    own: list[Seen]
    alone: list[Seen]


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


def probe_places(requests: list[Document]) -> dict[int, int]:
    """Give for the place of each probe the first place with the same request but for its wave."""
    first: dict[str, int] = {}
    return {
        place: first.setdefault(repr({**one, "wave": 0}), place)
        for place, one in enumerate(requests)
        if one["role"] == "probe"
    }


def collect(index: int, cell: Cell, rounds: list[Document], priming: int) -> dict[int, list[Seen]]:
    """Give the outputs of each place that holds a probe, by round."""
    first = max(1, priming)
    later = Counter({one["lifetime"]: 0 for one in rounds})
    later.update(one["lifetime"] for one in rounds if one["number"] >= first)
    few = any(count < 2 for count in later.values())
    return {
        place: [
            Seen(index, one["lifetime"], one["number"], output, few or one["number"] >= first)
            for one in rounds
            if (output := one["outputs"][place]) is not None
        ]
        for place, request in enumerate(cell.requests)
        if request["role"] == "probe"
    }


def probes(cell: Cell, seen: dict[int, list[Seen]], alone: dict[int, list[Seen]]) -> list[Probe]:
    """Give what is compared of each probe.

    Args:
        cell: as planned.
        seen: outputs by place.
        alone: outputs of the cell that sends one by one, by place in this cell.
    """
    same = probe_places(cell.requests)
    found = {place: Probe(place, [], []) for place in same.values()}
    for place, probe in same.items():
        found[probe].own.extend(seen[place])
        found[probe].alone.extend(one for one in alone.get(place, ()) if one.settled)
    for one in found.values():
        for several in (one.own, one.alone):
            several.sort(key=lambda member: (member.lifetime, member.number))
    return list(found.values())


def gaps(
    cell: Cell, rounds: list[Document], seen: dict[int, list[Seen]], table: Table
) -> list[Gap]:
    """Compare requests that rescore with what they rescore, by round, then place."""
    found = []
    settled = {(one.lifetime, one.number): one for ones in seen.values() for one in ones}
    for one in rounds:
        for place, request in enumerate(cell.requests):
            again = request["rescores"]
            if again is None or None in (one["outputs"][place], one["outputs"][again]):
                continue
            output, rescored = one["outputs"][place], one["outputs"][again]
            told = table.outputs[output]["prompt_logprobs"]
            wanted = table.outputs[rescored]["logprobs"]
            if told is None or wanted is None:
                continue
            tail = told[max(len(told) - len(wanted), 0) :]
            both = enumerate(zip(tail, wanted, strict=False))
            short = len(tail) if len(tail) < len(wanted) else None
            at = next((i for i, (got, other) in both if got != other), short)
            calm = settled[one["lifetime"], one["number"]].settled
            where = Seen(seen[place][0].cell, one["lifetime"], one["number"], output, calm)
            found.append(Gap(place, where, rescored, at))
    return found


def kinds(compared: list[Probe], again: list[Gap], table: Table) -> list[str]:
    """Give what differs, `tokens` before `shape` before `logprobs`."""
    found = set()
    for probe in compared:
        # What was sent alone is compared with the cell's own outputs, not with itself.
        own = [table.answers[seen.output] for seen in probe.own]
        alone = [table.answers[seen.output] for seen in probe.alone] if own else []
        if len({one.tokens for one in own + alone}) > 1:
            found.add("tokens")
        tokens = {one.tokens for one in own}
        like = own + [one for one in alone if one.tokens in tokens]
        if len({one.shape for one in like}) > len(tokens):
            found.add("shape")
        shapes = {one.shape for one in own}
        like = own + [one for one in alone if one.shape in shapes]
        if len({one.whole for one in like}) > len(shapes):
            found.add("logprobs")
    if any(gap.at is not None for gap in again):
        found.add("logprobs")
    return [kind for kind in ("tokens", "shape", "logprobs") if kind in found]


def pairs(compared: list[Probe], again: list[Gap], table: Table) -> tuple[int, int]:
    """Give how many pairs of outputs are compared, and how many of them differ."""
    whole = len(again)
    differing = sum(gap.at is not None for gap in again)
    for probe in compared:
        own = Counter(map(table.whole, probe.own))
        alone = Counter(map(table.whole, probe.alone))
        size, other = own.total(), alone.total()
        among, across = size * (size - 1) // 2, size * other
        whole += among + across
        differing += among - sum(n * (n - 1) // 2 for n in own.values())
        differing += across - sum(n * alone[key] for key, n in own.items())
    return whole, differing


def settled(compared: list[Probe], again: list[Gap], table: Table) -> bool:
    """Whether settled rounds have no difference (CERT-15)."""
    for probe in compared:
        if len({table.whole(one) for one in probe.own + probe.alone if one.settled}) > 1:
            return False
    return all(gap.at is None or not gap.seen.settled for gap in again)


def first(compared: list[Probe], again: list[Gap], table: Table) -> Document | None:
    """Give the first difference (CERT-17)."""
    ordered = sorted(compared)
    for probe in ordered:
        for lifetime in sorted({one.lifetime for one in probe.own}):
            ones = [one for one in probe.own if one.lifetime == lifetime]
            if (found := _against(ones[0], ones, table)) is not None:
                return _told("repeats", probe.place, ones[0], found, table)
    for probe in ordered:
        if probe.own and (found := _against(probe.own[0], probe.own, table)) is not None:
            return _told("lifetimes", probe.place, probe.own[0], found, table)
    for probe in ordered:
        if probe.own and (found := _against(probe.own[0], probe.alone, table)) is not None:
            return _told("alone", probe.place, probe.own[0], found, table)
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
    kind = "logprobs"
    if left.tokens != right.tokens:
        kind = "tokens"
    elif left.shape != right.shape:
        kind = "shape"
    position = None if kind == "shape" else agree(one, other, kind)
    apart = None
    if kind == "logprobs" and position is not None and one["logprobs"] is not None:
        apart = delta(one["logprobs"][position], other["logprobs"][position])
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
