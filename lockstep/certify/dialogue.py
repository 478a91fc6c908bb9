"""A server that is spoken to: an adapter, a client, and what the user states over both."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from lockstep.certify import numbers
from lockstep.certify.adapters.adapter import Adapter, Overrides, ServerError
from lockstep.certify.ask import Answer, Ask
from lockstep.certify.client import Client, StatusError
from lockstep.certify.observation import Failure
from lockstep.certify.witness import Gauge

_UNPRINTABLE = re.compile(r"[^ -~]+")
_DETAIL = 200


@dataclass
class Reply:
    """What became of one request; times are those of the clock that was given.

    Attributes:
        ask: what was asked.
        start: when it was sent; None as long as it was not.
        first: when its first token came; None where none came.
        end: when it ended, whatever the end was.
        answer: None where there is no whole one.
        failure: why there is none, its place to be filled in; None beside an answer, and for a
            request that was cancelled as planned.
        arrivals: when each part of a streamed answer came that brought tokens.
    """

    ask: Ask | None = None
    start: int | None = None
    first: int | None = None
    end: int | None = None
    answer: Answer | None = None
    failure: Failure | None = None
    arrivals: list[int] = field(default_factory=list)


class Dialogue:
    """A server that is spoken to.

    Args:
        client: to the server, open.
        adapter: its kind.
        overrides: what the user states over that.
        timeout: seconds for each request.

    Attributes:
        answered: model that the server says it answered with first; None where it does not say.
    """

    def __init__(
        self, client: Client, adapter: Adapter, overrides: Overrides, timeout: float
    ) -> None:
        self.client = client
        self.adapter = adapter
        self.overrides = overrides
        self.timeout = timeout
        self.answered: str | None = None

    @property
    def gauge_names(self) -> tuple[str, ...]:
        """Names of the gauge of running requests; none where there is no gauge."""
        if self._metrics is None:
            return ()
        return self.overrides.running or self.adapter.running

    @property
    def gauge(self) -> Gauge | None:
        """The gauge of running requests; None where there is none."""
        if self._metrics is None or not self.gauge_names:
            return None
        return Gauge(self.client, self._metrics, self.gauge_names)

    @property
    def _metrics(self) -> str | None:
        if not self.overrides.gauge:
            return None
        return self.overrides.metrics or self.adapter.metrics

    @property
    def salts(self) -> bool:
        """Whether requests may name a salt that parts the cache."""
        return self.adapter.salts and "salt" not in self.overrides.lacks

    async def reset(self) -> None:
        """Empty the server's prefix cache.

        Raises:
            httpx.HTTPError, StatusError: it did not.
        """
        for path in self.overrides.resets or self.adapter.resets:
            await self.client.post(path)

    async def send(
        self,
        ask: Ask,
        clock: Callable[[], int],
        reply: Reply,
        first: Callable[[], None] = lambda: None,
        leave: bool = False,
    ) -> None:
        """Send one request, once, and fill in what becomes of it.

        Args:
            ask: what is asked for.
            clock: gives the time that is noted.
            reply: is filled in; also when this is cancelled, as far as it had come.
            first: is called when the first token comes, and when the end comes without one.
            leave: whether to leave after the first token.
        """
        import httpx

        reply.ask, reply.start = ask, clock()
        try:
            async with asyncio.timeout(self.timeout):
                await self._exchange(ask, clock, reply, first, leave)
        except TimeoutError:
            reply.failure = self._failure("timeout", f"no end within {self.timeout:g} s")
        except StatusError as fault:
            reply.failure = self._failure("http", fault.text, fault.status)
        except (httpx.ConnectError, httpx.UnsupportedProtocol, httpx.ProxyError) as fault:
            reply.failure = self._failure("refused", str(fault) or type(fault).__name__)
        except ServerError as fault:
            reply.failure = self._failure("dropped", fault.text)
        except (httpx.HTTPError, httpx.StreamError, ValueError) as fault:
            reply.failure = self._failure("dropped", f"{type(fault).__name__}: {fault}")
        finally:
            reply.end = clock()
            first()

    async def _exchange(
        self,
        ask: Ask,
        clock: Callable[[], int],
        reply: Reply,
        first: Callable[[], None],
        leave: bool,
    ) -> None:
        path, body = self._call(ask)
        reading = self.adapter.reading(ask)
        cached = None
        async with self.client.events(path, body, ask.stream) as documents:
            async for document in documents:
                if reading.take(document) and ask.stream:
                    reply.arrivals.append(clock())
                    if reply.first is None:
                        reply.first = reply.arrivals[0]
                        first()
                        if leave:
                            return
                if self.overrides.cached is not None:
                    told = numbers.as_integer(numbers.at(document, self.overrides.cached))
                    cached = cached if told is None else told
        answer = reading.answer()
        if self.answered is None:
            self.answered = answer.model
        if answer.model != self.answered:
            raise ServerError(f"answered by another model: {answer.model}")
        reply.answer = answer if self.overrides.cached is None else replace(answer, cached=cached)

    def _call(self, ask: Ask) -> tuple[str, dict[str, Any]]:
        path, body = self.adapter.call(ask)
        for name in self.overrides.omit:
            body.pop(name, None)
        return path, {**body, **self.overrides.body}

    def _failure(self, kind: str, text: str, status: int | None = None) -> Failure:
        told = _UNPRINTABLE.sub(" ", self.client.endpoint.hide(text)).strip()
        return Failure(0, kind, status, told[:_DETAIL])
