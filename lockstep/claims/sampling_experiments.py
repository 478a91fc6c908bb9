"""The claim of the experiments: observations, folded into the predicate.

Nothing is computed by a model, read or timed here (spec/sampling-experiments.md).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lockstep import spec
from lockstep.certificate import lcj
from lockstep.claims.certification_statistics import interval
from lockstep.sampling.distance import quantile
from lockstep.sampling.experiments import Distances, Experiments, Series

PREDICATE_TYPE = "urn:lockstep:certificate:sampling-experiments:v1"


def predicate(seen: Experiments, *, issued_at: str, producer: Mapping[str, str]) -> dict[str, Any]:
    """Fold observations into the predicate of their certificate [EXP-10] to [EXP-14].

    Args:
        seen: what was observed.
        issued_at: UTC time, as the schema writes it.
        producer: name, version, python, machine and command.
    """
    data = spec.load("sampling-experiments.json")
    experiments = [
        {**one, "outcome": outcome(one["experiment"], seen.series, seen.distances)}
        for one in data["experiments"]
    ]
    counts = totals(seen, [one["outcome"] for one in experiments])
    return {
        "issued_at": issued_at,
        "critical": [],
        "producer": dict(producer),
        "version": data["contract"],
        "model": {
            "sha256": seen.model_sha256,
            "stored_dtype": seen.stored_dtype,
            "vocab_size": seen.vocab_size,
        },
        "series": [_series(one) for one in seen.series],
        "distances": [_distances(one, data["quantiles"]) for one in seen.distances],
        "experiments": experiments,
        "counts": counts,
        "verdict": verdict(counts),
        "not_run": list(data["not_run"]),
    }


def digest(folded: Mapping[str, Any]) -> str:
    """Give the digest of what was observed [EXP-15]."""
    observed = {name: folded[name] for name in ("model", "series", "distances")}
    return hashlib.sha256(lcj.encode(observed)).hexdigest()


def bits(differing: Sequence[bool]) -> str:
    """Write a bit for each position, four in a digit [EXP-10]."""
    text = "".join("1" if one else "0" for one in differing)
    text += "0" * (-len(text) % 4)
    return "".join(f"{int(text[at : at + 4], 2):x}" for at in range(0, len(text), 4))


def outcome(experiment: int, series: Iterable[Series], distances: Iterable[Distances]) -> str:
    """Give what came of an experiment [EXP-12]."""
    data = spec.load("sampling-experiments.json")
    differing: dict[str, bool] = {}
    for one in series:
        if one.experiment == experiment:
            differing[one.role] = differing.get(one.role, False) or any(one.differing)
    values: dict[tuple[str, str], list[int]] = {}
    for found in distances:
        if found.experiment == experiment:
            values.setdefault((found.role, found.measure), []).extend(found.values)
    roles = [one for one in data["roles"] if one["experiment"] == experiment]
    orders = [one for one in data["orders"] if one["experiment"] == experiment]
    sides = [(one[side], one["measure"]) for one in orders for side in ("left", "right")]
    if any(one["role"] not in differing for one in roles) or any(
        one not in values for one in sides
    ):
        return "not_run"
    holds = all(differing[one["role"]] == (one["wanted"] == "some") for one in roles)
    holds = holds and all(
        _ordered(
            one["is"],
            values[one["left"], one["measure"]],
            values[one["right"], one["measure"]],
        )
        for one in orders
    )
    return "shown" if holds else "not_shown"


def totals(seen: Experiments, outcomes: Sequence[str]) -> dict[str, int]:
    """Count, in the order of [EXP-13]."""
    replays = [one for one in seen.series if one.role == "replay"]
    return {
        "series": len(seen.series),
        "positions": sum(len(one.differing) for one in seen.series),
        "differing": sum(sum(one.differing) for one in seen.series),
        "distances": len(seen.distances),
        "values": sum(len(one.values) for one in seen.distances),
        "experiments": len(outcomes),
        **{name: outcomes.count(name) for name in ("shown", "not_shown", "not_run")},
        "replay_positions": sum(len(one.differing) for one in replays),
        "replay_differing": sum(sum(one.differing) for one in replays),
    }


def verdict(counts: Mapping[str, int]) -> str:
    """Fold the counts into one verdict [EXP-14]."""
    if counts["replay_differing"]:
        return "diverged"
    return "shown" if counts["shown"] == counts["experiments"] else "partly_shown"


def _ordered(relation: str, left: Sequence[int], right: Sequence[int]) -> bool:
    if relation == "below":
        return quantile(left, 500) < quantile(right, 500)
    apart = quantile(left, 950) < quantile(right, 50)
    return apart if relation == "apart" else not apart


def _series(one: Series) -> dict[str, Any]:
    count = sum(one.differing)
    low, high = interval(count, len(one.differing))
    return {
        "experiment": one.experiment,
        "role": one.role,
        "of": one.of,
        "parameters": None if one.parameters is None else one.parameters._asdict(),
        "positions": len(one.differing),
        "differing": bits(one.differing),
        "count": count,
        "low_ppm": low,
        "high_ppm": high,
    }


def _distances(one: Distances, permilles: Sequence[int]) -> dict[str, Any]:
    return {
        "experiment": one.experiment,
        "role": one.role,
        "measure": one.measure,
        "of": one.of,
        "values": list(one.values),
        "quantiles": [quantile(one.values, permille) for permille in permilles],
    }
