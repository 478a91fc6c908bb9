"""A server from its start to its end: what it is made of, its socket, its signals."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import os
import secrets
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from lockstep import __version__
from lockstep.certificate import lcj
from lockstep.certificate.write import write_file
from lockstep.engine.sampling import LARGEST_SEED
from lockstep.errors import LockstepError
from lockstep.serve.policy import Driving

if TYPE_CHECKING:
    import uvicorn

    from lockstep.lifecycle import Pool

BACKLOG = 2048
"""Connections that may wait to be taken."""

SERVER = "server.json"
"""What served, beside its recorded executions: mode and fault among it [SERVE-6]."""

LIBRARIES = ("starlette", "uvicorn", "prometheus_client")


@dataclass(frozen=True)
class Settings:
    """How to serve.

    Attributes:
        folder: the model's; None for a tiny one, made here.
        mode: a name of `identity.MODES`.
        fault: the operator that this process was mutated by before the engine was imported.
        commit: the checkout's.
        name: of the model, for calls.
        dtype: compute dtype, None for the backend's own.
        pool: blocks and their size, of each execution.
        driving: how executions are driven.
        max_waiting: requests that may wait outside of an execution.
        compatible: an engine whose metrics' names are given besides.
        key: that calls must carry.
        record: the folder for executions.
        json_log: whether the log's lines are JSON.
        drain_seconds: how long running requests may go on after a signal to end.
        default_seed: of calls that have none; None draws one for each.
    """

    folder: Path | None
    mode: str
    fault: str | None
    commit: str
    name: str
    dtype: str | None
    pool: Pool
    driving: Driving = field(default_factory=Driving)
    max_waiting: int = 4096
    compatible: str | None = None
    key: str | None = None
    record: Path | None = None
    json_log: bool = False
    drain_seconds: int = 30
    default_seed: int | None = None


def require_libraries() -> None:
    """Refuse to go on without the libraries of the extra `serve`.

    Raises:
        LockstepError: LIBRARY_MISSING.
    """
    import importlib.util

    for name in LIBRARIES:
        if importlib.util.find_spec(name) is None:
            hint = "Install the extra 'serve'."
            raise LockstepError("LIBRARY_MISSING", "lockstep serve", name, "no such library", hint)


def listen(host: str, port: int) -> socket.socket:
    """Give a socket that is bound; port 0 takes one that is free.

    Raises:
        LockstepError: ADDRESS_UNAVAILABLE.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends small parts at once (TCP_NODELAY) only where a socket names its protocol; else
    # each answer waits some 40 ms for an acknowledgement.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
        # Who connects from here on waits until the engine is ready.
        bound.listen(BACKLOG)
    except OSError as fault:
        bound.close()
        told = f"{host}:{port}, {fault.strerror or fault}"
        raise LockstepError("ADDRESS_UNAVAILABLE", "--port", "an address to listen at", told) from (
            None
        )
    return bound


def url_of(bound: socket.socket) -> str:
    """Give the URL at which a bound socket is reached."""
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def is_loopback(bound: socket.socket) -> bool:
    """Whether a bound socket is reached from this machine alone."""
    return ipaddress.ip_address(bound.getsockname()[0]).is_loopback


def make_server(settings: Settings, ready: Callable[[], None]) -> uvicorn.Server:
    """Make a server over an engine, which starts and ends with it.

    Args:
        settings: how to serve.
        ready: called once requests are taken.

    Raises:
        LockstepError: the model cannot be opened, or memory does not hold the pool.
    """
    import uvicorn
    from starlette.applications import Starlette

    from lockstep.engine.opening import open_model
    from lockstep.engine.tiny import TinyModel
    from lockstep.serve.application import Serving, application
    from lockstep.serve.drain import DrainingServer
    from lockstep.serve.engine import Engine
    from lockstep.serve.exchange import Exchange
    from lockstep.serve.identity import MODES, Identity
    from lockstep.serve.metrics import Metrics
    from lockstep.serve.text import open_texts

    opened = open_model(settings.folder or TinyModel(), MODES[settings.mode], settings.dtype)
    # A pool that memory cannot hold is refused now, and not with the first request.
    opened.model.new_caches(settings.pool.blocks, settings.pool.block_size)
    texts = open_texts(settings.folder, opened.model.config.vocab_size)
    identity = Identity(settings.name, settings.mode, settings.fault, settings.commit)
    version = identity.version(opened, settings.pool, settings.driving, texts)
    log = logger(settings.json_log)
    if settings.record is not None:
        settings.record.mkdir(parents=True, exist_ok=True)
        write_file(settings.record / SERVER, lcj.encode(version))

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        exchange = Exchange(asyncio.get_running_loop())
        engine = Engine(
            opened.model,
            settings.pool,
            settings.driving,
            settings.max_waiting,
            exchange.deliver,
            log,
            settings.record,
        )
        metrics = Metrics(
            engine.figures, settings.pool.blocks, settings.compatible, identity.labels()
        )
        serving = Serving(
            engine,
            exchange,
            texts,
            identity,
            version,
            metrics,
            settings.key,
            log,
            int(time.time()),
            seeds(settings.default_seed),
        )
        app.mount("/", application(serving))
        engine.start()
        server.engine = engine
        fault = settings.fault or "none"
        log("started", f"lockstep {__version__}, mode {settings.mode}, fault {fault}")
        ready()
        try:
            yield
        finally:
            await asyncio.to_thread(engine.stop)

    config = uvicorn.Config(
        Starlette(lifespan=lifespan), log_config=None, access_log=False, lifespan="on"
    )
    server = DrainingServer(config, settings.drain_seconds)
    return server


def serve(settings: Settings, bound: socket.socket) -> None:
    """Serve until a signal to end; the URL is told on standard output once requests are taken.

    SIGTERM and SIGINT let running requests go on for `drain_seconds` and take no new ones; what
    runs then is told SERVER_STOPPING. A second SIGINT ends at once.
    """
    with bound:
        server = make_server(
            settings, lambda: print(f"lockstep: serving at {url_of(bound)}", flush=True)
        )
        # uvicorn raises the signal again when it has ended; by then there is nothing left to do.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: None)
        server.run(sockets=[bound])


def seeds(default: int | None) -> Callable[[], int]:
    """Give what gives a seed to a call that has none [SERVE-3]."""
    if default is None:
        return lambda: secrets.randbelow(LARGEST_SEED + 1)
    return lambda: default


def logger(as_json: bool) -> Callable[[str, str], None]:
    """Give what writes a line to standard error for an event; no prompt and no key is in any."""

    def log(event: str, text: str) -> None:
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        line = json.dumps({"time": now, "event": event, "text": text})
        print(line if as_json else f"{now} {event} {text}", file=sys.stderr, flush=True)

    return log


def key_from(variable: str | None) -> str | None:
    """Give the key that an environment variable holds.

    Raises:
        LockstepError: USAGE, it is not set, or empty.
    """
    if variable is None:
        return None
    key = os.environ.get(variable, "")
    if not key:
        raise LockstepError("USAGE", "--api-key-env", f"a key in the variable {variable}", "none")
    return key
