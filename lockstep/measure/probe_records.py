"""The LCJ form of a run of probes, and the records that its samples give [PROBE-15 to PROBE-18]."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from lockstep import spec
from lockstep.measure import document
from lockstep.measure.budget import Budget, budget
from lockstep.measure.observation import Sample
from lockstep.measure.probes import Probed
from lockstep.measure.window import FILE, refusal, value, wall


def probes_document(seen: Probed) -> dict[str, Any]:
    """Give the member `probes` of a measurement."""
    entries = [
        {**asdict(one), "prompts": list(one.prompts), "max_new": list(one.max_new)}
        for one in seen.entries
    ]
    every = [*seen.detections, *seen.samples]
    return {
        **asdict(seen.design),
        "entries": entries,
        "arms": [document.arm(one) for one in seen.arms],
        "bodies": [body.document() for body in seen.bodies],
        "detections": [document.sample(one) for one in seen.detections],
        "samples": [document.sample(one) for one in seen.samples],
        "settings": document.settings(seen.arms, every, seen.bodies),
        "budgets": [{"arm": one.name, **budget_of(seen, one.name)._asdict()} for one in seen.arms],
    }


def budget_of(seen: Probed, arm: str) -> Budget:
    """Give what counts of steps say of an arm's batch budget."""
    prefills = [one for one in seen.samples if probe_of(seen, one) == "prefill"]
    counted = []
    for one in (*seen.detections, *prefills):
        if one.arm == arm and refusal(one) is None:
            tokens, steps = value(one, "tokens"), value(one, "steps")
            if tokens is not None and steps is not None:
                counted.append((tokens, steps))
    return budget(counted)


def probe_of(seen: Probed, sample: Sample) -> str:
    """Give the probe that a sample is of."""
    named = {f"{sample.arm}-{entry.name}-{sample.block}": entry.probe for entry in seen.entries}
    return named[sample.name]


def records(seen: Probed) -> Iterator[dict[str, Any]]:
    """Give the record of each sample, as a measurement has it."""
    listed = {one["name"]: one["quantities"] for one in spec.load(FILE)["probes"]}
    for one in seen.samples:
        reason = refusal(one)
        found = {"wall_us": wall(one.requests)}
        if reason is None:
            told = {name: value(one, name) for name in listed[probe_of(seen, one)]}
            found = {name: number for name, number in told.items() if number is not None}
        yield {
            "id": one.name,
            "arm": one.arm,
            "sample": one.name,
            "values": [_value(one, name, number) for name, number in found.items()],
            "refusal": reason,
        }


def _value(sample: Sample, quantity: str, number: int) -> dict[str, Any]:
    metrics = {one.question: one.metric for one in sample.window.counters}
    metric = metrics.get(quantity) if quantity == "steps" else None
    return {"quantity": quantity, "value": number, "resolution": 1, "metric": metric}
