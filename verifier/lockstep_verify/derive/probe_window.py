"""Whether a sample of a server may be used, and what it gives where it may (spec/probe.md)."""

from itertools import pairwise
from typing import Any

from lockstep_verify import spec

Document = dict[str, Any]


def refusal(sample: Document) -> str | None:
    """Give the first reason by which a sample is refused, None for none (PROBE-6)."""
    requests: list[Document] = sample["requests"]
    window: Document = sample["window"]
    read = [one for one in window["counters"] if one["metric"] is not None]
    if any(one["failure"] is not None for one in requests):
        return "request_failed"
    if any(one["before"] is None or one["after"] is None for one in read):
        return "missing_reading"
    counted = [one for one in read if one["before"] > 0]
    if counted and all(one["after"] < one["before"] for one in counted):
        return "counter_reset"
    if any(one["after"] < one["before"] for one in read):
        return "metric_backwards"
    apart = window["clock_us"] - window["monotonic_us"]
    if abs(apart) > spec.load("probe.json")["clock_step_us"]:
        return "clock_step"
    if _foreign(sample):
        return "foreign_work"
    if any(_other_work(one) for one in requests):
        return "wrong_work"
    if any(one["cached"] is not None and one["cached"] > 0 for one in requests):
        return "cached_prompt"
    if wall(sample) == 0 or _rise(sample, "steps") == 0:
        return "zero_population"
    return None


def guarded(sample: Document) -> bool:
    """Tell whether a counter of the server says whose prompts were in the window (PROBE-6)."""
    return any(
        one["question"] == "prompt_tokens" and one["metric"] is not None
        for one in sample["window"]["counters"]
    )


def wall(sample: Document) -> int:
    """Give the largest end less the smallest start, 0 without a request (PROBE-5)."""
    ends = [one["end_us"] for one in sample["requests"]]
    starts = [one["start_us"] for one in sample["requests"]]
    return max(ends) - min(starts) if ends else 0


def _rise(sample: Document, question: str) -> int | None:
    """Give what a counter rose by, None where no metric answers the question."""
    for one in sample["window"]["counters"]:
        if one["question"] == question and one["metric"] is not None:
            return int(one["after"] - one["before"])
    return None


def _prompt(request: Document) -> int | None:
    told: int | None = request["told_tokens"]
    planned: int | None = request["prompt_tokens"]
    return planned if told is None else told


def _total(values: list[int | None]) -> int | None:
    whole = 0
    for value in values:
        if value is None:
            return None
        whole += value
    return whole


def _foreign(sample: Document) -> bool:
    """See whether the counters tell of tokens that this sample did not ask for."""
    own = {
        "prompt_tokens": _total([_prompt(one) for one in sample["requests"]]),
        "generated_tokens": _total([one["generated"] for one in sample["requests"]]),
    }
    for question, tokens in own.items():
        rise = _rise(sample, question)
        if tokens is not None and rise is not None and rise != tokens:
            return True
    return False


def _other_work(request: Document) -> bool:
    planned, told = request["prompt_tokens"], request["told_tokens"]
    if planned is not None and told is not None and planned != told:
        return True
    return bool(request["generated"] != request["max_new"])


def quantities(sample: Document) -> dict[str, int | None]:
    """Give every quantity of a sample that is not refused, None where it has none (PROBE-8)."""
    requests: list[Document] = sample["requests"]
    last = requests[-1]
    gaps = _gaps(requests[0])
    lengths = sorted(gap for gap, _ in gaps)
    found: dict[str, int | None] = {
        "wall_us": wall(sample),
        "requests": len(requests),
        "tokens": _total([_prompt(one) for one in requests]),
        "generated_tokens": _total([one["generated"] for one in requests]),
        "steps": _rise(sample, "steps"),
        "first_us": None if last["first_us"] is None else last["first_us"] - last["start_us"],
        "cadence_us": lengths[(len(lengths) + 1) // 2 - 1] if lengths else None,
        "stall_us": None,
        "stall_tokens": None,
    }
    if len(requests) > 1 and gaps:
        start, first = requests[1]["start_us"], requests[1]["first_us"]
        beside = [gap for gap, end in gaps if end > start]
        found["stall_us"] = max(beside) if beside else None
        if first is not None:
            arrivals = requests[0]["arrivals_us"]
            found["stall_tokens"] = len([at for at in arrivals if start < at <= first])
    return found


def _gaps(request: Document) -> list[tuple[int, int]]:
    """Give the gaps between a request's tokens, with their ends; none where parts were several."""
    arrivals: list[int] = request["arrivals_us"]
    if len(arrivals) != request["generated"]:
        return []
    return [(later - earlier, later) for earlier, later in pairwise(arrivals)]
