"""Reduce a server's divergence to the fewest requests and tokens that still show it.

The workload is a probe and its neighbours, sent at once; it shows the divergence where an answer to
the probe differs from those that it gets alone. What a check cannot reproduce in its rounds counts
as not shown, so the result is smallest at this many rounds, no more.
"""

from __future__ import annotations

import argparse
import json
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from lockstep.certify.adapters.adapter import Overrides
from lockstep.certify.adapters.catalogue import ADAPTERS
from lockstep.certify.ask import Ask
from lockstep.certify.client import Client, Endpoint
from lockstep.certify.config import Command
from lockstep.certify.dialogue import Dialogue
from lockstep.certify.exchange import submit
from lockstep.certify.launch import launched
from lockstep.certify.observation import Output
from lockstep.certify.reproducer import script
from lockstep.certify.signals import run_until_signal

ROUNDS = 12
"""Submissions of a workload until it counts as not shown."""
TURNS = 100
"""Submissions that a script makes at most; it ends with the first difference."""
ALONE = 4
"""Answers that the probe gets alone, which must agree."""


@dataclass(frozen=True)
class Workload:
    """A probe and what is sent beside it.

    Attributes:
        probe: prompt, token ids.
        neighbours: prompts, token ids.
        max_new: tokens that each asks for.
        top: likeliest tokens that each asks for.
    """

    probe: tuple[int, ...]
    neighbours: tuple[tuple[int, ...], ...]
    max_new: int
    top: int = 0

    def smaller(self) -> Iterator[Workload]:
        """Give what is smaller by one step, large steps first."""
        half = len(self.neighbours) // 2
        if half > 1:
            yield replace(self, neighbours=self.neighbours[:half])
        for at in range(len(self.neighbours)) if len(self.neighbours) > 1 else ():
            yield replace(self, neighbours=self.neighbours[:at] + self.neighbours[at + 1 :])
        for at, prompt in enumerate(self.neighbours):
            for count in shorter(len(prompt)):
                cut = (*self.neighbours[:at], prompt[:count], *self.neighbours[at + 1 :])
                yield replace(self, neighbours=cut)
        for count in shorter(len(self.probe)):
            yield replace(self, probe=self.probe[:count])
        for count in shorter(self.max_new):
            yield replace(self, max_new=count)


def shorter(count: int) -> list[int]:
    """Give smaller counts: one, a half, three quarters; and one less where that is a real step.

    What shows in some rounds alone would otherwise be cut by one token for hours.
    """
    steps = (1, count // 2, count * 3 // 4, *((count - 1,) if count <= 4 else ()))
    return sorted({one for one in steps if 1 <= one < count})


async def difference(dialogue: Dialogue, work: Workload, rounds: int) -> str | None:
    """Say how an answer beside neighbours differs from those alone; None where none does."""
    alone = [await _answers(dialogue, work, beside=False) for _ in range(ALONE)]
    if len(set(alone)) > 1:
        return "the probe alone gets several answers"
    for number in range(rounds):
        found = await _answers(dialogue, work, beside=True)
        if found != alone[0]:
            return f"round {number}: {_told(alone[0], found)}"
    return None


async def _answers(dialogue: Dialogue, work: Workload, beside: bool) -> Output:
    prompts = [work.probe, *(work.neighbours if beside else ())]
    # A cache that holds the prompt from the round before would be another condition.
    salt = secrets.token_hex(8) if dialogue.salts else None
    asks = [replace(_ask(work, prompt), salt=salt) for prompt in prompts]
    seen = await submit(dialogue, ("start",), (tuple(range(len(asks))),), lambda at, _: asks[at])
    reply = seen.replies[0]
    if reply.answer is None:
        raise SystemExit(f"the server failed: {reply.failure}")
    return reply.answer.output


def _ask(work: Workload, prompt: tuple[int, ...]) -> Ask:
    return Ask(prompt=prompt, max_new=work.max_new, top=work.top, reuse=False)


def _told(a: Output, b: Output) -> str:
    if a.tokens != b.tokens:
        pairs = zip(a.tokens or (), b.tokens or (), strict=False)
        at = next((at for at, pair in enumerate(pairs) if pair[0] != pair[1]), None)
        return f"token at {at}"
    for at, (one, other) in enumerate(zip(a.logprobs or (), b.logprobs or (), strict=False)):
        if one != other:
            return f"log-probability at {at}: {one} alone, {other} beside"
    return "likeliest tokens"


async def reduce(
    dialogue: Dialogue, work: Workload, told: str, tell: Callable[[str], None]
) -> tuple[Workload, str, list[dict[str, Any]]]:
    """Give the smallest workload, how it differs, and the single steps that do not.

    Args:
        dialogue: with the server.
        work: that shows a difference.
        told: how it differs.
        tell: is told of each smaller one that differs.
    """
    while True:
        tried: list[dict[str, Any]] = []
        for smaller in work.smaller():
            found = await difference(dialogue, smaller, ROUNDS)
            if found is not None:
                work, told = smaller, found
                tell(f"{_size(work)}: {told}")
                break
            tried.append({**asdict(smaller), "rounds": ROUNDS})
        else:
            return work, told, tried


def _size(work: Workload) -> str:
    lengths = [len(one) for one in work.neighbours]
    return f"probe of {len(work.probe)}, beside {lengths}, {work.max_new} new"


def reproducer(adapter: Any, work: Workload, url: str) -> str:
    """Give a script that shows it, and needs only the server and httpx."""

    def cell(name: str, prompts: list[tuple[int, ...]]) -> dict[str, Any]:
        calls = [adapter.call(_ask(work, prompt)) for prompt in prompts]
        sent = {
            "waves": [list(range(len(calls)))],
            "bodies": [{"path": path, "json": body} for path, body in calls],
            "rescores": [None] * len(calls),
            "compared": [at == 0 for at in range(len(calls))],
            "leaves": [False] * len(calls),
        }
        salts = {"reset": False, "salt": adapter.salts}
        return {"name": name, "starts": ["start"], **salts, "rounds": [sent]}

    about = (
        f"A request gets another answer beside {len(work.neighbours)} other(s) than alone.\n\n"
        "Needs Python 3.11, httpx and the server. Usage: python THIS [URL]\n"
        "Exit status: 1, two answers to one request differ; 0, none did; 2, the server failed."
    )
    cells = [cell("alone", [work.probe]), cell("beside", [work.probe, *work.neighbours])]
    told = {
        "about": about,
        "url": url,
        "key": None,
        "request": 0,
        "scope": "alone",
        "resets": [],
        "turns": TURNS,
        "cells": cells,
    }
    return script(told)


async def main() -> None:
    """Start the server, reduce, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("adapter", choices=sorted(ADAPTERS))
    parser.add_argument("launch")
    parser.add_argument("--model", required=True)
    parser.add_argument("--probe", type=int, default=256, help="tokens of its prompt")
    parser.add_argument("--beside", default="255,257" + 13 * ",12", help="of the neighbours'")
    parser.add_argument("--max-new", type=int, default=16)
    parser.add_argument("--first", type=int, default=0, help="the first prompts to begin with")
    parser.add_argument("--tries", type=int, default=8, help="how many to begin with")
    parser.add_argument("--output", type=Path, required=True, help="without its ending")
    asked = parser.parse_args()
    adapter = ADAPTERS[asked.adapter](asked.model)
    lengths = [int(one) for one in asked.beside.split(",")]

    def begun_with(seed: int) -> Workload:
        first = 100 * seed
        prompts = (_prompt(first + at, count) for at, count in enumerate(lengths, 1))
        return Workload(_prompt(first, asked.probe), tuple(prompts), asked.max_new)

    begun = time.monotonic()

    def tell(text: str) -> None:
        print(f"{time.monotonic() - begun:.0f} s  {text}", flush=True)

    command = Command(asked.launch, ready_seconds=900)
    async with launched(command, None, tell) as started, Client(Endpoint(started.url)) as client:
        dialogue = Dialogue(client, adapter, Overrides(), 300)
        shown = None
        for seed in range(asked.first, asked.first + asked.tries):
            shown = await difference(dialogue, begun_with(seed), ROUNDS)
            tell(f"prompts {seed}: {shown or 'no difference'}")
            if shown is not None:
                break
        if shown is None:
            raise SystemExit("no workload shows a difference")
        work, told, tried = await reduce(dialogue, begun_with(seed), shown, tell)
        confirmed = [await difference(dialogue, work, 1) for _ in range(20)]
    found = {
        "workload": asdict(work),
        "difference": told,
        "rounds_differing": sum(one is not None for one in confirmed),
        "rounds": len(confirmed),
        "smaller_not_differing": tried,
    }
    text = json.dumps(found, indent=1, sort_keys=True) + "\n"
    asked.output.with_suffix(".json").write_text(text, encoding="utf-8")
    source = reproducer(adapter, work, "http://127.0.0.1:8000")
    asked.output.with_suffix(".py").write_text(source, encoding="utf-8")


def _prompt(number: int, count: int) -> tuple[int, ...]:
    """Give token ids that look like no others' and need no source."""
    return tuple(10 + (number * 89 + at * 37 + at * at * 11) % 246 for at in range(count))


if __name__ == "__main__":
    try:
        sys.exit(run_until_signal(main()))
    except KeyboardInterrupt:
        sys.exit(130)
