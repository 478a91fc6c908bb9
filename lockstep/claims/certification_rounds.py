"""What the times and readings of rounds show of batch and cache [CERT-11, CERT-13, CERT-15]."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from lockstep import spec
from lockstep.certify.cells import PlannedCell
from lockstep.certify.observation import Adapter, Round
from lockstep.certify.requests import Plan

_GAUGE_LAG = 2
"""The largest reading beside requests that are sent one by one."""


class Span(NamedTuple):
    """When a request ran, without the moment of its end; and whether it is a probe."""

    start: int
    end: int
    probe: bool


def together(spans: Iterable[Span]) -> int:
    """Give the most spans that share a moment, a probe's among them."""
    held = list(spans)
    moments = ([one for one in held if one.start <= at.start < one.end] for at in held)
    return max((len(ones) for ones in moments if any(one.probe for one in ones)), default=0)


def in_flight(cell: PlannedCell, one: Round) -> int:
    """Give the most requests between start and end at one time, a probe among them."""
    return together(map(Span, one.start_us, one.end_us, _probes(cell, one)))


def overlap(cell: PlannedCell, one: Round) -> int | None:
    """Give the most requests between first token and end, likewise; None where not known."""
    spans = []
    seen = zip(one.outputs, one.first_us, one.end_us, _probes(cell, one), strict=True)
    for output, first, end, probe in seen:
        if first is not None:
            spans.append(Span(first, end, probe))
        elif output is not None:
            return None
    return together(spans)


def _probes(cell: PlannedCell, one: Round) -> list[bool]:
    return [request.role == "probe" for request in cell.present(one.number)]


def is_batched(cell: PlannedCell, one: Round, plan: Plan, adapter: Adapter) -> bool:
    """Whether a batch formed in a round, as wide as the case needs [CERT-11]."""
    known, least = overlap(cell, one), cell.width
    if in_flight(cell, one) < 2 or (known is not None and known < 2):
        return False
    if known is None and ("stream" in plan["offers"] or adapter.gauge is None):
        return False
    if adapter.gauge is None:
        return "stream" in plan["offers"] and width(cell, one, adapter) >= least
    return least <= width(cell, one, adapter) <= len(one.outputs)


def is_alone(one: Round, adapter: Adapter) -> bool:
    """Whether the gauge shows nothing else beside requests sent one by one [CERT-12]."""
    if adapter.gauge is None:
        return True
    return one.peak_running is not None and one.peak_running <= _GAUGE_LAG


def took_place(cell: PlannedCell, one: Round) -> bool:
    """Whether late requests met a batch, and cancelled ones were not answered [CERT-11]."""
    roles = [request.role for request in cell.present(one.number)]
    if any(
        role == "cancelled" and o is not None for role, o in zip(roles, one.outputs, strict=True)
    ):
        return False
    waves = cell.submission(one.number)
    for before, places, waits in zip(waves, waves[1:], cell.waves[1:], strict=False):
        late = min(one.start_us[place] for place in places)
        if waits == "first_token" and max(one.end_us[place] for place in before) <= late:
            return False
    return True


def width(cell: PlannedCell, one: Round, adapter: Adapter) -> int:
    """Give how many requests a round that is batched had at once."""
    return (one.peak_running if adapter.gauge is not None else overlap(cell, one)) or 0


def settled(rounds: Sequence[Round], priming: int) -> tuple[Round, ...]:
    """Give the settled rounds of a cell [CERT-15]."""
    later = [one for one in rounds if one.number >= max(1, priming)]
    for lifetime in {one.lifetime for one in rounds}:
        if sum(one.lifetime == lifetime for one in later) < 2:
            return tuple(rounds)
    return tuple(later)


def cache_witness(cell: PlannedCell, rounds: Sequence[Round], plan: Plan) -> str:
    """Give what reports of cached tokens show [CERT-13].

    A prompt of the user's own has as many units as the server counts tokens in it [CERT-24].
    """
    is_own = cell.case == spec.load("certification.json")["eval_case"]["name"]
    waves: list[dict[int, list[int]]] = []
    for one in rounds:
        if one.number >= max(1, plan["priming"]):
            told: dict[int, list[int]] = {}
            none = (None,) * len(one.outputs)
            reports = zip(one.outputs, one.cached or none, one.prompt_tokens or none, strict=True)
            for request, report in zip(cell.present(one.number), reports, strict=True):
                output, cached, tokens = report
                size = (tokens or 0) if is_own else len(request.prompt)
                if request.role != "probe" or size <= plan["block_size"] or output is None:
                    continue
                if cached is None:
                    return "not_reported"
                told.setdefault(request.wave, []).append(cached)
            waves.append(told)
    every = [cached for told in waves for group in told.values() for cached in group]
    if not every:
        return "not_reported"
    if cell.cache == "warm":
        held = any(every)
    elif cell.cache == "off":
        held = not any(every)
    else:
        held = not any(told.get(0) and all(told[0]) for told in waves)
    return "shown" if held else "contradicted"
