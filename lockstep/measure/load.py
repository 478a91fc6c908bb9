"""One sample: the requests of it sent, its window read, and everything kept as it came."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lockstep.certify.ask import Answer, Ask
from lockstep.certify.dialogue import Reply
from lockstep.measure.observation import Body, Request, Window
from lockstep.measure.server import PLACE, Opened
from lockstep.measure.settings import read_back

REQUESTED = {
    "ignore_eos": "on",
    "chat_template": "none",
    "thinking": "none",
    "temperature": "0",
    "top_p": "1",
    "top_k": "0",
    "stream": "on",
}
"""What every timed request asks for, by the names of the data [PROBE-13]: fixed work, greedily."""
_LOOK_SECONDS = 0.001
"""Between two looks whether the request that another one waits for has come so far."""


@dataclass(frozen=True)
class Load:
    """A request to be sent.

    Attributes:
        prompt: token ids, or a text.
        tokens: of the prompt, as planned; None for a text.
        max_new: tokens to answer with.
        behind: parts of the answer at place 0 that are waited for; 0 to be sent at once.
    """

    prompt: tuple[int, ...] | str
    tokens: int | None
    max_new: int
    behind: int = 0


class Bodies:
    """The distinct bodies that a run sent, in the order of first use."""

    def __init__(self) -> None:
        self._found: dict[Body, int] = {}

    def place(self, body: Body) -> int:
        """Give a body's place; it is entered where it is new."""
        return self._found.setdefault(body, len(self._found))

    def all(self) -> tuple[Body, ...]:
        """Give all, by place."""
        return tuple(self._found)


async def warmed_up(opened: Opened, loads: Sequence[Load]) -> None:
    """Send requests that are not timed; what becomes of them is no observation."""
    await _sent(opened, loads, lambda: 0)


async def sampled(
    opened: Opened, loads: Sequence[Load], bodies: Bodies
) -> tuple[tuple[Request, ...], Window, int]:
    """Send requests between two readings of the counters, and give all that was seen.

    Returns:
        the requests, their window, and when it began, in microseconds of the monotonic clock.
    """
    opened.sent.clear()
    before = await opened.counters.before()
    begun = before.monotonic_us
    replies = await _sent(opened, loads, lambda: time.perf_counter_ns() // 1000 - begun)
    after = await opened.counters.after()
    requests = tuple(
        _request(load, reply, bodies.place(read_back(*opened.sent.get(place, ("", b"{}")))))
        for place, (load, reply) in enumerate(zip(loads, replies, strict=True))
    )
    return requests, opened.counters.window(before, after), begun


async def _sent(
    opened: Opened, loads: Sequence[Load], clock: Callable[[], int]
) -> tuple[Reply, ...]:
    replies = tuple(Reply() for _ in loads)

    async def one(place: int, load: Load) -> None:
        PLACE.set(place)
        while len(replies[0].arrivals) < load.behind and replies[0].end is None:
            await asyncio.sleep(_LOOK_SECONDS)
        ask = Ask(prompt=load.prompt, max_new=load.max_new, reuse=False)
        await opened.dialogue.send(ask, clock, replies[place])

    # Each in a task, so that each has a place of its own.
    await asyncio.gather(
        *(asyncio.create_task(one(place, load)) for place, load in enumerate(loads))
    )
    return replies


def _request(load: Load, reply: Reply, body: int) -> Request:
    start = reply.start or 0
    return Request(
        prompt_tokens=load.tokens,
        told_tokens=None if reply.answer is None else reply.answer.prompt_tokens,
        max_new=load.max_new,
        generated=_generated(reply.answer),
        cached=None if reply.answer is None else reply.answer.cached,
        start_us=start,
        first_us=reply.first,
        end_us=start if reply.end is None else reply.end,
        arrivals_us=tuple(reply.arrivals),
        failure=None if reply.failure is None else reply.failure.kind,
        body=body,
    )


def _generated(answer: Answer | None) -> int | None:
    output = None if answer is None else answer.output
    if output is None:
        return None
    tokens = output.token_texts if output.tokens is None else output.tokens
    return None if tokens is None else len(tokens)
