"""What the tests of the server share: servers of the tiny model in threads, and calls to them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import httpx
import pytest

from lockstep.lifecycle import Pool
from lockstep.serve import run
from lockstep.serve.policy import Driving

MODEL = "lockstep-tiny"
SETTINGS = run.Settings(
    folder=None,
    mode="invariant",
    fault=None,
    commit="",
    name=MODEL,
    dtype=None,
    pool=Pool(256, 16),
    driving=Driving(max_batch=64),
    drain_seconds=1,
)


class Server:
    """A server that runs, and a client of it."""

    def __init__(self, url: str, signal: Callable[[int, None], None]) -> None:
        self.url = url
        self.signal = signal
        self.http = httpx.Client(base_url=url, timeout=60)

    def post(self, path: str = "/v1/completions", **fields: Any) -> httpx.Response:
        return self.http.post(path, json={"model": MODEL, **fields})

    def complete(self, prompt: Any, max_tokens: int = 4, **fields: Any) -> dict[str, Any]:
        answer = self.post(prompt=prompt, max_tokens=max_tokens, **fields)
        assert answer.status_code == 200, answer.text
        document: dict[str, Any] = answer.json()
        return document

    def metric(self, name: str) -> float:
        lines = self.http.get("/metrics").text.splitlines()
        return sum(
            float(line.rsplit(" ", 1)[1])
            for line in lines
            if line.startswith((name + " ", name + "{"))
        )


Start = Callable[..., Any]


@contextmanager
def serving(**changes: Any) -> Iterator[Server]:
    """Run a server in a thread until the end of the block."""
    ready = threading.Event()
    bound = run.listen("127.0.0.1", 0)
    server = run.make_server(replace(SETTINGS, **changes), ready.set)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
    thread.start()
    try:
        assert ready.wait(30)
        found = Server(run.url_of(bound), server.handle_exit)
        yield found
        found.http.close()
    finally:
        server.should_exit = True
        thread.join(30)
        assert not thread.is_alive()


@pytest.fixture(scope="session")
def start() -> Start:
    """Start a server with settings of its own."""
    return serving


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A server in mode invariant that tests share; none of them turns its cache off."""
    with serving() as found:
        yield found
