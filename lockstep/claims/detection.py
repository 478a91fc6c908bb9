"""The claim of what the certifier detects: records of trials, folded [DET-14] to [DET-20].

Nothing is asked, read or timed here, but for what the specification declares: the same records
give the same predicate.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from lockstep import spec
from lockstep.certify.trials import CASES, FILE, MUTATIONS, Trial, bound_us, servers, trials
from lockstep.errors import LockstepError

_SUMS = ("lifetimes", "rounds", "requests", "pairs")
Row = Mapping[str, Any]


def predicate(
    records: Sequence[Mapping[str, Any]], *, issued_at: str, producer: Mapping[str, str]
) -> dict[str, Any]:
    """Fold the records of trials into the predicate.

    Args:
        records: of each trial that this backend can run, in any order: `name`, `edits_sha256`,
            `elapsed_us`, `certificate` (`sha256`, `verdict`, `counts`; None without one), `shown`,
            and, with a certificate, its `plan` and `server` (names and values of what it is).
        issued_at: UTC time, as the schema writes it.
        producer: name, version, python, machine and command.

    Raises:
        LockstepError: DETECTION_INCOMPLETE, a trial is missing, or a record is of other edits or
            of fewer lifetimes than the specification's.
    """
    held = {record["name"]: record for record in records}
    told = [_row(trial, held) for trial in trials()]
    plans = {trial.server: held[trial.name]["plan"] for trial in trials() if not trial.operator}
    first = held[next(trials()).name]
    counted = counts(told)
    return {
        "issued_at": issued_at,
        "critical": [],
        "producer": dict(producer),
        "mutation_sha256": hashlib.sha256(spec.read(MUTATIONS)).hexdigest(),
        "certification_sha256": hashlib.sha256(spec.read(CASES)).hexdigest(),
        "server": list(first["server"]),
        "plan": {**first["plan"], "lifetimes": 1, "positive": "absent", "positive_cases": []},
        "contexts": [plans[name]["context"] for name in servers()],
        "trials": told,
        "blind": blind(told),
        "not_run": [one["name"] for one in told if one["outcome"] == "not_run"],
        "counts": counted,
        "verdict": verdict(counted, told),
    }


def rows(records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Give the trials that records are of as the predicate has them, in their order."""
    held = {record["name"]: record for record in records}
    return [_row(trial, held) for trial in trials() if trial.name in held]


def blind(rows: Sequence[Row]) -> list[str]:
    """Give the faults that are declared invisible and came out clean [DET-16]."""
    return [row["name"] for row in rows if row["operator"] and _both(row, "clean")]


def _both(row: Row, word: str) -> bool:
    return bool(row["expected"] == word == row["outcome"])


def _row(trial: Trial, held: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Give a trial as the predicate has it."""
    told: dict[str, Any] = {"elapsed_us": None, "certificate": None, "shown": None}
    if trial.runs:
        if trial.name not in held:
            raise LockstepError("DETECTION_INCOMPLETE", f"/trials: {trial.name}", "a record", None)
        record = held[trial.name]
        if record["edits_sha256"] != trial.edits_sha256:
            where, got = f"/trials: {trial.name}", record["edits_sha256"]
            raise LockstepError("DETECTION_INCOMPLETE", where, trial.edits_sha256, got)
        told = {name: record[name] for name in told}
    row = {**trial.document(), **told}
    return {**row, "outcome": outcome(row)}


def outcome(row: Row) -> str:
    """Give what a trial came to; the first that applies [DET-15]."""
    if row["elapsed_us"] is None:
        return "not_run"
    if row["shown"] is None:
        return "clean" if row["certificate"]["verdict"] == "CLEAN" else "quiet"
    if row["expected"] == "caught" and row["elapsed_us"] > bound_us():
        return "late"
    return "caught"


def is_as_expected(row: Row) -> bool:
    """Whether a trial came to what is expected of it."""
    if row["expected"] == "any" or row["outcome"] == "not_run":
        return True
    return row["outcome"] == row["expected"] or _controlled(row)


def _controlled(row: Row) -> bool:
    """Whether it is more than quiet where that is enough."""
    return bool(row["expected"] == "quiet" and row["outcome"] == "clean")


def counts(rows: Sequence[Row]) -> dict[str, int]:
    """Give the counts, in their order [DET-18]."""
    operators = [row for row in rows if row["operator"] is not None]
    controls = [row for row in rows if row["operator"] is None and row["expected"] != "any"]
    seen = Counter((row["expected"], row["outcome"]) for row in operators)
    visible = [row for row in operators if row["expected"] == "caught"]
    ran = [row for row in operators if row["outcome"] != "not_run"]
    shown = Counter(row["shown"]["sort"] for row in rows if row["shown"] is not None)
    slow = (row["elapsed_us"] for row in visible if row["outcome"] == "caught")
    held = [row["certificate"]["counts"] for row in controls if row["certificate"] is not None]
    return {
        "trials": len(rows),
        "operators": len(operators),
        "visible": sum(row["expected"] == "caught" for row in ran),
        "caught": seen["caught", "caught"],
        "late": seen["caught", "late"],
        "missed": seen["caught", "clean"] + seen["caught", "quiet"],
        "invisible": sum(row["expected"] == "clean" for row in ran),
        "clean": seen["clean", "clean"],
        "contradicted": seen["clean", "caught"],
        "undecided": seen["clean", "quiet"],
        "other_backend": len(operators) - len(ran),
        "controls": len(controls),
        "controls_good": sum(map(is_as_expected, controls)),
        "false_alarms": sum(row["outcome"] == "caught" for row in controls),
        "fast_caught": sum(row["expected"] == "any" and row["outcome"] == "caught" for row in rows),
        **{f"shown_{sort}": shown[sort] for sort in spec.load(FILE)["sorts"]},
        "slowest_us": max(slow, default=0),
        **{f"control_{name}": sum(one[name] for one in held) for name in _SUMS},
    }


def verdict(counted: Mapping[str, int], rows: Sequence[Row]) -> str:
    """Give the certificate's verdict [DET-17]."""
    if counted["false_alarms"]:
        return "FALSE_ALARM"
    if counted["late"] or counted["missed"]:
        return "MISSED"
    hoped = [row for row in rows if row["expected"] == "clean" and row["outcome"] != "not_run"]
    return "DETECTED" if all(_both(row, "clean") for row in hoped) else "INCONCLUSIVE"
