"""Servers that are measured: started for it or there already, known once and then the same."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from lockstep.certify import subject
from lockstep.certify.adapters.adapter import Adapter, Description, Overrides, Resolved
from lockstep.certify.ask import member
from lockstep.certify.client import Client, Endpoint
from lockstep.certify.config import Command, Config
from lockstep.certify.dialogue import Dialogue
from lockstep.certify.hosts import require_own
from lockstep.certify.launch import Started, launched, read_interpreter
from lockstep.certify.observation import Launch
from lockstep.certify.probe import Found, choose_adapter, probe
from lockstep.errors import LockstepError
from lockstep.measure.counters import Counters, declared, metrics_text
from lockstep.measure.kv_pool import printed
from lockstep.measure.observation import Arm
from lockstep.measure.pins import pins, read_build, readings

SECONDS = 600.0
"""For each request: a long prefill on a slow machine takes minutes."""
PLACE: ContextVar[int] = ContextVar("place")
"""Place of the request that the running task sends."""

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Wanted:
    """A server to measure.

    Attributes:
        name: of the arm.
        role: of `roles` of throughput.json.
        launch: command; None for an endpoint.
        endpoint: URL; None where the command says `{port}`.
        controlled: whether the user states that the endpoint is theirs.
        adapter: name; None to find out.
        model: None for the only one that is served.
        recorded: constants of its identity pins.
        requested: settings that are asked for, by the names of the data.
        overrides: over what the adapter knows.
        key: for calls.
        form: of prompts; None for token ids where it takes them.
    """

    name: str
    role: str
    launch: Command | None = None
    endpoint: str | None = None
    controlled: bool = False
    adapter: str | None = None
    model: str | None = None
    recorded: Mapping[str, str] = field(default_factory=dict)
    requested: Mapping[str, str] = field(default_factory=dict)
    overrides: Overrides = field(default_factory=Overrides)
    key: str | None = field(default=None, repr=False)
    form: str | None = None


@dataclass
class Opened:
    """A server that is there.

    Attributes:
        dialogue: with it.
        counters: of it.
        sent: route and body of each request that went out, by its place; taken by whoever sent.
    """

    dialogue: Dialogue
    counters: Counters
    sent: dict[int, tuple[str, bytes]]


@dataclass
class Known:
    """What is known of a server since it was first there.

    Attributes:
        adapter: its kind, for its model.
        overrides: what it was found to need.
        found: what probing found.
        arm: what a certificate says of it.
        tokenizer: digest of its tokenizer; None where it does not say.
        metrics: name by question; None where it has none.
    """

    adapter: Adapter
    overrides: Overrides
    found: Found
    arm: Arm
    tokenizer: str | None
    metrics: Mapping[str, str | None]


class Server:
    """A server to be measured, started anew for each use where it has a command.

    Args:
        wanted: what is asked for.
        tell: takes a line for people.

    Attributes:
        known: None until it was there once.
    """

    def __init__(self, wanted: Wanted, tell: Tell = lambda line: None) -> None:
        self.wanted = wanted
        self.known: Known | None = None
        self._tell = tell
        if wanted.launch is None and wanted.endpoint is None:
            raise LockstepError("USAGE", "--endpoint", "a URL, or --launch", None)
        self._url = None
        if wanted.endpoint is not None:
            controlled = wanted.controlled or wanted.launch is not None
            self._url = require_own(wanted.endpoint, controlled)

    @property
    def started_here(self) -> bool:
        """Whether it has a process of its own for each use."""
        return self.wanted.launch is not None

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Opened]:
        """Start the server where it has a command, learn what it is, and end it.

        Raises:
            LockstepError: ENDPOINT_DOWN, ENDPOINT_REFUSES; NOT_COMPARABLE, it is another one
                than it was.
        """
        sent: dict[int, tuple[str, bytes]] = {}

        def note(route: str, body: bytes) -> None:
            place = PLACE.get(None)
            if place is not None:
                sent[place] = (route, body)

        async with self._started() as (started, url), Client(self._endpoint(url), note) as client:
            if self.known is None:
                self.known = await self._learn(client, started)
            else:
                await self._require_same(client, self.known)
            dialogue = Dialogue(client, self.known.adapter, self.known.overrides, SECONDS)
            yield Opened(dialogue, Counters(dialogue, self.known.metrics), sent)

    @asynccontextmanager
    async def _started(self) -> AsyncIterator[tuple[Started | None, str]]:
        command = self.wanted.launch
        if command is None:
            yield None, self._url or ""
            return
        async with launched(command, self._url, self._tell) as started:
            yield started, started.url

    def _endpoint(self, url: str) -> Endpoint:
        return Endpoint(url, self.wanted.key)

    async def _learn(self, client: Client, started: Started | None) -> Known:
        wanted = self.wanted
        config = Config(adapter=wanted.adapter, model=wanted.model)
        adapter = await choose_adapter(client, config)
        dialogue = Dialogue(client, adapter, wanted.overrides, SECONDS)
        found = await probe(dialogue, {} if wanted.form is None else {"form": wanted.form})
        text = await metrics_text(dialogue)
        names = {
            question: name
            for question, name in declared(adapter.name).items()
            if name is not None and text is not None and f"\n{name}" in f"\n{text}"
        }
        version = await _document(client, "/version")
        arm = await self._arm(client, adapter, found, started, (text, version))
        tokenizer = member(version, "tokenizer_sha256")
        told = str(tokenizer) if isinstance(tokenizer, str) else None
        return Known(adapter, dialogue.overrides, found, arm, told, names)

    async def _arm(
        self,
        client: Client,
        adapter: Adapter,
        found: Found,
        started: Started | None,
        told_besides: tuple[str | None, Any],
    ) -> Arm:
        """Give what a certificate says of the server, read where the server itself is."""
        wanted, told = self.wanted, found.description
        how: Launch | None = None
        build: Mapping[str, Any] = {}
        lines: tuple[str, ...] = ()
        if started is not None and wanted.launch is not None:
            names = adapter.distributions
            interpreter = await asyncio.to_thread(read_interpreter, wanted.launch, names)
            build = await asyncio.to_thread(read_build, wanted.launch, names)
            lines = tuple(started.lines)
            how = subject.launch_of(
                wanted.launch, started, interpreter, adapter, client.endpoint.hide
            )
        metrics, version = told_besides
        observed = readings(build, told.version, told.version_source, version)
        settings = (*adapter.resolved_by(lines), *told.settings)
        return Arm(
            wanted.name,
            wanted.role,
            adapter.name,
            how,
            pins(wanted.recorded, observed),
            subject.settings(settings, wanted.launch.text if wanted.launch else None, {}),
            printed(adapter.name, told, metrics, lines),
            dict(wanted.requested),
        )

    async def _require_same(self, client: Client, known: Known) -> None:
        before, now = known.found.description, await known.adapter.describe(client)
        if _identity(before) != _identity(now):
            was, told = _identity(before), _identity(now)
            raise LockstepError("NOT_COMPARABLE", f"arm {self.wanted.name}", was, told)


def _identity(told: Description) -> tuple[str | None, str | None, tuple[Resolved, ...]]:
    return told.version, told.model, told.settings


async def _document(client: Client, path: str) -> Any:
    import httpx

    from lockstep.certify.client import StatusError

    try:
        return await client.document(path)
    except (httpx.HTTPError, StatusError, ValueError):
        return None
