"""The verdict of a cell and its statistics (CERT-16, CERT-18)."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from lockstep_verify.derive import certification_differences as differences
from lockstep_verify.derive.certification_differences import Alike, Outputs, Table
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
        seen: outputs by the signature of requests that are alike.
        members: the derived members of the certificate's cell, in the order of derivation.
    """

    cell: Cell
    seen: Outputs
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
    cell: Cell,
    seen: Outputs,
    stated: Document,
    plan: Document,
    table: Table,
    shown: Witness,
    partners: dict[str, Outputs],
) -> Judged:
    """Give what follows from the rounds of a cell, whose form has been checked.

    Args:
        cell: as planned.
        seen: its outputs.
        stated: the certificate's cell.
        plan: the parameters.
        table: of outputs.
        shown: what the rounds show of batch and cache.
        partners: outputs of the cells that it is compared with, by scope.
    """
    rounds = stated["rounds"]
    compared = differences.alike(seen, partners)
    again = differences.gaps(seen, cell, rounds, table)
    kinds = differences.kinds(compared, again, table)
    pairs, differing = differences.pairs(compared, again, table)
    verdict = _unscored(cell, stated, plan, table, shown)
    if verdict is None and kinds:
        calm = differences.settled(compared, again, table)
        verdict = "first_run_only" if calm else "divergent"
    if verdict is None:
        verdict = "missing" if _missing(cell, rounds, plan, table) else "clean"
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
        "statistics": _statistics(compared, counted, table) if verdict in SCORED else None,
    }
    return Judged(cell, seen, members)


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
    if cell.one_by_one and not shown.alone:
        return "not_alone"
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


def _missing(cell: Cell, rounds: list[Document], plan: Document, table: Table) -> bool:
    """Whether answers lack what the observable needs, or have nothing at all (CERT-16)."""
    for one in rounds:
        for request, output in zip(cell.requests, one["outputs"], strict=False):
            if output is None or request["role"] not in ("probe", "filler"):
                continue
            told = table.outputs[output]["prompt_logprobs"]
            rescores = request["rescores"] is not None and plan["observable"] == "logprobs"
            if table.answers[output].lacks or (rescores and told is None):
                return True
    answered = [
        table.answers[output].empty
        for one in rounds
        for request, output in zip(cell.requests, one["outputs"], strict=False)
        if output is not None and request["role"] == "probe"
    ]
    return bool(answered) and all(answered)


def _statistics(compared: list[Alike], counted: list[Document], table: Table) -> Document:
    """Give rates over rounds and lifetimes (CERT-18)."""
    rounds = {(one["lifetime"], one["number"]) for one in counted}
    apart = set[tuple[int, int]]()
    for each in compared:
        scored = [one for one in each.own if (one.lifetime, one.number) in rounds]
        # Of classes of one size the one that came first stays first.
        usual = Counter(map(table.whole, scored)).most_common(1)
        apart |= {(one.lifetime, one.number) for one in scored if table.whole(one) != usual[0][0]}
    n, k = len(rounds), len(apart)
    m, j = (len({lifetime for lifetime, _ in several}) for several in (rounds, apart))
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
