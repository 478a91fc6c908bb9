"""Records of a certifier's run over a made-up server, small and consistent; tests break them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lockstep import spec
from lockstep.certify.cells import PlannedCell, eval_conditions, planned
from lockstep.certify.observation import (
    Adapter,
    CellSeen,
    Failure,
    Identity,
    Launch,
    Named,
    Output,
    PromptsSeen,
    Round,
    Seen,
    Setting,
    Subject,
    Top,
)
from lockstep.certify.requests import Request

PRODUCER = {
    "name": "lockstep",
    "version": "0",
    "python": "3.11",
    "machine": "made up",
    "command": "none",
}
ISSUED_AT = "2026-11-29T00:00:00Z"

Twist = Callable[["Asked"], "Output | Failure | None"]
"""What a server says in the place of its usual answer; None where it says that."""


class Asked:
    """One request as the made-up server gets it."""

    def __init__(self, index: int, cell: PlannedCell, lifetime: int, number: int, place: int):
        self.index, self.cell, self.lifetime = index, cell, lifetime
        self.number, self.place = number, place
        self.request: Request = cell.requests[place]


def plan(**changes: Any) -> dict[str, Any]:
    """Give a small plan: two cases that need two waves and one, and one that rescores."""
    data = spec.load("certification.json")
    told = {name: value for name, value in data["defaults"].items()}
    told |= {
        "low": 1,
        "span": 255,
        "context": 4096,
        "offers": list(data["capabilities"]),
        "cases": ["prefix_equal", "full_hit", "echo_rescore"],
        "cache": ["warm", "cold"],
        "filler": ["fixed", "varying"],
        "fixed_width": 2,
        "varying_widths": [0, 2],
        "lifetimes": 2,
        "repeats": 3,
        "max_new": 4,
        "top": 1,
        "positive": "absent",
        "positive_cases": [],
    }
    return {**told, **changes}


def answer(prompt: Sequence[int], request: Request) -> Output:
    """Give the answer of a server that depends on the request alone."""
    key = repr((tuple(prompt), request.seed, request.sampling)).encode()
    digest = hashlib.sha256(key).digest()
    tokens = tuple(digest[: request.max_new])
    logprobs = tuple(f"-{at}.{token:03d}" for at, token in enumerate(tokens))
    top = tuple(
        (Top(f"id:{token}", number),) for token, number in zip(tokens, logprobs, strict=True)
    )
    text = hashlib.sha256(bytes(tokens)).hexdigest()
    return Output(tokens, None, text, "length", logprobs, top)


def seen(parameters: Mapping[str, Any] | None = None, twist: Twist | None = None) -> Seen:
    """Give the record of a run over a made-up server whose answers a twist may change."""
    told = dict(plan() if parameters is None else parameters)
    table: dict[Output, int] = {}
    cells = tuple(
        CellSeen((), "not_offered")
        if set(cell.needs) - set(told["offers"])
        else CellSeen(
            tuple(
                round_of(told, index, cell, lifetime, number, table, twist)
                for lifetime in range(cell.lifetimes)
                for number in range(cell.per_lifetime)
            )
        )
        for index, cell in enumerate(planned(told))
    )
    positive = None if told["positive"] == "absent" else Launch("serve --mode fast")
    identity = (
        Identity("distribution_version", "1.0+cpu", "1.0+cpu", "metadata"),
        Identity("runtime_version", "1.0", "1.0", "/version"),
        Identity("startup_version", None, None, "start-up lines"),
        Identity("model", "tiny", "tiny", "/v1/models"),
    )
    return Seen(
        told,
        Adapter("lockstep", "lockstep_requests_running", True),
        Subject(identity, Launch("serve", "3.11", (Named("x", "1"),), ("up",)), positive),
        (Named("httpx", "0.28"), Named("python", "3.11")),
        (
            Setting("graphs", "on", "off", "start-up line"),
            Setting("prefix_cache", None, "off", "start-up line"),
        ),
        tuple(table),
        cells,
    )


def round_of(
    told: Mapping[str, Any],
    index: int,
    cell: PlannedCell,
    lifetime: int,
    number: int,
    table: dict[Output, int],
    twist: Twist | None,
) -> Round:
    """Give one round: waves one after the other, a request in a wave a microsecond later."""
    size = len(cell.present(number))
    start, first, end = [0] * size, [0] * size, [0] * size
    now = before = 0
    for wave, places in enumerate(cell.submission(number)):
        now = {"start": 0, "first_token": now + 200, "end": before}[cell.waves[wave]]
        for place in places:
            start[place], first[place], end[place] = now, now + 200, now + 1000
            now += 1
            before = max(before, end[place])
        if cell.alone:
            now = before
    answers: list[Output | None] = []
    failures = []
    for place in range(size):
        asked = Asked(index, cell, lifetime, number, place)
        if asked.request.role == "cancelled":
            answers.append(None)
            continue
        got = (twist(asked) if twist else None) or _usual(asked, answers)
        answers.append(got if isinstance(got, Output) else None)
        if isinstance(got, Failure):
            failures.append(replace(got, request=place))
    outputs = [one if one is None else table.setdefault(one, len(table)) for one in answers]
    warm = cell.cache == "warm" and number > 0
    return Round(
        lifetime,
        number,
        tuple(outputs),
        tuple(start),
        tuple(first),
        tuple(end),
        cached=tuple(told["block_size"] if warm else 0 for _ in range(size)),
        prompt_tokens=tuple(len(one.prompt) for one in cell.present(number)),
        peak_running=1 if cell.alone else size,
        polls=9,
        failures=tuple(failures),
    )


def _usual(asked: Asked, answers: Sequence[Output | None]) -> Output:
    request = asked.request
    if request.rescores is None:
        return answer(request.prompt, request)
    rescored = answers[request.rescores]
    prompt = asked.cell.requests[request.rescores].prompt
    if rescored is None or rescored.tokens is None:
        return answer(prompt, request)
    told: tuple[str | None, ...] = (None, *["-1.5"] * (len(prompt) - 1), *(rescored.logprobs or ()))
    return replace(answer((*prompt, *rescored.tokens), request), prompt_logprobs=told)


def prompts(
    record: Seen,
    said: Callable[[PlannedCell, int, int], Output],
    scores: Callable[[Output], str] | None,
) -> Seen:
    """Give a record with the user's own prompts: two items under each condition of the plan.

    Args:
        record: of the rest of the run.
        said: gives the answer to an item, by condition, round and item.
        scores: gives a score by an answer; None without a scorer.
    """
    table = {one: at for at, one in enumerate(record.outputs)}

    def twist(asked: Asked) -> Output | None:
        item = asked.place if asked.place < ITEMS else None
        return None if item is None else said(asked.cell, asked.number, item)

    conditions = []
    for cell in eval_conditions(record.plan, ITEMS):
        if set(cell.needs) - set(record.plan["offers"]):
            conditions.append(CellSeen((), "not_offered"))
            continue
        rounds = []
        for lifetime in range(cell.lifetimes):
            for number in range(cell.per_lifetime):
                one = round_of(record.plan, 0, cell, lifetime, number, table, twist)
                # Longer than a block, so that what the server says of its cache counts.
                counted = (BLOCK + 1,) * ITEMS + (one.prompt_tokens or ())[ITEMS:]
                one = replace(one, prompt_tokens=counted)
                if record.adapter.gauge is None:
                    one = replace(one, peak_running=None, polls=0)
                if scores is not None:
                    answered = [list(table)[at] for at in one.outputs[:ITEMS] if at is not None]
                    one = replace(one, scores=tuple(map(scores, answered)))
                rounds.append(one)
        conditions.append(CellSeen(tuple(rounds)))
    own = PromptsSeen(ITEMS, "0" * 64, None if scores is None else "score", tuple(conditions))
    return replace(record, outputs=tuple(table), prompts=own)


ITEMS = 2
"""Of the user's file."""
BLOCK = 16
