"""The LCJ forms of what is seen of servers that are measured (spec/probe.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from lockstep import spec
from lockstep.certify.observation import Launch
from lockstep.measure.observation import Arm, Body, Sample
from lockstep.measure.pins import agrees
from lockstep.measure.settings import resolved
from lockstep.measure.window import FILE, refusal, wall


def sample(one: Sample) -> dict[str, Any]:
    """Give a sample with its refusal and its wall."""
    told = asdict(one)
    told["requests"] = [
        {**request, "arrivals_us": list(request["arrivals_us"])} for request in told["requests"]
    ]
    told["window"]["counters"] = list(told["window"]["counters"])
    return {**told, "refusal": refusal(one), "wall_us": wall(one.requests)}


def guarded(sample: Mapping[str, Any]) -> bool:
    """Whether a counter of the server says whose prompts were in the sample's window."""
    counters = sample["window"]["counters"]
    return any(one["question"] == "prompt_tokens" and one["metric"] for one in counters)


def arm(one: Arm) -> dict[str, Any]:
    """Give an arm: what it is and how it was started."""
    return {
        "name": one.name,
        "role": one.role,
        "adapter": one.adapter,
        "launch": None if one.launch is None else _launch(one.launch),
        "pins": [{**asdict(pin), "agrees": agrees(pin)} for pin in one.pins],
        "server_settings": [asdict(setting) for setting in one.server_settings],
        "kv_pool": one.kv_pool and asdict(one.kv_pool),
    }


def _launch(one: Launch) -> dict[str, Any]:
    told = asdict(one)
    return {name: list(value) if type(value) is tuple else value for name, value in told.items()}


def settings(
    arms: Sequence[Arm], samples: Sequence[Sample], bodies: Sequence[Body]
) -> list[dict[str, Any]]:
    """Give the settings of each arm, over the bodies that it was sent [PROBE-13]."""
    found = []
    for one in arms:
        used = {
            request.body for entry in samples if entry.arm == one.name for request in entry.requests
        }
        sent = [bodies[place] for place in sorted(used)]
        entries = [entry._asdict() for entry in resolved(one.requested, sent)]
        found.append({"arm": one.name, "entries": entries})
    return found


def flagged(entries: Sequence[dict[str, Any]]) -> int:
    """Give how many settings have a cause that asks to be looked at [PROBE-14]."""
    causes = spec.load(FILE)["flagged"]
    return sum(entry["cause"] in causes for one in entries for entry in one["entries"])
