"""Reading a server's counters around a sample, and the clocks beside them [PROBE-4]."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import NamedTuple

from lockstep import spec
from lockstep.certify.dialogue import Dialogue
from lockstep.certify.witness import samples
from lockstep.errors import LockstepError
from lockstep.measure.observation import Counter, Window
from lockstep.measure.window import FILE

SETTLE_SECONDS = 5.0
"""For counters to come to rest behind the last answer; then the last reading counts."""
PAUSE_SECONDS = 0.02
"""Between two readings that are to agree."""
LARGEST = (1 << 53) - 1
_TRIES = 3
"""Readings of both clocks, of which the closest together counts: a thread may be put aside."""


class Reading(NamedTuple):
    """All counters at one time, None where one is not there, and both clocks in microseconds."""

    values: Mapping[str, int | None]
    monotonic_us: int
    clock_us: int


class Counters:
    """The counters of one server.

    Args:
        dialogue: with the server.
        metrics: name by question; None where the server has none.
    """

    def __init__(self, dialogue: Dialogue, metrics: Mapping[str, str | None]) -> None:
        self._dialogue = dialogue
        self._metrics = metrics

    async def before(self) -> Reading:
        """Read, once the server runs nothing."""
        await self._idle()
        values = await self._values()
        return Reading(values, *_clocks())

    async def after(self) -> Reading:
        """Read, once the server runs nothing and two readings agree."""
        monotonic, clock = _clocks()
        await self._idle()
        values = await self._values()
        end = time.monotonic() + SETTLE_SECONDS
        while time.monotonic() < end and values:
            await asyncio.sleep(PAUSE_SECONDS)
            again = await self._values()
            if again == values:
                break
            values = again
        return Reading(values, monotonic, clock)

    def window(self, before: Reading, after: Reading) -> Window:
        """Put two readings together."""
        return Window(
            tuple(
                Counter(
                    question,
                    self._metrics.get(question),
                    before.values.get(question),
                    after.values.get(question),
                )
                for question in spec.load(FILE)["questions"]
            ),
            after.monotonic_us - before.monotonic_us,
            max(0, after.clock_us - before.clock_us),
        )

    async def _idle(self) -> None:
        gauge = self._dialogue.gauge
        if gauge is not None:
            await gauge.until_idle()

    async def _values(self) -> dict[str, int | None]:
        """Read what has a metric; None where it is not there or no whole number."""
        wanted = {question: name for question, name in self._metrics.items() if name is not None}
        if not wanted:
            return {}
        text = await metrics_text(self._dialogue)
        return {
            question: None if text is None else counted(text, name)
            for question, name in wanted.items()
        }


async def metrics_text(dialogue: Dialogue) -> str | None:
    """Give the text of a server's metrics; None where it has none, or does not answer."""
    import httpx

    from lockstep.certify.client import StatusError

    path = dialogue.overrides.metrics or dialogue.adapter.metrics
    if path is None:
        return None
    try:
        return await dialogue.client.text(path, polled=True)
    except (httpx.HTTPError, StatusError, ValueError):
        return None


def counted(text: str, name: str) -> int | None:
    """Give the sum of a counter's series; None where there is none, or it is no whole number."""
    values = [one.value for one in samples(text) if one.name == name]
    total = sum(values)
    if not values or total != total // 1 or not 0 <= total <= LARGEST:
        return None
    return int(total)


def declared(adapter: str) -> dict[str, str | None]:
    """Give the metric of an adapter's servers for each question; None where there is none.

    Raises:
        LockstepError: USAGE, no adapter has this name.
    """
    for entry in spec.load(FILE)["adapters"]:
        if entry["name"] == adapter:
            return dict(entry["metrics"])
    raise LockstepError("USAGE", "--adapter", "an adapter", adapter)


def _clocks() -> tuple[int, int]:
    """Give the clock that is never set, and the time of day, read as close together as can be."""
    found = []
    for _ in range(_TRIES):
        begun = time.perf_counter_ns()
        clock = time.time_ns()
        ended = time.perf_counter_ns()
        found.append((ended - begun, (begun + ended) // 2000, clock // 1000))
    _, monotonic, clock = min(found)
    return monotonic, clock
