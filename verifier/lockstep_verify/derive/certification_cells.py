"""The verdict of a cell and its statistics (CERT-16, CERT-18)."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from lockstep_verify.derive import certification_differences as differences
from lockstep_verify.derive.certification_differences import Seen, Table
from lockstep_verify.derive.certification_outputs import malformed
from lockstep_verify.derive.certification_plan import Cell
from lockstep_verify.derive.certification_rounds import Witness
from lockstep_verify.derive.certification_statistics import bounds, missed

Document = dict[str, Any]
SCORED = ("divergent", "first_run_only", "missing", "clean")


class Judged(NamedTuple):
    """What follows from a cell's rounds.

    Attributes:
        cell: as planned.
        seen: outputs by place, of each place that holds a probe.
        members: the derived members of the certificate's cell, in the order of derivation.
    """

    cell: Cell
    seen: dict[int, list[Seen]]
    members: Document

    @property
    def verdict(self) -> str:
        """Give the cell's verdict."""
        return str(self.members["verdict"])

    @property
    def scored(self) -> bool:
        """Whether its rounds count."""
        return self.verdict in SCORED


def judge(
    index: int,
    cell: Cell,
    stated: Document,
    plan: Document,
    table: Table,
    shown: Witness,
    alone: Judged | None,
) -> Judged:
    """Give what follows from the rounds of a cell, whose form has been checked.

    Args:
        index: of the cell.
        cell: as planned.
        stated: the certificate's cell.
        plan: the parameters.
        table: of outputs.
        shown: what the rounds show of batch and cache.
        alone: the cell that sends its probes one by one; None where nothing is compared with it.
    """
    rounds = stated["rounds"]
    seen = differences.collect(index, cell, rounds, plan["priming"])
    apart: dict[int, list[Seen]] = {}
    if alone is not None:
        apart = dict(zip(own_places(cell), alone.seen.values(), strict=False))
    compared = differences.probes(cell, seen, apart)
    again = differences.gaps(cell, rounds, seen, table) if plan["observable"] == "logprobs" else []
    kinds = differences.kinds(compared, again, table)
    pairs, differing = differences.pairs(compared, again, table)
    verdict = _unscored(cell, stated, plan, table, shown)
    if verdict is None and kinds:
        calm = differences.settled(compared, again, table)
        verdict = "first_run_only" if calm else "divergent"
    if verdict is None:
        verdict = "missing" if _missing(cell, seen, plan, table) else "clean"
    counted = [
        one
        for one, together in zip(rounds, shown.batched, strict=True)
        if one["number"] >= plan["priming"] and (together or cell.one_by_one)
    ]
    members = {
        "witness": shown.witness,
        "width": shown.width,
        "cache_witness": shown.cache,
        "pairs": pairs,
        "pairs_differing": differing,
        "kinds": kinds,
        "first": differences.first(compared, again, table),
        "verdict": verdict,
        "statistics": _statistics(cell, counted, table) if verdict in SCORED else None,
    }
    return Judged(cell, seen, members)


def own_places(cell: Cell) -> list[int]:
    """Give the places of the probes that controls send one by one, in their order (CERT-5)."""
    return [
        place
        for place, one in enumerate(cell.requests)
        if one["role"] == "probe" and one["rescores"] is None
    ]


def _unscored(
    cell: Cell, stated: Document, plan: Document, table: Table, shown: Witness
) -> str | None:
    """Give the verdict of a cell that is not scored, or None (CERT-16)."""
    rounds = stated["rounds"]
    failures = {failure["kind"] for one in rounds for failure in one["failures"]}
    formed = sum(
        together and one["number"] >= plan["priming"]
        for one, together in zip(rounds, shown.batched, strict=True)
    )
    if stated["reason"] != "":
        return "not_run"
    if failures:
        return "hang" if "timeout" in failures else "error"
    if any(_malformed(cell, one, plan, table) for one in rounds):
        return "malformed"
    if not cell.one_by_one and formed < 2:
        return "not_batched"
    return "not_cached" if shown.cache == "contradicted" else None


def _malformed(cell: Cell, one: Document, plan: Document, table: Table) -> bool:
    """Whether an answer of a round is malformed (CERT-10)."""
    for place, output in enumerate(one["outputs"]):
        if output is None:
            continue
        request, prompt = cell.requests[place], None
        if plan["form"] == "tokens":
            prompt = len(request["prompt"])
            if request["rescores"] is not None:
                again = one["outputs"][request["rescores"]]
                size = None if again is None else table.answers[again].size
                before = len(cell.requests[request["rescores"]]["prompt"])
                prompt = None if size is None else before + size
        answer, entry = table.answers[output], table.outputs[output]
        if malformed(answer, entry, request, one["number"], prompt):
            return True
    return False


def _missing(cell: Cell, seen: dict[int, list[Seen]], plan: Document, table: Table) -> bool:
    """Whether an answer of a probe lacks what the observable needs (CERT-16)."""
    for place, ones in seen.items():
        rescores = cell.requests[place]["rescores"] is not None
        for one in ones:
            if table.answers[one.output].lacks:
                return True
            told = table.outputs[one.output]["prompt_logprobs"]
            if rescores and plan["observable"] == "logprobs" and told is None:
                return True
    return False


def _statistics(cell: Cell, counted: list[Document], table: Table) -> Document:
    """Give rates over rounds and lifetimes (CERT-18)."""
    places = [place for place, one in enumerate(cell.requests) if one["role"] == "probe"]
    classes = [
        tuple(table.answers[one["outputs"][place]].whole for place in places) for one in counted
    ]
    # Counter keeps the order of first appearance, so that of equal ones the earliest is taken.
    (usual, size), *_ = Counter(classes).most_common(1)
    n, k = len(classes), len(classes) - size
    lifetimes = {one["lifetime"] for one in counted}
    apart = {one["lifetime"] for one, own in zip(counted, classes, strict=True) if own != usual}
    m, j = len(lifetimes), len(apart)
    (low, high), (lifetime_low, lifetime_high) = bounds(k, n), bounds(j, m)
    return {
        "rounds": n,
        "differing": k,
        "low_ppm": low,
        "high_ppm": high,
        "missed_ppm": missed(n) if k == 0 else None,
        "lifetimes": m,
        "lifetimes_differing": j,
        "lifetime_low_ppm": lifetime_low,
        "lifetime_high_ppm": lifetime_high,
        "lifetime_missed_ppm": missed(m) if j == 0 else None,
    }
