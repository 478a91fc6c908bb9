"""The claim about throughput: samples, folded into the predicate (spec/throughput.md).

Nothing is sent, read or timed here: the same observations and arguments give the same predicate.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from lockstep import spec
from lockstep.certificate import lcj
from lockstep.claims import throughput_ratios as ratios
from lockstep.errors import LockstepError
from lockstep.measure import document
from lockstep.measure.observation import Seen

FILE = "throughput.json"


class Criterion(NamedTuple):
    """What ends an endeavour [THR-9].

    Attributes:
        comparison: place of the comparison.
        threshold_ppm: of its ratio, in millionths.
        kills: the side that does, `below` or `above`.
    """

    comparison: int
    threshold_ppm: int
    kills: str


def predicate(
    seen: Seen,
    comparisons: Sequence[tuple[str, str]],
    criteria: Sequence[Criterion],
    *,
    issued_at: str,
    producer: Mapping[str, str],
) -> dict[str, Any]:
    """Fold a run into the predicate of its certificate.

    Args:
        seen: the run.
        comparisons: pairs of names of arms; the ratio is of the first's walls to the second's.
        criteria: on these.
        issued_at: UTC time, as the schema writes it.
        producer: what ran.

    Raises:
        LockstepError: the refusal of the first sample, where not one was left to compare.
    """
    data = spec.load(FILE)
    samples = [document.sample(one) for one in seen.samples]
    require_some(samples)
    arms = [document.arm(one) for one in seen.arms]
    settings = document.settings(seen.arms, seen.samples, seen.bodies)
    spreads = [_spread(one["name"], samples) for one in arms]
    run = _Run(arms, samples, settings, spreads)
    paired = [_pairs(run, a, b) for a, b in comparisons]
    found = [ratios.interval(pairs, data["confidence_permille"]) for pairs in paired]
    compared = [
        _comparison(run, names, pairs, interval)
        for names, pairs, interval in zip(comparisons, paired, found, strict=True)
    ]
    decided = [_criterion(one, found) for one in criteria]
    return {
        "issued_at": issued_at,
        "critical": [],
        "producer": dict(producer),
        "workload": seen.workload.document(),
        "blocks": seen.blocks,
        "arms": arms,
        "bodies": [body.document() for body in seen.bodies],
        "samples": samples,
        "settings": settings,
        "spreads": spreads,
        "comparisons": compared,
        "criteria": decided,
        "limits": list(data["limits"]),
        "arms_sha256": arms_digest(arms),
        "counts": _counts(seen, run, compared, decided),
        "verdict": _verdict(run, compared),
    }


class _Run(NamedTuple):
    arms: list[dict[str, Any]]
    samples: list[dict[str, Any]]
    settings: list[dict[str, Any]]
    spreads: list[dict[str, Any]]

    def arm(self, name: str) -> dict[str, Any]:
        return next(one for one in self.arms if one["name"] == name)

    def of(self, name: str) -> dict[int, dict[str, Any]]:
        return {one["block"]: one for one in self.samples if one["arm"] == name}

    def guarded(self, name: str) -> bool:
        return all(document.guarded(one) for one in self.of(name).values())

    def resolved(self, name: str) -> dict[str, str | None]:
        entries = next(one["entries"] for one in self.settings if one["arm"] == name)
        return {entry["name"]: entry["resolved"] for entry in entries}


def arms_digest(arms: Sequence[Mapping[str, Any]]) -> str:
    """Give the digest of what was measured [THR-14]."""
    return hashlib.sha256(lcj.encode(list(arms))).hexdigest()


def require_some(samples: Sequence[Mapping[str, Any]]) -> None:
    """Refuse a run of which no sample is left.

    Raises:
        LockstepError: the code of the first sample's refusal; ZERO_POPULATION without a sample.
    """
    if all(one["refusal"] is not None for one in samples):
        first = samples[0] if samples else None
        code = "ZERO_POPULATION" if first is None else str(first["refusal"]).upper()
        where = "samples" if first is None else f"sample {first['name']} of {first['arm']}"
        hint = f"None of {len(samples)} samples is left."
        raise LockstepError(code, where, "a sample that can be used", None, hint)


def _spread(name: str, samples: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    walls = [one["wall_us"] for one in samples if one["arm"] == name and one["refusal"] is None]
    bound: int = spec.load(FILE)["spread_permille"]
    return {
        "arm": name,
        "smallest_us": min(walls, default=None),
        "largest_us": max(walls, default=None),
        "flagged": not walls or 1000 * max(walls) > bound * min(walls),
    }


def _pairs(run: _Run, a: str, b: str) -> list[ratios.Ratio]:
    left, right = run.of(a), run.of(b)
    return [
        ratios.Ratio(block, one["wall_us"], right[block]["wall_us"])
        for block, one in left.items()
        if one["refusal"] is None and right[block]["refusal"] is None
    ]


def _comparison(
    run: _Run,
    names: tuple[str, str],
    pairs: Sequence[ratios.Ratio],
    found: ratios.Interval | None,
) -> dict[str, Any]:
    a, b = names
    left, right = run.of(a), run.of(b)
    a_first = sum(left[one.block]["place"] < right[one.block]["place"] for one in pairs)
    asked, other = run.resolved(a), run.resolved(b)
    unlike = [name for name in asked if asked[name] != other[name]]
    flags = _flags(run, names, found, unlike, a_first, len(pairs))
    return {
        "a": a,
        "b": b,
        "pairs": len(pairs),
        "a_first": a_first,
        "excluded": _excluded(left, right),
        **ratios.document(found),
        "unlike": unlike,
        "flags": flags,
        "verdict": _comparison_verdict(found, flags),
    }


def _excluded(
    left: Mapping[int, dict[str, Any]], right: Mapping[int, dict[str, Any]]
) -> list[dict[str, Any]]:
    found = []
    for block in sorted(left):
        both = sorted((left[block], right[block]), key=lambda one: int(one["place"]))
        refused = next((one for one in both if one["refusal"] is not None), None)
        if refused is not None:
            found.append({"block": block, "arm": refused["arm"], "refusal": refused["refusal"]})
    return found


def _flags(
    run: _Run,
    names: tuple[str, str],
    found: ratios.Interval | None,
    unlike: Sequence[str],
    a_first: int,
    pairs: int,
) -> list[str]:
    a, b = map(run.arm, names)
    spread = {one["arm"]: one["flagged"] for one in run.spreads}
    holds = {
        "spread": any(spread[name] for name in names),
        "shared": any(one["launch"] is None for one in (a, b)),
        "unguarded": not all(run.guarded(name) for name in names),
        "unlike": bool(unlike),
        "implausible": found is not None and _implausible(a["role"], b["role"], found),
        "one_sided": a_first in (0, pairs),
    }
    return [name for name in spec.load(FILE)["flags"] if holds[name]]


def _implausible(a: str, b: str, found: ratios.Interval) -> bool:
    """Whether all of an interval has the invariant arm faster than the one without constraint."""
    if (a, b) == ("fast", "invariant"):
        return ratios.above(found.low, ratios.PPM)
    return (a, b) == ("invariant", "fast") and ratios.below(found.high, ratios.PPM)


def _comparison_verdict(found: ratios.Interval | None, flags: Sequence[str]) -> str:
    if "unlike" in flags:
        return "UNLIKE"
    if found is None:
        return "UNMEASURED"
    return "IMPLAUSIBLE" if "implausible" in flags else "MEASURED"


def _criterion(one: Criterion, found: Sequence[ratios.Interval | None]) -> dict[str, Any]:
    outcome = ratios.outcome(found[one.comparison], one.threshold_ppm)
    return {**one._asdict(), "outcome": outcome, "killed": outcome == one.kills}


def _verdict(run: _Run, compared: Sequence[Mapping[str, Any]]) -> str:
    if any(pin["agrees"] is False for one in run.arms for pin in one["pins"]):
        return "IDENTITY_DIFFERS"
    causes = {entry["cause"] for one in run.settings for entry in one["entries"]}
    if causes & {"altered", "dropped"}:
        return "SETTING_ALTERED"
    found = {one["verdict"] for one in compared}
    verdicts: list[str] = spec.load(FILE)["comparison_verdicts"]
    return next(name for name in verdicts if name in found)


def _counts(
    seen: Seen,
    run: _Run,
    compared: Sequence[Mapping[str, Any]],
    decided: Sequence[Mapping[str, Any]],
) -> dict[str, int]:
    requests = [request for one in run.samples for request in one["requests"]]
    agreeing = [pin["agrees"] for one in run.arms for pin in one["pins"]]
    return {
        "arms": len(run.arms),
        "blocks": seen.blocks,
        "samples": len(run.samples),
        "samples_refused": sum(one["refusal"] is not None for one in run.samples),
        "samples_guarded": sum(map(document.guarded, run.samples)),
        "requests": len(requests),
        "tokens": sum(request["generated"] or 0 for request in requests),
        "comparisons": len(compared),
        "comparisons_measured": sum(one["verdict"] == "MEASURED" for one in compared),
        "pairs": sum(one["pairs"] for one in compared),
        "excluded": sum(len(one["excluded"]) for one in compared),
        "criteria": len(decided),
        "criteria_killed": sum(one["killed"] for one in decided),
        "criteria_not_separable": sum(one["outcome"] == "not_separable" for one in decided),
        "pins_agreeing": agreeing.count(True),
        "pins_differing": agreeing.count(False),
        "settings_flagged": document.flagged(run.settings),
        "arms_flagged": sum(one["flagged"] for one in run.spreads),
    }
