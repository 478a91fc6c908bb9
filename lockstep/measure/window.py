"""Whether a sample may be used at all, and what it gives where it may [PROBE-6 to PROBE-8]."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from lockstep import spec
from lockstep.errors import LockstepError
from lockstep.measure.observation import Request, Sample, Window

FILE = "probe.json"


def refusal(sample: Sample) -> str | None:
    """Give the first reason for which a sample is refused; None where there is none."""
    requests, window = sample.requests, sample.window
    guards: Mapping[str, Callable[[], bool]] = {
        "request_failed": lambda: any(one.failure is not None for one in requests),
        "missing_reading": lambda: _lacks_reading(window),
        "counter_reset": lambda: _began_anew(window),
        "metric_backwards": lambda: any(rise < 0 for rise in rises(window).values()),
        "clock_step": lambda: _clock_stepped(window),
        "foreign_work": lambda: _is_foreign(sample),
        "wrong_work": lambda: any(map(_other_work, requests)),
        "cached_prompt": lambda: any(one.cached for one in requests),
        "zero_population": lambda: wall(requests) == 0 or rises(window).get("steps", 1) == 0,
    }
    return next((name for name in spec.load(FILE)["refusals"] if guards[name]()), None)


def wall(requests: tuple[Request, ...]) -> int:
    """Give what passed from the first request's start to the last one's end, in microseconds."""
    if not requests:
        return 0
    return max(one.end_us for one in requests) - min(one.start_us for one in requests)


def rises(window: Window) -> dict[str, int]:
    """Give what each counter that was read twice rose by, by question."""
    return {
        one.question: one.after - one.before
        for one in window.counters
        if one.before is not None and one.after is not None
    }


def _lacks_reading(window: Window) -> bool:
    return any(
        one.metric is not None and None in (one.before, one.after) for one in window.counters
    )


def _began_anew(window: Window) -> bool:
    """Whether all counters that had counted anything are smaller now: those of a new process."""
    counted = [one for one in window.counters if one.before and one.after is not None]
    return bool(counted) and all((one.after or 0) < (one.before or 0) for one in counted)


def _clock_stepped(window: Window) -> bool:
    allowed: int = spec.load(FILE)["clock_step_us"]
    return abs(window.clock_us - window.monotonic_us) > allowed


def _is_foreign(sample: Sample) -> bool:
    """Whether counters rose by something else than this sample's own tokens."""
    rose = rises(sample.window)
    asked = tokens(sample)
    if asked is not None and rose.get("prompt_tokens", asked) != asked:
        return True
    answered = generated_tokens(sample)
    return answered is not None and rose.get("generated_tokens", answered) != answered


def tokens(sample: Sample) -> int | None:
    """Give the sample's own prompt tokens: as the server counts them where it says so."""
    return _sum(
        [
            one.prompt_tokens if one.told_tokens is None else one.told_tokens
            for one in sample.requests
        ]
    )


def generated_tokens(sample: Sample) -> int | None:
    """Give the tokens of the sample's answers; None where one of them is not known."""
    return _sum([one.generated for one in sample.requests])


def _sum(numbers: Sequence[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None


def _other_work(request: Request) -> bool:
    planned, told = request.prompt_tokens, request.told_tokens
    other = None not in (planned, told) and planned != told
    return other or request.generated != request.max_new


def value(sample: Sample, quantity: str) -> int | None:
    """Give a quantity of a sample [PROBE-8]; None where there is none.

    Args:
        sample: any.
        quantity: a name of `quantities` of the data.

    Raises:
        LockstepError: the code of its refusal, the sample is refused.
    """
    reason = refusal(sample)
    if reason is not None:
        raise LockstepError(reason.upper(), f"sample {sample.name} of {sample.arm}")
    return _QUANTITIES[quantity](sample)


def _first(sample: Sample) -> int | None:
    last = sample.requests[-1]
    return None if last.first_us is None else last.first_us - last.start_us


def _gaps(sample: Sample) -> list[tuple[int, int]]:
    """Give the gaps between tokens of the request at place 0, each with when it ended."""
    one = sample.requests[0]
    if len(one.arrivals_us) != one.generated:
        return []
    return [(after - before, after) for before, after in pairwise(one.arrivals_us)]


def _cadence(sample: Sample) -> int | None:
    gaps = sorted(gap for gap, _ in _gaps(sample))
    return gaps[(len(gaps) - 1) // 2] if gaps else None


def _stall(sample: Sample) -> int | None:
    if len(sample.requests) < 2:
        return None
    beside = [gap for gap, end in _gaps(sample) if end > sample.requests[1].start_us]
    return max(beside, default=None)


def _stall_tokens(sample: Sample) -> int | None:
    if len(sample.requests) < 2 or not _gaps(sample):
        return None
    start, first = sample.requests[1].start_us, sample.requests[1].first_us
    if first is None:
        return None
    return sum(start < at <= first for at in sample.requests[0].arrivals_us)


def _steps(sample: Sample) -> int | None:
    return rises(sample.window).get("steps")


_QUANTITIES: Mapping[str, Callable[[Sample], int | None]] = {
    "wall_us": lambda sample: wall(sample.requests),
    "tokens": tokens,
    "generated_tokens": generated_tokens,
    "requests": lambda sample: len(sample.requests),
    "steps": _steps,
    "first_us": _first,
    "cadence_us": _cadence,
    "stall_us": _stall,
    "stall_tokens": _stall_tokens,
}
