"""The claim of a finding: what was observed, folded into the predicate (spec/finding.md).

Nothing is executed, read or timed here: the same observations and arguments give the same
predicate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from lockstep import spec
from lockstep.errors import LockstepError
from lockstep.fuzz.case import Case
from lockstep.minimize.dimensions import dimensions, steps_of
from lockstep.minimize.observe import FindingSeen, origin_units

PREDICATE_TYPE = "urn:lockstep:certificate:finding:v1"

NOT_RUN = (
    "other models and backends than this one",
    "whether the failure has other causes, or shows in cases of other forms",
)
"""What a finding says nothing of [FIND-10]."""


def predicate(seen: FindingSeen, *, issued_at: str, producer: Mapping[str, str]) -> dict[str, Any]:
    """Fold a finding into the predicate of its certificate.

    Args:
        seen: the finding.
        issued_at: UTC time, as the schema writes it.
        producer: name, version, python, numpy, machine and command.

    Raises:
        LockstepError: FINDING_NOT_REPRODUCED, the reduced case shows no failure;
            FINDING_NOT_MINIMAL, one of its single removals still shows it; LIMIT_SIZE, it has
            more of them than a certificate may hold.
    """
    if seen.shown.failure is None:
        raise LockstepError("FINDING_NOT_REPRODUCED", "/case", "a failure", "nothing is wrong")
    case = seen.reduced.case
    removals = [
        {
            "dimension": removal.dimension,
            "place": list(removal.place),
            "sha256": sha256,
            "outcome": outcome.name,
            "code": outcome.code,
        }
        for removal, sha256, outcome in seen.reduced.outcomes
    ]
    left = [row["place"] for row in removals if row["outcome"] == "reproduces"]
    if left:
        raise LockstepError("FINDING_NOT_MINIMAL", "/removals", "none that reproduces", left[0])
    most: int = spec.load("finding.json")["most_removals"]
    if len(removals) > most:
        raise LockstepError("LIMIT_SIZE", "/removals", f"at most {most}", len(removals))
    unmutated = seen.unmutated
    return {
        "issued_at": issued_at,
        "critical": [],
        "producer": dict(producer),
        "environment": dict(seen.environment),
        "model": dict(seen.model),
        "mutation": None if seen.mutation is None else dict(seen.mutation),
        "failure": dict(seen.shown.failure),
        "case": case.document(),
        "case_sha256": case.sha256,
        "trajectory_sha256": seen.shown.trajectory,
        "origin": {
            "source": seen.source,
            "sha256": seen.origin.sha256,
            "units": origin_units(seen),
        },
        "reduction": {"checks": seen.reduced.checks, "refused": seen.reduced.refused},
        "dimensions": [{"name": name, "held": seen.held.get(name)} for name in dimensions()],
        "removals": removals,
        "unmutated": None
        if unmutated is None
        else {"outcome": unmutated.name, "code": unmutated.code},
        "closed_by": seen.closed_by,
        "counts": _counts(case, removals, len(seen.held)),
        "not_run": list(NOT_RUN),
    }


def _counts(case: Case, removals: list[dict[str, Any]], held: int) -> dict[str, int]:
    outcomes = Counter(row["outcome"] for row in removals)
    requests, steps = case.workload.requests, steps_of(case)
    return {
        "free": len(dimensions()) - held,
        "held": held,
        "removals": len(removals),
        "distinct": len({row["sha256"] for row in removals}),
        "illegal": outcomes["illegal"],
        "passes": outcomes["passes"],
        "fails_otherwise": outcomes["fails_otherwise"],
        "requests": len(requests),
        "prompt_tokens": sum(len(request.prompt) for request in requests),
        "new_tokens": sum(request.max_new for request in requests),
        "steps": len(steps),
        "actions": sum(map(len, steps)),
    }
