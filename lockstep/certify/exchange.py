"""One round: requests sent at once, or one after the other, the gauge polled meanwhile."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import NamedTuple

from lockstep.certify.ask import Ask
from lockstep.certify.dialogue import Dialogue, Reply
from lockstep.certify.observation import Failure
from lockstep.certify.witness import Gauge, Peak

Replies = Sequence[Reply]

_LAST_READING_SECONDS = 1.0
"""For the reading of the gauge that a round ends amid."""


class Exchanged(NamedTuple):
    """What became of a round.

    Attributes:
        replies: by place; times in microseconds since the round began.
        peak: the largest reading of the gauge; None without one.
        polls: number of readings.
    """

    replies: tuple[Reply, ...]
    peak: int | None
    polls: int


async def submit(
    dialogue: Dialogue,
    waves: Sequence[str],
    sent: Sequence[Sequence[int]],
    ask: Callable[[int, Replies], Ask | None],
    leaving: frozenset[int] = frozenset(),
) -> Exchanged:
    """Send requests in waves, really at once within each, and wait for every end.

    The server is waited for until it runs nothing else, so that what the gauge shows is this
    round's. Nothing is ever sent twice.

    Args:
        dialogue: with the server.
        waves: for each wave, what it waits for in the one before: `start`, `first_token`, `end`.
        sent: for each wave the places of its requests, in the order in which they are sent.
        ask: gives what is asked at a place when its wave begins, by the replies until then; None
            where nothing can be asked, because what it rescores has no answer.
        leaving: places of requests whose client leaves after the first token.
    """
    gauge = dialogue.gauge
    if gauge is not None:
        await gauge.until_idle()
    replies = tuple(Reply() for places in sent for _ in places)
    began = time.perf_counter_ns()

    def clock() -> int:
        return (time.perf_counter_ns() - began) // 1000

    async def one(place: int, first: Callable[[], None]) -> None:
        reply, wanted = replies[place], ask(place, replies)
        if wanted is None:
            reply.start = reply.end = clock()
            reply.failure = Failure(0, "dropped", None, "what it rescores has no answer")
            first()
            return
        await dialogue.send(wanted, clock, reply, first, place in leaving)

    def begin(begun: asyncio.Event) -> Callable[[], None]:
        def first() -> None:
            begun.set()
            peak.call()

        return first

    widest = max((len(places) for places in sent), default=0)
    async with _followed(gauge, widest) as peak, asyncio.TaskGroup() as group:
        tasks: list[asyncio.Task[None]] = []
        begun = asyncio.Event()
        for waits, places in zip(waves, sent, strict=True):
            if waits == "end" and tasks:
                await asyncio.wait(tasks)
            elif waits == "first_token" and tasks:
                await begun.wait()
            if places:
                begun = asyncio.Event()
                tasks = [group.create_task(one(place, begin(begun))) for place in places]
    placed = tuple(_placed(reply, place) for place, reply in enumerate(replies))
    return Exchanged(placed, peak.value, peak.polls)


@asynccontextmanager
async def _followed(gauge: Gauge | None, widest: int) -> AsyncIterator[Peak]:
    """Poll the gauge while something goes on."""
    peak = Peak(widest)
    if gauge is None:
        yield peak
        return
    follower = asyncio.create_task(peak.follow(gauge))
    try:
        yield peak
        # What was asked while requests ran may be answered when they have ended.
        peak.end()
        await asyncio.wait([follower], timeout=_LAST_READING_SECONDS)
    finally:
        follower.cancel()
        await asyncio.gather(follower, return_exceptions=True)
    if peak.value is None:
        # The round was over before the first reading came.
        await peak.look(gauge)


def _placed(reply: Reply, place: int) -> Reply:
    if reply.failure is None:
        return reply
    return replace(reply, failure=replace(reply.failure, request=place))
