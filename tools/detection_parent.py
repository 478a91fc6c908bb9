"""Write the parent of the conformance vectors of kind detection.

Usage: python tools/detection_parent.py > spec/cases/documents/detection.json

No server was asked: what trials showed is written here, an observation of each sort, and folded by
the claim of the kind; their plans are those of `tests/detection_records.py`. The document is
reviewed and committed; it is made anew where the rules or the data of the kind change.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fault_parent import written
from server_parent import ISSUED_AT, PRODUCER

from lockstep import spec
from lockstep.certificate.statement import detection_subjects, statement, subject
from lockstep.certify.cells import planned
from lockstep.certify.trials import Trial, trials
from lockstep.claims.detection import predicate

if TYPE_CHECKING:
    from lockstep.certify.cells import PlannedCell

SHOWN = ("difference", "rescoring", "malformed", "failure", "reused", "no_answer")
"""What the first of the visible faults show; all others show the last."""


def plan(trial: Trial) -> dict[str, Any]:
    """Give the default plan, as a trial has it, its members in the order of the schema."""
    from tests import detection_records

    told = detection_records.plan(trial)
    members = spec.load("schemas/detection.schema.json")["$defs"]["plan"]["required"]
    return {name: told[name] for name in members}


@cache
def cells(positive: bool) -> tuple[PlannedCell, ...]:
    """Give the cells of a trial's plan, with a positive control or without."""
    chosen = next(one for one in trials() if (plan(one)["positive"] != "absent") == positive)
    return planned(plan(chosen))


def output(**members: Any) -> dict[str, Any]:
    """Give an answer of sixteen tokens."""
    told: dict[str, Any] = {
        "tokens": list(range(40, 56)),
        "token_texts": None,
        "text_sha256": None,
        "finish": "length",
        "logprobs": [f"-0.{number}" for number in range(40, 56)],
        "top": None,
        "prompt_logprobs": None,
    }
    return {**told, **members}


def shown(sort: str) -> dict[str, Any]:
    """Give an observation of a sort, in the default plan."""
    every = cells(False)
    case = "echo_rescore" if sort == "rescoring" else "prefix_equal"
    cache_ = "cold" if sort == "reused" else "warm"
    at = next(
        i
        for i, one in enumerate(every)
        if (one.case, one.control, one.cache) == (case, None, cache_)
    )
    cell = every[at]
    members: dict[str, Any] = dict.fromkeys(
        (
            "cell",
            "case",
            "control",
            "cache",
            "filler",
            "order",
            "scope",
            "kind",
            "position",
            "delta",
        )
    )
    told = {"sort": sort, **members, "answers": [], "failure": None, "reused": None, "told": ""}
    if sort == "no_answer":
        return {**told, "told": "ENDPOINT_REFUSES: dropped"}
    told |= {"cell": at, "case": cell.case, "control": cell.control}
    told |= {"cache": cell.cache, "filler": cell.filler, "order": cell.order}

    def answer(number: int, place: int, said: dict[str, Any]) -> dict[str, Any]:
        where = {"cell": at, "lifetime": 0, "number": number, "place": place}
        return {**where, "output": said}

    usual = output()
    if sort == "difference":
        other = output(logprobs=[*usual["logprobs"][:9], "-0.5", *usual["logprobs"][10:]])
        told |= {"scope": "repeats", "kind": "logprobs", "position": 9, "delta": "1.000e-02"}
        told["answers"] = [answer(0, 1, usual), answer(2, 1, other)]
    elif sort == "rescoring":
        place = next(i for i, one in enumerate(cell.requests) if one.rescores is not None)
        before = cell.requests[place].rescores or 0
        size = len(cell.requests[before].prompt)
        numbers = [None, *["-1.5"] * (size - 1), *usual["logprobs"][:-1], "-0.75"]
        again = output(tokens=[9], logprobs=["-0.1"], prompt_logprobs=numbers)
        told |= {"scope": "rescoring", "kind": "logprobs", "position": 15, "delta": "2.000e-01"}
        told["answers"] = [answer(1, place, again), answer(1, before, usual)]
    elif sort == "malformed":
        told["answers"] = [answer(0, 3, output(logprobs=usual["logprobs"][1:]))]
    elif sort == "failure":
        failure = {"request": 2, "kind": "timeout", "status": None, "detail": "no end in 20 s"}
        told["failure"] = {"lifetime": 0, "number": 1, **failure}
    else:
        cached = [16] + [0] * (len(cell.present(1)) - 1)
        told["reused"] = {"lifetime": 0, "number": 1, "cached": cached}
    return told


def certificate(trial: Trial, verdict: str) -> dict[str, Any]:
    """Give what is said of a trial's certificate."""
    parameters = plan(trial)
    size = len(cells(parameters["positive"] != "absent"))
    names = spec.load("schemas/detection.schema.json")["$defs"]["certification_counts"]["required"]
    told = dict.fromkeys(names, 0) | {"cases_planned": len(parameters["cases"])}
    told |= {"cells_planned": size, "cells_run": size, "lifetimes": trial.lifetimes}
    told |= {"rounds": 9 * trial.lifetimes, "requests": 99, "pairs": 999}
    return {"sha256": "ab" * 32, "verdict": verdict, "counts": told}


def record(trial: Trial, sort: str | None) -> dict[str, Any]:
    """Give the record of a trial that showed an observation of a sort, or none."""
    verdict = "CLEAN" if trial.expected == "clean" else "INCONCLUSIVE"
    if sort in ("difference", "rescoring"):
        verdict = "DIVERGENT"
    return {
        "name": trial.name,
        "edits_sha256": trial.edits_sha256,
        "elapsed_us": 7_000_000,
        "certificate": None if sort == "no_answer" else certificate(trial, verdict),
        "shown": None if sort is None else shown(sort),
        "plan": plan(trial),
        "server": [{"name": "runtime_version", "value": "0"}],
    }


def document() -> dict[str, Any]:
    """Give the statement."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    records, waiting = [], list(SHOWN)
    for trial in trials():
        if not trial.runs:
            continue
        sort = None
        if trial.expected == "caught":
            sort = waiting.pop(0) if waiting else SHOWN[-1]
        records.append(record(trial, sort))
    folded = predicate(records, issued_at=ISSUED_AT, producer=PRODUCER)
    _, held = detection_subjects(folded)
    return statement("detection", [subject("spec", "$spec:detection"), held], folded)


if __name__ == "__main__":
    sys.stdout.write(written(document()) + "\n")
