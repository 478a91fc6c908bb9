"""Write a parent of the conformance vectors of kind certification.

Usage: python tools/server_parent.py NAME > spec/cases/documents/NAME.json

NAME is certification, certification-divergent, certification-text or certification-verdicts.

No server was asked: the answers are made up, each a function of its request, but for what a parent
twists; the claim of the kind folds them. The documents are reviewed and committed; they are made
anew where the rules or the data of the kind change.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from engine_parent import chosen, placed
from fault_parent import written

from lockstep import spec
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

if TYPE_CHECKING:
    from lockstep.certify.cells import PlannedCell
    from lockstep.certify.requests import Request

ISSUED_AT = "2026-05-01T00:00:00Z"
PRODUCER = {
    "name": "conformance vectors",
    "version": "1",
    **dict.fromkeys(("python", "machine", "command"), "none"),
}
ITEMS = 2
"""Prompts of the made-up user."""

Twist = Callable[["Asked", Output], "Output | Failure"]
"""What a server says, given what is usual."""
Reading = Callable[["PlannedCell", Round], Round]
"""What the certifier reads of a round in the place of what is usual."""


@dataclass(frozen=True)
class Asked:
    """One request as the made-up server gets it, in a round."""

    cell: PlannedCell
    lifetime: int
    number: int
    place: int

    @property
    def request(self) -> Request:
        """The request."""
        return self.cell.requests[self.place]

    def at(self, case: str, control: str | None, **where: int) -> bool:
        """Whether it is of a case and a control, and where the rest says."""
        mine = (self.cell.case, self.cell.control) == (case, control)
        return mine and all(getattr(self, name) == value for name, value in where.items())


GAUGED = Adapter("lockstep", "lockstep_requests_running", True)


@dataclass(frozen=True)
class Server:
    """A made-up server and how it was spoken to."""

    plan: dict[str, Any]
    twist: Twist
    reading: Reading = lambda _, one: one
    adapter: Adapter = GAUGED
    texts_only: bool = False

    def usual(self, prompt: Sequence[int], request: Request) -> Output:
        """Give the answer that depends on the request alone."""
        key = repr((tuple(prompt), request.seed, request.sampling)).encode()
        digest = hashlib.sha256(key).digest()
        tokens = tuple(digest[: request.max_new])
        text = hashlib.sha256(bytes(tokens)).hexdigest()
        if self.texts_only:
            return Output(text_sha256=text, finish="length")
        numbers = tuple(f"-{at}.{token:03d}" for at, token in enumerate(tokens))
        both = zip(tokens, numbers, strict=True)
        top = tuple((Top(f"id:{token}", number),) for token, number in both)
        return Output(tokens, None, text, "length", numbers, top)

    def answers(self, asked: Sequence[Asked]) -> list[Output | Failure | None]:
        """Give the answers of a round; None for clients that leave."""
        got: list[Output | Failure | None] = []
        for one in asked:
            request = one.request
            usual = self.usual(request.prompt, request)
            if request.rescores is not None:
                before = got[request.rescores]
                if isinstance(before, Output) and before.tokens is not None:
                    prompt = one.cell.requests[request.rescores].prompt
                    usual = self.usual((*prompt, *before.tokens), request)
                    told = (None, *["-1.5"] * (len(prompt) - 1), *(before.logprobs or ()))
                    usual = replace(usual, prompt_logprobs=told)
            leaves = request.role == "cancelled"
            got.append(None if leaves else self.twist(one, usual))
        return got

    def round(
        self, cell: PlannedCell, lifetime: int, number: int, table: dict[Output, int]
    ) -> Round:
        """Give one round: waves one after the other, a request in a wave 1 us later."""
        places = range(len(cell.present(number)))
        start, now, last = [0] * len(places), 0, 0
        for wave, sent in enumerate(cell.submission(number)):
            now = {"start": 0, "first_token": now + 20, "end": last}[cell.waves[wave]]
            for place in sent:
                start[place], now, last = now, now + 1, max(last, now + 90)
        got = self.answers([Asked(cell, lifetime, number, place) for place in places])
        outputs = [
            table.setdefault(one, len(table)) if isinstance(one, Output) else None for one in got
        ]
        warm = cell.cache == "warm" and number > 0
        one = Round(
            lifetime,
            number,
            tuple(outputs),
            tuple(start),
            tuple(at + 20 for at in start),
            tuple(at + 90 for at in start),
            cached=tuple(self.plan["block_size"] if warm else 0 for _ in places),
            prompt_tokens=tuple(len(request.prompt) for request in cell.present(number)),
            peak_running=1 if cell.alone else len(places),
            polls=9,
            failures=tuple(
                replace(one, request=at) for at, one in enumerate(got) if isinstance(one, Failure)
            ),
        )
        if self.adapter.gauge is None:
            one = replace(one, peak_running=None, polls=0)
        return self.reading(cell, one)

    def cell(self, cell: PlannedCell, table: dict[Output, int]) -> CellSeen:
        """Give the rounds of a cell, none where it cannot be sent."""
        if set(cell.needs) - set(self.plan["offers"]):
            return CellSeen((), "not_offered")
        if cell.longest > self.plan["context"]:
            return CellSeen((), "too_long")
        numbers = [
            (lifetime, number)
            for lifetime in range(cell.lifetimes)
            for number in range(cell.per_lifetime)
        ]
        return CellSeen(tuple(self.round(cell, *one, table) for one in numbers))


def plan(**changes: Any) -> dict[str, Any]:
    """Give a small plan: blocks of two tokens, answers of two, two rounds of a cell."""
    defaults = dict(spec.load("certification.json")["defaults"])
    small = {
        "low": 1, "span": 255, "context": 512, "offers": offers("cache_off"), "cases": ["full_hit"],
        "cache": ["warm"], "filler": ["none"], "order": ["fixed"], "fixed_width": 1,
        "varying_widths": [0, 1], "block_size": 2, "chunk": 3, "max_new": 2, "top": 0,
        "repeats": 2, "positive": "absent", "positive_cases": [],
    }  # fmt: skip
    return {**defaults, **small, **changes}


def offers(*without: str) -> list[str]:
    """List the capabilities but for some."""
    return [one for one in spec.load("certification.json")["capabilities"] if one not in without]


def as_usual(_: Asked, usual: Output) -> Output:
    """Give what is usual."""
    return usual


SETTINGS = (
    Setting("graphs", "on", "off", "start-up line"),
    Setting("prefix_cache", None, "off", "start-up line"),
    Setting("seed", "0", None, "nowhere"),
)


def seen(server: Server, subject: Subject, settings: tuple[Setting, ...] = SETTINGS) -> Seen:
    """Give the record of a run."""
    from lockstep.certify.cells import planned

    table: dict[Output, int] = {}
    cells = tuple(server.cell(cell, table) for cell in planned(server.plan))
    certifier = (Named("httpx", "0.28"), Named("python", "3.11"))
    return Seen(server.plan, server.adapter, subject, certifier, settings, tuple(table), cells)


def subject(launched: bool = True, **changes: Mapping[str, str | None]) -> Subject:
    """Give who the server is; by name, what differs from what is usual."""
    fields = {
        "distribution_version": ("1.0+cpu", "1.0+cpu", "metadata"),
        "runtime_version": ("1.0", "1.0", "/version"),
        "startup_version": (None, "v1", "start-up lines"),
        "model": ("tiny", "tiny", "/v1/models"),
    }
    identity = tuple(
        replace(Identity(name, *values), **changes.get(name, {}))  # type: ignore[arg-type]
        for name, values in fields.items()
    )
    launch = Launch("serve", "3.11", (Named("x", "1"),), ("up",)) if launched else None
    return Subject(identity, launch)


def clean() -> Seen:
    """Give a server without differences, seen through a gauge, a round of a lifetime for warming.

    Among its cells are late arrivals, a client that leaves, varying fillers and a cold cache.
    """
    told = plan(
        cases=["full_hit", "late_arrival", "cancel_resubmit"],
        cache=["warm", "cold"],
        filler=["none", "varying"],
        priming=1,
        lifetimes=1,
    )
    return seen(Server(told, as_usual), subject())


def divergent() -> Seen:
    """Give two lifetimes of a server that moves, and a positive control that shows it.

    Sampling is seeded, orders are rotated, the design is factorial. A logarithm differs in
    two_waves with the cache off at a place that is not sent alone, and in mixed_temperature,
    rotated, in the second lifetime; in neighbour_seed a token does in first rounds alone, and the
    neighbours without a seed never answer alike; in the positive control nothing is as it was
    alone.
    """
    told = plan(
        cases=["two_waves", "neighbour_seed", "mixed_temperature"],
        offers=offers(),
        cache=["warm", "off"],
        order=["fixed", "rotated"],
        design="factorial",
        lifetimes=2,
        repeats=3,
        positive="mode_off",
        positive_cases=["mixed_temperature"],
    )

    def twist(asked: Asked, usual: Output) -> Output:
        tokens, numbers = usual.tokens or (), usual.logprobs or ()
        if asked.at("neighbour_seed", None, lifetime=0, number=0, place=1):
            return replace(usual, tokens=(tokens[0], 0), text_sha256="0" * 64)
        if asked.request.varying is not None and asked.number % 3 == 2:
            return replace(usual, logprobs=(numbers[0], f"-1.5{asked.lifetime}"))
        moves = (
            asked.cell.control == "positive"
            or (asked.at("two_waves", None, place=9) and asked.cell.cache == "off")
            or (
                asked.at("mixed_temperature", None, lifetime=1, place=2)
                and asked.cell.order == "rotated"
            )
        )
        return replace(usual, logprobs=(numbers[0], "-1.25")) if moves else usual

    launch = Launch("serve --mode fast")
    return seen(Server(told, twist), replace(subject(), positive=launch))


def text() -> Seen:
    """Give a server that says texts alone, without a gauge, started by others.

    Two of its cases need what is not offered, one is too long. A neighbour asks for other numbers
    of log-probabilities. The user's own prompts are steady, but not the scores of one.
    """
    words = len(spec.load("certification.json")["words"])
    told = plan(
        cases=[
            "prefix_below",
            "width_256",
            "neighbour_logprobs",
            "seeded_sampling",
            "echo_rescore",
        ],
        form="text",
        low=0,
        span=words,
        offers=["stream"],
        filler=["fixed"],
        observable="text",
        context=250,
        block_size=3,
    )
    adapter = Adapter("openai", None, False)

    def reading(_: PlannedCell, one: Round) -> Round:
        return replace(one, cached=None, prompt_tokens=None)

    server = Server(told, as_usual, reading, adapter, texts_only=True)
    unread = dict.fromkeys(("recorded", "observed"))
    names = ("distribution_version", "startup_version", "runtime_version")
    record = seen(server, subject(launched=False, **dict.fromkeys(names, unread)), ())
    return with_prompts(server, record)


def with_prompts(server: Server, record: Seen) -> Seen:
    """Add the user's own prompts, of which the scores of the second move."""
    from lockstep.certify.cells import eval_conditions

    table = {one: at for at, one in enumerate(record.outputs)}

    def said(asked: Asked, usual: Output) -> Output:
        item = asked.place
        if item >= ITEMS:
            return usual
        return server.usual((item,), replace(asked.request, max_new=server.plan["max_new"]))

    asked = replace(server, twist=said)
    conditions = []
    for condition in eval_conditions(server.plan, ITEMS):
        rounds = asked.cell(condition, table).rounds
        scored = [replace(one, scores=("right", str(one.number))) for one in rounds]
        conditions.append(CellSeen(tuple(scored)))
    own = PromptsSeen(ITEMS, "7" * 64, "score --exact", tuple(conditions))
    return replace(record, outputs=tuple(table), prompts=own)


def verdicts() -> Seen:
    """Give a cell of every verdict that the other parents do not have."""
    told = plan(
        cases=[
            "full_hit", "width_256", "late_arrival", "mixed_temperature", "prefix_crossed",
            "neighbour_logprobs", "seeded_sampling", "long_chunked", "echo_rescore",
        ],
    )  # fmt: skip

    def twist(asked: Asked, usual: Output) -> Output | Failure:
        if asked.at("full_hit", None, place=0):
            return replace(usual, tokens=(usual.tokens or ())[:1])
        if asked.at("width_256", None, number=1, place=2):
            return Failure(0, "http", 503, "busy")
        if asked.at("seeded_sampling", None, number=0, place=3):
            return Failure(0, "timeout", None, "no end")
        if asked.cell.case == "neighbour_logprobs" and asked.place == 1:
            return replace(usual, logprobs=None, top=None)
        if asked.at("echo_rescore", None, place=2):
            return replace(usual, prompt_logprobs=(*(usual.prompt_logprobs or ())[:-1], "-2.5e-1"))
        return usual

    def reading(cell: PlannedCell, one: Round) -> Round:
        if (cell.case, cell.control) == ("late_arrival", None) and one.number == 1:
            late = [(at + 200 if place > 2 else at) for place, at in enumerate(one.start_us)]
            first, end = (tuple(at + more for at in late) for more in (20, 90))
            return replace(one, start_us=tuple(late), first_us=first, end_us=end)
        if (cell.case, cell.control) == ("mixed_temperature", "sequential"):
            return replace(one, peak_running=3)
        if (cell.case, cell.control) == ("prefix_crossed", None):
            return replace(one, cached=(0,) * len(one.outputs))
        return one

    record = seen(Server(told, twist, reading), subject(runtime_version={"observed": "1.1"}))
    cells = list(record.cells)
    at = next(i for i, one in enumerate(cells_of(told)) if one.case == "long_chunked")
    cells[at] = CellSeen(cells[at].rounds[:1], "budget")
    return replace(record, cells=tuple(cells))


def cells_of(told: Mapping[str, Any]) -> Sequence[PlannedCell]:
    """Give the cells of a plan."""
    from lockstep.certify.cells import planned

    return tuple(planned(told))


MAKERS = {
    "certification": clean,
    "certification-divergent": divergent,
    "certification-text": text,
    "certification-verdicts": verdicts,
}


def document(name: str) -> dict[str, Any]:
    """Fold, and put placeholders where the vectors' builder fills in digests."""
    from lockstep.claims.certification import predicate

    made = predicate(MAKERS[name](), issued_at=ISSUED_AT, producer=PRODUCER)
    return placed("certification", made, ("spec", "server"), server=made["subject_sha256"])


if __name__ == "__main__":
    sys.stdout.write(written(document(chosen(MAKERS))) + "\n")
