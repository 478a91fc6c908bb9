"""Records of trials of a made-up server; tests break them."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from lockstep import spec
from lockstep.certify.cells import planned
from lockstep.certify.observation import CellSeen, Failure, Output, Seen
from lockstep.certify.trials import CASES, Trial, trials
from lockstep.claims.detection_shown import no_answer, shown
from tests import certification_records as made
from tests.certification_records import Asked

ISSUED_AT, PRODUCER = made.ISSUED_AT, made.PRODUCER
CONTEXTS = {"roomy": 1280, "crowded": 256, "scattered": 1280, "seeded": 1280}
SORTS = ("difference", "rescoring", "malformed", "failure", "no_answer", "reused")
"""What visible faults show in turn."""
SERVER = [{"name": "runtime_version", "value": "1.0"}]


def plan(trial: Trial) -> dict[str, Any]:
    """Give the default plan, as a trial has it."""
    data = spec.load(CASES)
    positive = trial.operator is None and trial.mode == "invariant"
    told = {
        **data["defaults"],
        "low": 10,
        "span": 246,
        "context": CONTEXTS[trial.server],
        "offers": list(data["capabilities"]),
        "cases": [one["name"] for one in data["cases"]],
        "cache": ["warm", "cold", "off"],
        "lifetimes": trial.lifetimes,
        "positive": "mode_off" if positive else "absent",
    }
    return {**told, "positive_cases": data["defaults"]["positive_cases"] if positive else []}


def seen(parameters: Mapping[str, Any], case: str, twist: made.Twist | None) -> Seen:
    """Give a run that was ended in the second cell of a case."""
    whole = [one.case for one in planned(parameters)]
    small = {**parameters, "cases": [case], "positive_cases": [], "positive": "absent"}
    told = made.seen(small, twist)
    start = whole.index(case)
    cells = [CellSeen((), "interrupted") for _ in whole]
    size = sum(one.case == case and one.control is None for one in planned(small)) + 1
    cells[start : start + size] = told.cells[:size]
    used = {at for cell in cells for one in cell.rounds for at in one.outputs if at is not None}
    # Outputs of the cells that are left out come last: cells are made in their order.
    return replace(told, plan=parameters, cells=tuple(cells), outputs=told.outputs[: len(used)])


def _other(asked: Asked) -> Output:
    usual = made.answer(asked.request.prompt, asked.request)
    return replace(usual, logprobs=("-7.5", *(usual.logprobs or ())[1:]))


def differing(asked: Asked) -> Output | None:
    """Answer otherwise once, in the second cell."""
    return _other(asked) if (asked.index, asked.number, asked.place) == (1, 1, 1) else None


def misscoring(asked: Asked) -> Output | None:
    """Score an own output otherwise."""
    again = asked.request.rescores
    if again is None:
        return None
    rescored = made.answer(asked.cell.requests[again].prompt, asked.cell.requests[again])
    prompt = len(asked.cell.requests[again].prompt)
    told = (None, *["-1.5"] * (prompt - 1), "-9.25", *(rescored.logprobs or ())[1:])
    key = (*asked.cell.requests[again].prompt, *(rescored.tokens or ()))
    return replace(made.answer(key, asked.request), prompt_logprobs=told)


def malformed(asked: Asked) -> Output:
    """Lose a log-probability of every answer."""
    usual = made.answer(asked.request.prompt, asked.request)
    return replace(usual, logprobs=(usual.logprobs or ())[1:])


def failing(asked: Asked) -> Failure | None:
    """Hang once."""
    hangs = (asked.index, asked.number, asked.place) == (0, 2, 1)
    return Failure(1, "timeout", None, "no end in 20 s") if hangs else None


@cache
def observation(sort: str) -> dict[str, Any]:
    """Give what a trial with the default plan showed."""
    if sort == "no_answer":
        return no_answer("ENDPOINT_REFUSES: dropped")
    case, twist = {
        "difference": ("prefix_equal", differing),
        "rescoring": ("echo_rescore", misscoring),
        "malformed": ("full_hit", malformed),
        "failure": ("prefix_equal", failing),
        "reused": ("prefix_equal", None),
    }[sort]
    trial = Trial("made", "made", None, "invariant", "roomy", 1, "caught", "")
    run = seen(plan(trial), case, twist)
    if sort == "reused":
        run = reusing(run)
    told = shown(run)
    if told is None or told["sort"] != sort:
        raise ValueError(f"the made-up run shows no {sort}")
    return told


def reusing(run: Seen) -> Seen:
    """Report of each request of a run that the cache was used."""

    def told(cell: CellSeen) -> CellSeen:
        rounds = (replace(one, cached=(16,) * len(one.outputs)) for one in cell.rounds)
        return replace(cell, rounds=tuple(rounds))

    return replace(run, cells=tuple(map(told, run.cells)))


def certificate(trial: Trial, verdict: str) -> dict[str, Any]:
    """Give what is said of a trial's certificate; counts are made up where none follows."""
    parameters = plan(trial)
    size = len(_planned(trial.server, trial.expected, trial.operator is None))
    names = spec.load("schemas/certification.schema.json")["$defs"]["counts"]["required"]
    told = dict.fromkeys(names, 0) | {"cases_planned": len(parameters["cases"]), "rounds": 1000}
    told |= {"cells_planned": size, "cells_run": size, "lifetimes": trial.lifetimes}
    return {"sha256": "cd" * 32, "verdict": verdict, "counts": told}


@cache
def _planned(server: str, expected: str, control: bool) -> tuple[Any, ...]:
    alike = (server, expected, control)
    trial = next(
        one for one in trials() if (one.server, one.expected, one.operator is None) == alike
    )
    return planned(plan(trial))


def record(trial: Trial, sort: str | None) -> dict[str, Any]:
    """Give the record of a trial that showed an observation of a sort, or none."""
    verdict = "CLEAN" if trial.expected == "clean" else "INCONCLUSIVE"
    if sort in ("difference", "rescoring"):
        verdict = "DIVERGENT"
    return {
        "name": trial.name,
        "edits_sha256": trial.edits_sha256,
        "elapsed_us": 5_000_000,
        "certificate": None if sort == "no_answer" else certificate(trial, verdict),
        "shown": None if sort is None else copy.deepcopy(observation(sort)),
        "plan": plan(trial),
        "server": SERVER,
    }


def records() -> list[dict[str, Any]]:
    """Give a record of each trial, each as it is expected; `fast` shows nothing."""
    found, at = [], 0
    for trial in trials():
        if trial.runs and trial.expected == "caught":
            found.append(record(trial, SORTS[at % len(SORTS)]))
            at += 1
        elif trial.runs:
            found.append(record(trial, None))
    return found
