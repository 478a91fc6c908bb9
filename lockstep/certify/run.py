"""A run of the certifier: servers from start to end, rounds in their order, everything recorded."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

from lockstep import spec
from lockstep.certify import plan as plans
from lockstep.certify import prompts as own_prompts
from lockstep.certify import subject
from lockstep.certify.adapters.adapter import Resolved
from lockstep.certify.adapters.catalogue import is_verified
from lockstep.certify.budget import Budget, OutOfTime
from lockstep.certify.cells import POSITIVE
from lockstep.certify.client import Client, Endpoint
from lockstep.certify.config import PROBE_SECONDS, Command, Config, key_of
from lockstep.certify.dialogue import Dialogue
from lockstep.certify.execution import Execution
from lockstep.certify.hosts import require_own
from lockstep.certify.launch import Started, launched, read_interpreter, shown
from lockstep.certify.observation import Adapter as Spoken
from lockstep.certify.observation import Launch, Seen, Subject
from lockstep.certify.positive import positive_of
from lockstep.certify.probe import choose_adapter, probe
from lockstep.certify.requests import FILE
from lockstep.certify.results import Records
from lockstep.certify.scorer import scorer
from lockstep.certify.watch import EnoughSeen, Watch
from lockstep.errors import LockstepError

SLOWEST = 600.0
"""The most seconds that a request is given unless the user says otherwise."""
TIMES_ALONE = 100
"""A request may take so many times what it takes alone: dozens wait for each other in a burst."""
LEAST_SECONDS = 60.0
"""The fewest seconds that a request is given."""


async def observe(config: Config, records: Records, watch: Watch) -> Seen:
    """Make all rounds of a plan, and give what was seen.

    Args:
        config: what is asked.
        records: takes rounds as they come; those that it has are not made again.
        watch: is told.

    Raises:
        LockstepError: what is asked cannot be done; ENDPOINT_DOWN before the first round.
    """
    run = Run(config, records, watch)
    return await run.seen()


class Run:
    """One run; everything that it makes a server for ends with the server."""

    def __init__(self, config: Config, records: Records, watch: Watch) -> None:
        self._config = config
        self._records = records
        self._watch = watch
        self._key = key_of(config.key_variable)
        self._id = secrets.token_hex(6)
        self._budget = Budget(config.budget)
        self._start_seconds = 0.0
        self._scorer = None if config.score is None else scorer(config.score)
        self._launch: Launch | None = None
        self._positive: Launch | None = None
        self._settings: tuple[Resolved, ...] = ()
        if config.prompts is not None:
            # What is wrong with the file is told before any server is asked.
            own_prompts.read_prompts(config.prompts, None, None)
        other = config.positive.text if config.positive is not None else "{port}"
        if config.launch is None and "{port}" not in other:
            # At the endpoint's own address it would be the server itself that is asked.
            hint = "Write {port} where its command has the port."
            raise LockstepError("USAGE", "--positive", "a port of its own", None, hint)
        if config.launch is None and config.endpoint is None:
            raise LockstepError("USAGE", "--endpoint", "a URL, or --launch", None)
        if config.endpoint is not None:
            controlled = config.controlled or config.launch is not None
            self._url: str | None = require_own(config.endpoint, controlled)
        else:
            self._url = None

    async def seen(self) -> Seen:
        """Make all rounds, and give what was seen."""
        lifetimes = int(
            self._config.plan.get("lifetimes", spec.load(FILE)["defaults"]["lifetimes"])
        )
        if self._config.launch is None and lifetimes > 1:
            hint = "A server that was not started here cannot be started again."
            raise LockstepError("USAGE", "--lifetimes", "1 without --launch", lifetimes, hint)
        try:
            await self._all(lifetimes)
        except EnoughSeen:
            self._execution.stopped = "interrupted"
        except OutOfTime:
            self._execution.stop("budget", "the budget is spent")
        return self._whole()

    async def _all(self, lifetimes: int) -> None:
        try:
            first = await self._begin()
        except OutOfTime:
            expected, hint = "time to start the server and to ask it what it is", "Give it more."
            raise LockstepError("USAGE", "--budget", expected, self._budget.seconds, hint) from None
        for lifetime in range(first + 1, lifetimes):
            if self._execution.stopped:
                break
            if not self._budget.allows(self._start_seconds):
                raise OutOfTime
            self._watch.say(f"lifetime {lifetime + 1} of {lifetimes}")
            async with self._server(self._config.launch) as (_, client):
                await self._require_same(client)
                await self._execution.lifetime(self._dialogue(client), lifetime)
        positive = positive_of(self._config, self._adapter)
        if positive is not None:
            await self._control(positive[1])

    async def _begin(self) -> int:
        """Learn what the server is, settle the plan, and make the rounds of a lifetime."""
        async with self._server(self._config.launch) as (started, client):
            self._overrides, self._timeout = self._config.overrides, self._config.timeout
            self._answered: str | None = None
            try:
                async with self._budget.limit():
                    self._adapter = await choose_adapter(client, self._config)
                    dialogue = self._dialogue(client)
                    self._found = await probe(dialogue, self._config.plan)
            except TimeoutError:
                raise OutOfTime from None
            self._overrides, self._answered = dialogue.overrides, dialogue.answered
            if self._timeout is None:
                longest = max(LEAST_SECONDS, TIMES_ALONE * self._found.alone)
                dialogue.timeout = self._timeout = min(SLOWEST, longest)
            self._gauge = await self._gauge_name(dialogue)
            self._describe(started, client)
            self._settle()
            await self._execution.lifetime(dialogue, first := self._execution.first_lifetime())
        return first

    async def _require_same(self, client: Client) -> None:
        """Refuse to go on with a server that says it is another one than the first.

        Raises:
            LockstepError: NOT_COMPARABLE.
        """
        before, now = self._found.description, await self._adapter.describe(client)
        if (before.version, before.model) != (now.version, now.model):
            was, told = f"{before.version}, {before.model}", f"{now.version}, {now.model}"
            raise LockstepError("NOT_COMPARABLE", "--launch", was, told)

    def _settle(self) -> None:
        """Settle the plan: that of the records where there are any."""
        config, positive = self._config, positive_of(self._config, self._adapter)
        plan = self._records.plan
        if plan is None:
            kind = "absent" if positive is None else positive[0]
            plan = plans.parameters(config, self._found, kind)
        own = None
        if config.prompts is not None:
            top = plan["top"] if plan["observable"] == "logprobs" else None
            own = own_prompts.read_prompts(config.prompts, top, self._scorer)
        cost = plans.Cost(self._found, self._start_seconds, own)
        left, told = self._budget.left, self._found
        if left is not None and self._records.plan is None:
            whole, plan = plan, plans.fitted(plan, cost, left)
            told = replace(told, notes=plans.fitting(whole, plan, cost, left))
        self._plan = plan
        self._execution = Execution(
            plan,
            self._records,
            self._watch,
            own,
            config.launch is not None,
            self._id,
            self._budget,
            self._found,
        )
        self._watch.planned(self._adapter, plan, self._execution.costed, told)
        self._records.begin(plan)

    async def _control(self, command: Command) -> None:
        """Make the rounds of the positive control, against a server of its own."""
        self._positive = Launch(shown(command.text, self._endpoint("").hide))
        if self._execution.stopped:
            return
        if not self._budget.allows(self._start_seconds):
            raise OutOfTime
        self._watch.say("positive control: a server that is meant to differ")
        cells = [at for at, one in enumerate(self._execution.cells) if one.control in POSITIVE]
        self._records.forget_lifetimes(0, cells)
        async with self._server(command) as (started, client):
            if started is not None:
                interpreter = await asyncio.to_thread(
                    read_interpreter, command, self._distributions()
                )
                self._positive = subject.launch_of(
                    command, started, interpreter, self._adapter, client.endpoint.hide
                )
            await self._execution.rounds(self._dialogue(client), cells, 0)

    def _distributions(self) -> tuple[str, ...]:
        return (*self._adapter.distributions, *self._config.distributions)

    @asynccontextmanager
    async def _server(
        self, command: Command | None
    ) -> AsyncIterator[tuple[Started | None, Client]]:
        """Give a client to a server, started here where there is a command."""
        if command is None:
            async with Client(self._endpoint(self._url or "")) as client:
                yield None, client
            return
        began = time.monotonic()
        async with AsyncExitStack() as stack:
            try:
                async with self._budget.limit():
                    launch = launched(command, self._url, self._watch.say)
                    started = await stack.enter_async_context(launch)
            except TimeoutError:
                raise OutOfTime from None
            self._start_seconds = time.monotonic() - began
            yield started, await stack.enter_async_context(Client(self._endpoint(started.url)))

    def _endpoint(self, url: str) -> Endpoint:
        return Endpoint(url, self._key, self._config.headers, self._config.ca)

    def _dialogue(self, client: Client) -> Dialogue:
        timeout = self._timeout or PROBE_SECONDS
        dialogue = Dialogue(client, self._adapter, self._overrides, timeout)
        dialogue.answered = self._answered
        return dialogue

    async def _gauge_name(self, dialogue: Dialogue) -> str | None:
        """Give the gauge's name, where it can be read at all."""
        gauge = dialogue.gauge
        if gauge is None or await gauge.read() is None:
            dialogue.overrides = self._overrides = replace(self._overrides, gauge=False)
            return None
        return dialogue.gauge_names[0]

    def _describe(self, started: Started | None, client: Client) -> None:
        """Note how the server was started, and what it resolved settings to."""
        command, lines = self._config.launch, tuple[str, ...]()
        if started is not None and command is not None:
            interpreter = read_interpreter(command, self._distributions())
            self._launch = subject.launch_of(
                command, started, interpreter, self._adapter, client.endpoint.hide
            )
            lines = tuple(started.lines)
        self._settings = (
            *self._adapter.resolved_by(lines),
            *self._found.description.settings,
        )
        if self._answered is not None:
            told = Resolved("answered_model", self._answered, "member `model` of answers")
            self._settings = (*self._settings, told)

    def _whole(self) -> Seen:
        config = self._config
        cells, outputs = self._records.seen(self._execution.reasons())
        self._records.end()
        told = self._found.description
        requested = dict(config.requested)
        if self._answered is not None:
            requested["answered_model"] = self._adapter.model
        return Seen(
            plan=self._plan,
            adapter=Spoken(
                self._adapter.name, self._gauge, is_verified(self._adapter.name, self._gauge)
            ),
            subject=Subject(
                subject.identity(self._adapter, told, self._launch, config.recorded),
                self._launch,
                self._positive,
            ),
            certifier=subject.certifier(),
            settings=subject.settings(
                self._settings, config.launch.text if config.launch else None, requested
            ),
            outputs=outputs,
            cells=cells[: len(self._execution.cells)],
            prompts=self._execution.prompts_seen(cells),
        )
