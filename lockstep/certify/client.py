"""HTTP to a server: no retry, no proxy, no cookie, no connection that is used again.

A retry would change the batch; a connection kept alive may be closed by the server at the moment
when it is used, which would look like an answer that broke off.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lockstep.certify import numbers
from lockstep.errors import LockstepError
from lockstep.limits import CERTIFIED_ANSWER_BYTES, CERTIFIED_LINE_BYTES

if TYPE_CHECKING:
    import httpx

_ASIDE_SECONDS = 30.0
"""For calls that no round waits for: what the server is, its metrics, a reset."""


class StatusError(Exception):
    """The server answered by a status that is no 2xx.

    Attributes:
        status: of HTTP.
        text: the beginning of what it said.
    """

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"HTTP {status}")
        self.status = status
        self.text = text


@dataclass(frozen=True)
class Endpoint:
    """Where a server is, and how it is spoken to.

    Attributes:
        url: without a slash at its end and without the `/v1` of OpenAI's.
        key: for `Authorization: Bearer`; None for none. It is in no text that anyone gets.
        headers: sent with every call besides.
        ca: a file of certificate authorities; None for the system's.
    """

    url: str
    key: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    ca: Path | None = None

    def hide(self, text: str) -> str:
        """Give a text without the key and without the values of headers."""
        for secret in (self.key, *self.headers.values()):
            if secret:
                text = text.replace(secret, "[hidden]")
        return text


class Client:
    """Calls to one server; used as an asynchronous context.

    Args:
        endpoint: where it is.
        sent: is told the path and the bytes of each request's body that is answered, as they went
            out, before its answer is read.
    """

    def __init__(
        self, endpoint: Endpoint, sent: Callable[[str, bytes], None] = lambda path, body: None
    ) -> None:
        self.endpoint = endpoint
        self._sent = sent
        self._http = _http(endpoint, keep=0)
        # Polling is a call every few milliseconds, one after the other.
        self._polls = _http(endpoint, keep=1)

    async def __aenter__(self) -> Client:
        """Give itself."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close all connections."""
        await self._http.aclose()
        await self._polls.aclose()

    async def text(self, path: str, polled: bool = False) -> str:
        """GET a path.

        Raises:
            httpx.HTTPError, StatusError, ValueError.
        """
        client = self._polls if polled else self._http
        answer = await client.get(path, timeout=_ASIDE_SECONDS)
        _require_success(answer.status_code, answer.text)
        return answer.text

    async def document(self, path: str) -> Any:
        """GET a path that gives JSON, numbers as texts.

        Raises:
            httpx.HTTPError, StatusError, ValueError.
        """
        return numbers.parse(await self.text(path))

    async def post(self, path: str, body: Mapping[str, Any] | None = None) -> str:
        """POST aside of any round, and give the answer's text.

        Raises:
            httpx.HTTPError, StatusError.
        """
        answer = await self._http.post(path, json=body, timeout=_ASIDE_SECONDS)
        _require_success(answer.status_code, answer.text)
        return answer.text

    @asynccontextmanager
    async def events(
        self, path: str, body: Mapping[str, Any], stream: bool
    ) -> AsyncIterator[AsyncIterator[Any]]:
        """POST, and give the documents of the answer: one by one where it is streamed.

        Leaving the context closes the connection, whatever is still to come. There is no time
        limit here: the caller has one for the whole request.

        Raises:
            httpx.HTTPError, StatusError; ValueError: what came is no such stream.
        """
        async with self._http.stream("POST", path, json=body, timeout=None) as answer:
            self._sent(answer.request.url.path, answer.request.content)
            if not answer.is_success:
                _require_success(
                    answer.status_code, (await answer.aread()).decode("utf-8", "replace")
                )
            is_events = "text/event-stream" in answer.headers.get("content-type", "")
            yield _events(answer) if stream and is_events else _whole(answer)


async def _whole(answer: httpx.Response) -> AsyncIterator[Any]:
    data = bytearray()
    async for part in answer.aiter_bytes():
        data += part
        if len(data) > CERTIFIED_ANSWER_BYTES:
            raise ValueError(f"an answer of more than {CERTIFIED_ANSWER_BYTES} bytes")
    yield numbers.parse(bytes(data))


async def _events(answer: httpx.Response) -> AsyncIterator[Any]:
    """Give the documents of server-sent events up to `[DONE]` or the stream's end.

    Comments, which servers send to keep a connection open, and fields other than `data` are passed
    over; the data of an event may stand on several lines.
    """
    data: list[str] = []
    async for line in _lines(answer):
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            text, data = "\n".join(data), []
            if text.strip() == "[DONE]":
                return
            yield numbers.parse(text)
    if data and data != ["[DONE]"]:
        yield numbers.parse("\n".join(data))


async def _lines(answer: httpx.Response) -> AsyncIterator[str]:
    """Give lines as server-sent events end them; other separators of Unicode end none."""
    rest, size = b"", 0
    async for part in answer.aiter_bytes():
        size += len(part)
        *lines, rest = (rest + part).split(b"\n")
        if size > CERTIFIED_ANSWER_BYTES or len(rest) > CERTIFIED_LINE_BYTES:
            raise ValueError(f"a stream of more than {CERTIFIED_ANSWER_BYTES} bytes")
        for line in lines:
            yield line.removesuffix(b"\r").decode("utf-8")
    if rest:
        yield rest.decode("utf-8")


def _http(endpoint: Endpoint, keep: int) -> httpx.AsyncClient:
    import httpx

    headers = dict(endpoint.headers)
    if endpoint.key is not None:
        headers["Authorization"] = f"Bearer {endpoint.key}"
    verify: ssl.SSLContext | bool = True
    if endpoint.ca is not None:
        try:
            verify = ssl.create_default_context(cafile=endpoint.ca)
        except OSError as fault:
            told = fault.strerror or "no certificates"
            raise LockstepError("FILE_UNREADABLE", str(endpoint.ca), "certificates", told) from None
    return httpx.AsyncClient(
        base_url=endpoint.url,
        headers=headers,
        trust_env=False,
        follow_redirects=False,
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=keep),
        transport=httpx.AsyncHTTPTransport(
            verify=verify,
            retries=0,
            trust_env=False,
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=keep),
        ),
    )


def _require_success(status: int, text: str) -> None:
    if not 200 <= status < 300:
        raise StatusError(status, text[:2000])
