"""The form of rounds, and what times and gauge say of batch and cache (CERT-7 to CERT-13)."""

from __future__ import annotations

from typing import Any, NamedTuple

from lockstep_verify import spec
from lockstep_verify.derive.certification_plan import AT, Cell
from lockstep_verify.errors import Refusal

Document = dict[str, Any]

_GAUGE_LAG = 2
"""The largest reading beside requests that are sent one by one."""


class Witness(NamedTuple):
    """What a cell's rounds show of the condition.

    Attributes:
        batched: of each round, whether a batch formed.
        alone: whether each round is alone.
        witness: `gauge`, `overlap` or `none`.
        width: of the widest batch.
        cache: `shown`, `contradicted` or `not_reported`.
    """

    batched: list[bool]
    alone: bool
    witness: str
    width: int
    cache: str


def refuse(where: str, expected: object, got: object, code: str = "BAD_VALUE") -> None:
    """Refuse what stands at `where` of the predicate."""
    raise Refusal(code, f"{AT}/{where}", expected, got)


def check_numbers(
    rounds: list[Document], lifetimes: int, per_lifetime: int, reason: str, at: str
) -> None:
    """Check that rounds are those that were planned, from the first on (CERT-7)."""
    planned = lifetimes * per_lifetime
    if len(rounds) > planned:
        refuse(f"{at}/rounds", f"at most {planned}", len(rounds))
    for i, one in enumerate(rounds):
        for member, value in zip(("lifetime", "number"), divmod(i, per_lifetime), strict=True):
            if one[member] != value:
                refuse(f"{at}/rounds/{i}/{member}", value, one[member])
    if (reason == "") != (len(rounds) == planned):
        refuse(f"{at}/reason", "a reason, exactly where rounds are lacking", reason)


def check_possible(cell: Cell, stated: Document, plan: Document, at: str) -> None:
    """Check that exactly the cells that cannot run say so, and have no rounds (CERT-6)."""
    needs = {one["value"]: one["capability"] for one in _data()["cache_needs"]}
    wanted = {*_case(cell)["needs"], *filter(None, [needs.get(cell.condition["cache"])])}
    impossible = None
    if not wanted <= set(plan["offers"]):
        impossible = "not_offered"
    elif any(_length(cell, one) > plan["context"] for one in cell.requests):
        impossible = "too_long"
    if impossible is not None and stated["reason"] != impossible:
        refuse(f"{at}/reason", impossible, stated["reason"])
    if impossible is not None and stated["rounds"]:
        refuse(f"{at}/rounds", "no rounds", len(stated["rounds"]))
    if impossible is None and stated["reason"] in ("not_offered", "too_long"):
        refuse(f"{at}/reason", "another reason", stated["reason"])


def _case(cell: Cell) -> Document:
    cases = [*_data()["cases"], _data()["eval_case"]]
    case: Document = next(one for one in cases if one["name"] == cell.case)
    return case


def _data() -> Document:
    data: Document = spec.load("certification.json")
    return data


def _length(cell: Cell, request: Document) -> int:
    own = len(request["prompt"]) + int(request["max_new"])
    if request["rescores"] is None:
        return own
    return own + _length(cell, cell.requests[request["rescores"]])


def check_form(
    one: Document, roles: list[str], outputs: int, gauge: bool, at: str, items: int = 0
) -> None:
    """Check lists, places, times, failures and readings of one round (steps 4 and 6)."""
    size = len(roles)
    for member in (
        "outputs",
        "start_us",
        "first_us",
        "end_us",
        "cached",
        "prompt_tokens",
    ):
        if one[member] is not None and len(one[member]) != size:
            refuse(f"{at}/{member}", f"{size} entries", len(one[member]))
    if one.get("scores") is not None and len(one["scores"]) != items:
        refuse(f"{at}/scores", f"{items} entries", len(one["scores"]))
    failed = [failure["request"] for failure in one["failures"]]
    for i, place in enumerate(failed):
        if place >= size or place <= max(failed[:i], default=-1):
            refuse(f"{at}/failures/{i}/request", "places of requests, ascending", place)
    for place, output in enumerate(one["outputs"]):
        if output is not None and output >= outputs:
            refuse(f"{at}/outputs/{place}", f"below {outputs}", output)
        lacking = output is None and roles[place] != "cancelled"
        if (output is not None and place in failed) or (lacking and place not in failed):
            refuse(f"{at}/outputs/{place}", "an output or a failure", output)
        first, start, end = one["first_us"][place], one["start_us"][place], one["end_us"][place]
        if not start <= (start if first is None else first) <= end:
            refuse(f"{at}/end_us/{place}", "start, first and end ascending", end)
    peak, polls = one["peak_running"], one["polls"]
    if (peak is not None and not (gauge and polls)) or (polls and not gauge):
        refuse(f"{at}/peak_running", "a reading of the adapter's gauge", peak)


def check_one_by_one(one: Document, at: str) -> None:
    """Check that no request was in flight beside another (CERT-12)."""
    code = "CONTROL_NOT_SEQUENTIAL"
    for place, (start, end) in enumerate(zip(one["start_us"][1:], one["end_us"], strict=False)):
        if start < end:
            refuse(f"{at}/start_us/{place + 1}", f"{end} or later", start, code)


def alone(one: Document, gauge: bool) -> bool:
    """Whether the gauge shows nothing else beside requests sent one by one (CERT-12)."""
    peak = one["peak_running"]
    return not gauge or (peak is not None and peak <= _GAUGE_LAG)


def check_waves(cell: Cell, one: Document, at: str) -> None:
    """Check that requests were sent in the planned order, and waves after one another (CERT-12)."""
    start, before = one["start_us"], list[int]()
    for wave, places in enumerate(cell.submission(one["number"])):
        earliest = 0
        if cell.waves[wave] == "end":
            earliest = max(one["end_us"][place] for place in before)
        elif cell.waves[wave] == "first_token":
            known = [one["first_us"][place] for place in before]
            earliest = min((first for first in known if first is not None), default=0)
        for place in places:
            if start[place] < earliest:
                refuse(f"{at}/start_us/{place}", f"{earliest} or later", start[place])
            earliest = start[place]
        before = places or before


def most_at_once(begin: list[int], end: list[int], probes: list[bool]) -> int:
    """Give the most intervals, each without its end, that share a moment with a probe's."""
    steps = sorted(
        [(at, 1, own) for at, own in zip(begin, probes, strict=True)]
        + [(at, -1, own) for at, own in zip(end, probes, strict=True)]
    )
    running = probing = most = 0
    for _, step, own in steps:
        running += step
        probing += step * own
        # Of an interval without a moment the end comes before the start.
        if probing > 0:
            most = max(most, running)
    return most


def _probes(cell: Cell, one: Document) -> list[bool]:
    return [request["role"] == "probe" for request in cell.requests[: len(one["outputs"])]]


def batched(cell: Cell, one: Document, streams: bool, gauge: bool) -> bool:
    """Whether as many requests of a round as the case needs ran at once (CERT-11)."""
    width, probes = _case(cell)["width"], _probes(cell, one)
    if most_at_once(one["start_us"], one["end_us"], probes) < 2 or not (streams or gauge):
        return False
    together = overlap(cell, one)
    if (together is None and streams) or (together is not None and together < 2):
        return False
    peak = one["peak_running"]
    if gauge:
        return peak is not None and width <= peak <= len(one["outputs"])
    return together is not None and together >= width


def joined(cell: Cell, one: Document) -> bool:
    """Whether what the case is about took place: late arrivals and cancellations (CERT-11)."""
    for output, request in zip(one["outputs"], cell.requests, strict=False):
        if request["role"] == "cancelled" and output is not None:
            return False
    waves = cell.submission(one["number"])
    for wave, waits in enumerate(cell.waves):
        if waits == "first_token":
            sent = min(one["start_us"][place] for place in waves[wave])
            if all(one["end_us"][place] <= sent for place in waves[wave - 1]):
                return False
    return True


def overlap(cell: Cell, one: Document) -> int | None:
    """Give the most requests between first token and end beside a probe; None: not known."""
    if any(
        first is None and output is not None
        for first, output in zip(one["first_us"], one["outputs"], strict=True)
    ):
        return None
    probes = _probes(cell, one)
    streamed = [at for at, first in enumerate(one["first_us"]) if first is not None]
    first, end, own = (
        [of[at] for at in streamed] for of in (one["first_us"], one["end_us"], probes)
    )
    return most_at_once(first, end, own)


def witness(cell: Cell, rounds: list[Document], plan: Document, gauge: bool) -> Witness:
    """Give what a cell's rounds show of batch and cache (CERT-11, CERT-13)."""
    streams = "stream" in plan["offers"]
    formed = [batched(cell, one, streams, gauge) and joined(cell, one) for one in rounds]
    scored = [
        one
        for one, together in zip(rounds, formed, strict=True)
        if together and one["number"] >= plan["priming"]
    ]
    named = ("gauge" if gauge else "overlap") if scored else "none"
    widths = [(one["peak_running"] if gauge else overlap(cell, one)) or 0 for one in scored]
    apart = all(alone(one, gauge) for one in rounds)
    return Witness(formed, apart, named, max(widths, default=0), _cache(cell, rounds, plan))


def _units(cell: Cell, one: Document, place: int) -> int:
    """Give a prompt's length; of the user's own, as the server counts it, or 0 (CERT-24)."""
    if cell.case != _data()["eval_case"]["name"]:
        return len(cell.requests[place]["prompt"])
    told = one["prompt_tokens"]
    return 0 if told is None else int(told[place] or 0)


def _cache(cell: Cell, rounds: list[Document], plan: Document) -> str:
    first = max(1, plan["priming"])
    told: list[list[tuple[int, int]]] = []
    for one in rounds:
        if one["number"] < first:
            continue
        reports = one["cached"] or [None] * len(one["outputs"])
        seen = [
            (cell.requests[place]["wave"], reports[place])
            for place, output in enumerate(one["outputs"])
            if output is not None
            and cell.requests[place]["role"] == "probe"
            and _units(cell, one, place) > plan["block_size"]
        ]
        if any(cached is None for _, cached in seen):
            return "not_reported"
        if seen:
            told.append(seen)
    if not told:
        return "not_reported"
    every = [cached for seen in told for _, cached in seen]
    early = [[cached for wave, cached in seen if wave == 0] for seen in told]
    contradicted = {
        "warm": not any(every),
        "off": any(every),
        "cold": any(seen and all(seen) for seen in early),
    }
    return "contradicted" if contradicted[cell.condition["cache"]] else "shown"
