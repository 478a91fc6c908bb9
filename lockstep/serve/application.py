"""The paths of the server.

Starlette rather than FastAPI: bodies are read by rules of their own, with fractions kept as the
decimals that they are, which a layer that validates and converts would only stand in front of.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from lockstep.errors import LockstepError
from lockstep.limits import SERVED_BODY_BYTES
from lockstep.serve import documents, refusal
from lockstep.serve.body import parse_body
from lockstep.serve.call import Call, read_call
from lockstep.serve.choice import Choice
from lockstep.serve.engine import REPORT, Engine, Log
from lockstep.serve.exchange import Arrived, EngineFault, Exchange, pieces
from lockstep.serve.identity import Identity
from lockstep.serve.metrics import CONTENT_TYPE, Metrics
from lockstep.serve.text import Texts

OPEN_PATHS = ("/health",)
"""Paths that need no key."""


@dataclass(frozen=True)
class Serving:
    """What the paths work on.

    Attributes:
        engine: what executes.
        exchange: between its thread and this loop.
        texts: the tokenizer.
        identity: what serves.
        version: what /version tells.
        metrics: what /metrics tells.
        key: that calls must carry, None for none.
        log: takes a line for each call.
        started: Unix time in seconds.
        draw: gives a seed to a call that has none.
    """

    engine: Engine
    exchange: Exchange
    texts: Texts
    identity: Identity
    version: dict[str, Any]
    metrics: Metrics
    key: str | None
    log: Log
    started: int
    draw: Callable[[], int]


def application(serving: Serving) -> Starlette:
    """Build the application over an engine that was started."""
    paths = Paths(serving)
    guarded = paths.guarded
    routes = [
        Route("/v1/completions", guarded(paths.completions), methods=["POST"]),
        Route("/v1/chat/completions", guarded(paths.chat_completions), methods=["POST"]),
        Route("/v1/models", guarded(paths.models)),
        Route("/v1/models/{name:path}", guarded(paths.model)),
        Route("/health", guarded(paths.health)),
        Route("/version", guarded(paths.version)),
        Route("/metrics", guarded(paths.metrics)),
        Route("/reset_prefix_cache", guarded(paths.reset_prefix_cache), methods=["POST"]),
    ]
    return Starlette(routes=routes, exception_handlers={HTTPException: _unknown})


Handler = Callable[[Request], Awaitable[Response]]


class Paths:
    """The handlers of the paths."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving

    def guarded(self, handler: Handler) -> Handler:
        """Ask for the key, and tell refusals in OpenAI's form."""

        async def answer(request: Request) -> Response:
            try:
                self._require_key(request)
                return await handler(request)
            except EngineFault as failed:
                return _refused(failed.fault, refusal.engine_status(failed.fault))
            except LockstepError as fault:
                return _refused(fault, refusal.status_of(fault))
            except ClientDisconnect:
                # Nobody reads this.
                return Response(status_code=499)
            except Exception as fault:
                told = f"{type(fault).__name__}: {fault}"
                self._serving.log("call_failed", told)
                internal = LockstepError("INTERNAL", "", "an answer", told[:200], REPORT)
                return _refused(internal, 500)

        return answer

    async def completions(self, request: Request) -> Response:
        """POST /v1/completions."""
        return await self._call(request, False)

    async def chat_completions(self, request: Request) -> Response:
        """POST /v1/chat/completions."""
        return await self._call(request, True)

    async def models(self, request: Request) -> Response:
        """GET /v1/models."""
        return JSONResponse({"object": "list", "data": [self._model()]})

    async def model(self, request: Request) -> Response:
        """GET /v1/models/NAME."""
        name = self._serving.identity.name
        if request.path_params["name"] != name:
            raise LockstepError("MODEL_UNKNOWN", "/model", name, request.path_params["name"])
        return JSONResponse(self._model())

    async def health(self, request: Request) -> Response:
        """GET /health: 200 while requests are executed."""
        if not self._serving.engine.alive:
            raise LockstepError("SERVER_STOPPING", "", "an engine that runs")
        return JSONResponse({"status": "ok"})

    async def version(self, request: Request) -> Response:
        """GET /version."""
        return JSONResponse(self._serving.version)

    async def metrics(self, request: Request) -> Response:
        """GET /metrics."""
        return Response(self._serving.metrics.text(), media_type=CONTENT_TYPE)

    async def reset_prefix_cache(self, request: Request) -> Response:
        """POST /reset_prefix_cache: answers once the running requests have ended."""
        before = await asyncio.wrap_future(self._serving.engine.reset())
        return JSONResponse({"reset": True, "executions": before})

    def _require_key(self, request: Request) -> None:
        key = self._serving.key
        if key is None or request.url.path in OPEN_PATHS:
            return
        given = request.headers.get("authorization", "")
        if not hmac.compare_digest(given.encode("utf-8"), f"Bearer {key}".encode()):
            raise LockstepError("KEY_REFUSED", "", "the header Authorization: Bearer KEY")

    def _model(self) -> dict[str, Any]:
        serving = self._serving
        return {
            "id": serving.identity.name,
            "object": "model",
            "created": serving.started,
            "owned_by": "lockstep",
            "max_model_len": _longest(serving.engine),
            "lockstep": serving.identity.server(),
        }

    async def _call(self, request: Request, is_chat: bool) -> Response:
        serving = self._serving
        members = parse_body(await _body(request))
        name, longest = serving.identity.name, _longest(serving.engine)
        call = read_call(members, is_chat, serving.texts, name, longest, serving.draw)
        choices, arrived = serving.exchange.choices(call, serving.texts)
        for choice in choices:
            serving.engine.check(choice.ticket)
        serving.engine.submit([choice.ticket for choice in choices])
        kind = "chatcmpl" if is_chat else "cmpl"
        head = documents.Head(
            f"{kind}-{secrets.token_hex(12)}",
            int(time.time()),
            serving.identity.name,
            serving.identity.mark,
            serving.identity.server(),
        )
        if call.stream:
            stream = self._stream(head, call, choices, arrived)
            return StreamingResponse(stream, media_type="text/event-stream")
        answering = asyncio.ensure_future(self._whole(head, call, choices, arrived))
        return await _unless_gone(request, answering)

    async def _whole(
        self,
        head: documents.Head,
        call: Call,
        choices: list[Choice],
        arrived: asyncio.Queue[Arrived],
    ) -> Response:
        async with aclosing(pieces(self._serving.engine, choices, arrived)) as coming:
            async for _ in coming:
                pass
        self._serving.log("answered", head.id)
        return JSONResponse(documents.answer(head, call, choices))

    async def _stream(
        self,
        head: documents.Head,
        call: Call,
        choices: list[Choice],
        arrived: asyncio.Queue[Arrived],
    ) -> AsyncIterator[bytes]:
        """Give server-sent events; a stream that failed ends by its error, without [DONE]."""
        begun: set[int] = set()
        try:
            async with aclosing(pieces(self._serving.engine, choices, arrived)) as coming:
                async for choice, piece in coming:
                    yield _event(documents.piece(head, choice, piece, choice.index not in begun))
                    begun.add(choice.index)
        except EngineFault as failed:
            status = refusal.engine_status(failed.fault)
            yield _event(refusal.document(failed.fault, status))
            return
        if call.usage:
            yield _event(documents.usage_piece(head, call, choices))
        yield b"data: [DONE]\n\n"
        self._serving.log("answered", head.id)


def _longest(engine: Engine) -> int:
    """Give the tokens that a request may have, prompt and output together."""
    pool = engine.pool
    return min(engine.model.config.max_position_embeddings, pool.blocks * pool.block_size)


async def _body(request: Request) -> bytes:
    """Read a body within its limit.

    Raises:
        LockstepError: LIMIT_SIZE.
    """
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > SERVED_BODY_BYTES:
            raise LockstepError("LIMIT_SIZE", "", f"at most {SERVED_BODY_BYTES} bytes")
        parts.append(part)
    return b"".join(parts)


async def _unless_gone(request: Request, answering: asyncio.Future[Response]) -> Response:
    """Wait for an answer as long as somebody waits for it.

    Raises:
        ClientDisconnect: the client has gone; the answer's task was cancelled.
    """
    gone = asyncio.ensure_future(_until_gone(request))
    try:
        both: set[asyncio.Future[Any]] = {answering, gone}
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if not answering.done():
            raise ClientDisconnect
        return answering.result()
    finally:
        for task in (answering, gone):
            task.cancel()
        await asyncio.gather(answering, gone, return_exceptions=True)


async def _until_gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _event(document: dict[str, Any]) -> bytes:
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return f"data: {text}\n\n".encode()


def _refused(fault: LockstepError, status: int) -> JSONResponse:
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    return JSONResponse(refusal.document(fault, status), status, headers)


async def _unknown(request: Request, fault: Exception) -> Response:
    """Tell of a path or method that there is not."""
    status = fault.status_code if isinstance(fault, HTTPException) else 404
    told = f"{request.method} {request.url.path}"[:120]
    known = LockstepError("ROUTE_UNKNOWN", "", "a path of this server", told)
    return JSONResponse(refusal.document(known, status), status)
