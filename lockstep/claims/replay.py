"""The claim of one execution: what was observed, folded into the predicate (spec/replay.md).

Nothing is executed, read or timed here: the same observations and arguments give the same
predicate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from lockstep.engine.record import trajectory_document
from lockstep.lifecycle.relation import relation
from lockstep.replay.observe import ReplaySeen

PREDICATE_TYPE = "urn:lockstep:certificate:replay:v1"

NOT_RUN = (
    "other workloads, schedules, models and backends than these",
    "devices other than the one that the environment names",
)
"""What one execution says nothing of [RPL-6]."""


def predicate(seen: ReplaySeen, *, issued_at: str, producer: Mapping[str, str]) -> dict[str, Any]:
    """Fold an execution into the predicate of its certificate.

    Args:
        seen: the execution.
        issued_at: UTC time, as the schema writes it.
        producer: name, version, python, numpy, machine and command.
    """
    trajectory = trajectory_document(seen.run.trajectory)
    return {
        "issued_at": issued_at,
        "critical": [],
        "producer": dict(producer),
        "environment": dict(seen.environment),
        "model": dict(seen.model),
        "workload": seen.workload.document(),
        "schedule": seen.schedule.document(),
        "trajectory": {name: trajectory[name] for name in ("start", "steps", "sha256")},
        "events": _events(seen),
        "outputs": [
            {
                "request": request.id,
                "reason": output.reason,
                "tokens": list(output.tokens),
                "logit_digests": list(output.logit_digests),
            }
            for request in seen.workload.requests
            for output in [seen.run.outputs[request.id]]
        ],
        "coverage": _coverage(seen),
        "counts": _counts(seen),
        "not_run": list(NOT_RUN),
    }


def _events(seen: ReplaySeen) -> list[list[dict[str, Any]]]:
    numbers = {request.id: n for n, request in enumerate(seen.workload.submission)}
    steps: list[list[dict[str, Any]]] = [[] for _ in seen.schedule.steps]
    for event in seen.run.events:
        steps[event.step].append(
            {
                "request": numbers[event.request],
                "event": event.event,
                "tokens": event.tokens,
                "blocks": list(event.blocks),
                "published": list(event.published),
            }
        )
    return steps


def _coverage(seen: ReplaySeen) -> dict[str, Any]:
    held = relation()
    grams: Counter[tuple[str, ...]] = seen.run.n_grams(2) + seen.run.n_grams(3)
    cells = set()
    for log in seen.run.logs().values():
        state = held.initial
        for event in log:
            cells.add((state, event))
            state = held.next_state(state, event) or state
    return {
        "population": "execution",
        "covered": [
            {"n": 1, "shown": len(cells), "legal": len(held.cells)},
            *(
                {"n": n, "shown": len(seen.run.n_grams(n)), "legal": len(held.n_grams(n))}
                for n in (2, 3)
            ),
        ],
        "n_grams": [
            {"events": list(events), "count": count}
            for events, count in sorted(grams.items(), key=lambda item: (len(item[0]), item[0]))
        ],
    }


def _counts(seen: ReplaySeen) -> dict[str, int]:
    told = seen.run.counters
    outputs = seen.run.outputs.values()
    return {
        "steps": len(seen.schedule.steps),
        "batches": told["batches"],
        "requests": len(seen.workload.requests),
        "events": len(seen.run.events),
        "rows": told["rows"],
        "tokens": sum(len(output.tokens) for output in outputs),
        "hit_blocks": told["hit_blocks"],
        "evictions": told["evictions"],
        "preemptions": told["preemptions"],
        "stopped": sum(output.reason == "eos" for output in outputs),
        "split_rows": told["split_rows"],
    }
