"""What a server's own metrics say while it works: how many requests run at a time."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from lockstep.certify.client import Client

_SAMPLE = re.compile(
    r"(?P<name>[A-Za-z_:][A-Za-z0-9_:]*)\s*(?:\{(?P<labels>.*)\})?\s+(?P<value>[^\s}]+)(?:\s+-?[0-9]+)?\s*"
)
_LABEL = re.compile(r'\s*(?P<name>[A-Za-z_][A-Za-z0-9_]*)\s*=\s*"(?P<value>(?:[^"\\]|\\.)*)"\s*,?')
_ESCAPES = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}
_ESCAPED = re.compile(r'\\\\|\\"|\\n')

INTERVAL_SECONDS = 0.01
"""Between two readings of a gauge; a request of a small model takes some dozen milliseconds."""
KNOWN_INTERVAL_SECONDS = 0.05
"""Likewise, once all requests of a round were seen to run: a reading costs the server time."""
IDLE_SECONDS = 10.0
"""How long a server is waited for until it runs nothing: others may use it, too."""


class Sample(NamedTuple):
    """A sample of a metric: its name, its labels and its value."""

    name: str
    labels: tuple[tuple[str, str], ...]
    value: float


def samples(text: str) -> Iterator[Sample]:
    """Give the samples of a text in Prometheus' form; other lines, and comments, give none."""
    for line in text.splitlines():
        match = None if line.startswith("#") else _SAMPLE.fullmatch(line)
        if match is None:
            continue
        try:
            value = float(match["value"])
        except ValueError:
            continue
        labels = tuple(
            (label["name"], _ESCAPED.sub(lambda found: _ESCAPES[found[0]], label["value"]))
            for label in _LABEL.finditer(match["labels"] or "")
        )
        yield Sample(match["name"], labels, value)


def total(text: str, names: Sequence[str]) -> int | None:
    """Give the sum of all series of the first of these metrics that is there.

    A server may have a series for each of its engines or processes. Where the metric is absent,
    or no number, nothing is known: None, which is not zero.
    """
    found = list(samples(text))
    for name in names:
        values = [sample.value for sample in found if sample.name == name]
        if values:
            summed = sum(values)
            return int(summed) if 0 <= summed < 1 << 16 else None
    return None


class Gauge:
    """The gauge of running requests.

    Args:
        client: to the server.
        path: of the metrics.
        names: of the gauge, the first that is there counts.
    """

    def __init__(self, client: Client, path: str, names: Sequence[str]) -> None:
        self._client = client
        self._path = path
        self._names = tuple(names)

    async def read(self) -> int | None:
        """Give a reading; None where there is none."""
        import httpx

        from lockstep.certify.client import StatusError

        try:
            return total(await self._client.text(self._path, polled=True), self._names)
        except (httpx.HTTPError, StatusError, ValueError):
            return None

    async def until_idle(self) -> bool:
        """Wait until nothing runs, and give whether that was seen in time."""
        loop = asyncio.get_running_loop()
        end = loop.time() + IDLE_SECONDS
        while loop.time() < end:
            if not await self.read():
                return True
            await asyncio.sleep(INTERVAL_SECONDS)
        return False


class Peak:
    """The largest reading while something goes on.

    Args:
        expected: how many requests there are; from then on readings are fewer.

    Attributes:
        value: None as long as nothing was read.
        polls: number of readings.
    """

    def __init__(self, expected: int) -> None:
        self._expected = expected
        self._called = asyncio.Event()
        self._over = False
        self.value: int | None = None
        self.polls = 0

    async def look(self, gauge: Gauge) -> None:
        """Read once."""
        reading = await gauge.read()
        if reading is not None:
            self.value = max(reading, self.value or 0)
            self.polls += 1

    def call(self) -> None:
        """Let the next reading be now: a request has just begun to answer."""
        if not self._is_known:
            self._called.set()

    def end(self) -> None:
        """Begin no further reading."""
        self._over = True
        self._called.set()

    async def follow(self, gauge: Gauge) -> None:
        """Read again and again, and whenever it is called for, until that is to end."""
        while not self._over:
            self._called.clear()
            await self.look(gauge)
            pause = KNOWN_INTERVAL_SECONDS if self._is_known else INTERVAL_SECONDS
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._called.wait()

    @property
    def _is_known(self) -> bool:
        """Whether all requests were seen to run."""
        return self.value is not None and self.value >= self._expected
