"""A run of the certifier: servers from start to end, rounds in their order, everything recorded."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from typing import Any, Protocol

from lockstep import spec
from lockstep.certificate import lcj
from lockstep.certify import plan as plans
from lockstep.certify import prompts as own_prompts
from lockstep.certify import subject
from lockstep.certify.adapters.adapter import Adapter, Resolved
from lockstep.certify.ask import Ask
from lockstep.certify.cells import POSITIVE, PlannedCell, planned
from lockstep.certify.client import Client, Endpoint, StatusError
from lockstep.certify.config import PROBE_SECONDS, Command, Config, key_of
from lockstep.certify.dialogue import Dialogue, Reply
from lockstep.certify.hosts import require_own
from lockstep.certify.launch import Started, launched, read_interpreter
from lockstep.certify.observation import Adapter as Spoken
from lockstep.certify.observation import Launch, PromptsSeen, Round, Seen, Subject
from lockstep.certify.positive import positive_of
from lockstep.certify.probe import Found, choose_adapter, probe
from lockstep.certify.requests import FILE
from lockstep.certify.results import Records
from lockstep.certify.rounds import run_round
from lockstep.certify.scorer import scorer
from lockstep.errors import LockstepError

SLOWEST = 600.0
"""The most seconds that a request is given unless the user says otherwise."""
TIMES_ALONE = 100
"""A request may take so many times what it takes alone: dozens wait for each other in a burst."""
LEAST_SECONDS = 20.0
"""The fewest seconds that a request is given."""
ALIVE_SECONDS = 10.0
"""For a request that only shows whether a server still answers."""


class Watch(Protocol):
    """Is told how a run goes on."""

    def say(self, text: str) -> None:
        """Take a line for people."""

    def planned(
        self, adapter: Adapter, plan: dict[str, Any], cells: Sequence[PlannedCell], found: Found
    ) -> None:
        """Take the plan, before the first round."""

    def made(self, cell: int, one: Round) -> None:
        """Take a round of a cell."""


class PlanOnly(Exception):
    """Raised by a watcher that only wants the plan."""


def digest_of(config: Config) -> str:
    """Give the digest of what is asked, by which records are known; no secret is part of it."""
    told = asdict(config)
    for name in ("headers", "budget"):
        told.pop(name)
    text = lcj.encode(_plain(told))
    return hashlib.sha256(text).hexdigest()


def _plain(value: Any) -> Any:
    """Give a value of a configuration in LCJ: numbers and paths as texts."""
    if isinstance(value, dict):
        return {str(name): _plain(entry) for name, entry in value.items() if name != "environment"}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return value if value is None or isinstance(value, bool | int | str) else str(value)


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
    """One run.

    Attributes:
        stopped: why no further round is made; empty as long as they are.
    """

    def __init__(self, config: Config, records: Records, watch: Watch) -> None:
        self._config = config
        self._records = records
        self._watch = watch
        self._key = key_of(config.key_variable)
        self._id = secrets.token_hex(6)
        self._began = time.monotonic()
        self._scorer = None if config.score is None else scorer(config.score)
        self._launch: Launch | None = None
        self._positive: Launch | None = None
        self._settings: tuple[Resolved, ...] = ()
        self.stopped = ""
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
        first = await self._begin()
        for lifetime in range(first + 1, lifetimes):
            if self.stopped:
                break
            self._watch.say(f"lifetime {lifetime + 1} of {lifetimes}")
            async with self._server(self._config.launch) as (_, client):
                await self._lifetime(self._dialogue(client), lifetime)
        positive = positive_of(self._config, self._adapter)
        if positive is not None and not self.stopped:
            await self._control(positive[1])
        return self._whole()

    async def _begin(self) -> int:
        """Learn what the server is, settle the plan, and make the rounds of a lifetime."""
        async with self._server(self._config.launch) as (started, client):
            self._adapter = await choose_adapter(client, self._config)
            self._overrides, self._timeout = self._config.overrides, self._config.timeout
            dialogue = self._dialogue(client)
            self._found = await probe(dialogue, self._config.plan)
            self._overrides = dialogue.overrides
            if self._timeout is None:
                longest = max(LEAST_SECONDS, TIMES_ALONE * self._found.alone)
                dialogue.timeout = self._timeout = min(SLOWEST, longest)
            self._gauge = await self._gauge_name(dialogue)
            self._describe(started, client)
            self._settle()
            await self._lifetime(dialogue, first := self._first_lifetime())
        return first

    def _settle(self) -> None:
        """Settle the plan: that of the records where there are any."""
        config, positive = self._config, positive_of(self._config, self._adapter)
        plan = self._records.plan
        if plan is None:
            kind = "absent" if positive is None else positive[0]
            plan = plans.parameters(config, self._found, kind)
            if config.budget is not None:
                plan = plans.fitted(plan, self._found, config.budget)
        self._plan = plan
        self._cells = planned(plan)
        self._own = None
        if config.prompts is not None:
            top = plan["top"] if plan["observable"] == "logprobs" else None
            self._own = own_prompts.read_prompts(config.prompts, top, self._scorer, plan["repeats"])
        self._watch.planned(self._adapter, plan, self._cells, self._found)
        self._records.begin(plan)

    def _first_lifetime(self) -> int:
        """Give the lifetime to go on with; what a server that is gone had begun is made anew."""
        if self._config.launch is None:
            return 0
        every = range(self._plan["lifetimes"])
        first = next((one for one in every if not self._complete(one)), len(every) - 1)
        if not self._complete(first):
            self._records.forget_lifetimes(first, self._main())
        return first

    def _complete(self, lifetime: int) -> bool:
        keys = {
            (at, lifetime, number)
            for at in self._main()
            if at >= len(self._cells) or not self._why_not(self._cells[at])
            for number in range(self._per_lifetime(at))
        }
        return keys <= set(self._records.rounds)

    def _main(self) -> range | list[int]:
        """Give the places of cells of the server itself, those of the user's prompts last."""
        cells = [at for at, cell in enumerate(self._cells) if cell.control not in POSITIVE]
        conditions = len(spec.load(FILE)["eval_conditions"]) if self._own is not None else 0
        return [*cells, *(len(self._cells) + at for at in range(conditions))]

    def _per_lifetime(self, at: int) -> int:
        if at < len(self._cells):
            return self._cells[at].per_lifetime
        return 0 if self._own is None else self._own.repeats

    async def _lifetime(self, dialogue: Dialogue, lifetime: int) -> None:
        """Make the rounds of one lifetime that are not recorded yet."""
        await self._rounds(dialogue, (at for at in self._main() if at < len(self._cells)), lifetime)
        if self._own is None or self.stopped or self._prompts_done(lifetime):
            return
        seen = await own_prompts.run_lifetime(
            dialogue,
            self._own,
            lifetime,
            self._records.place,
            "stream" in self._plan["offers"],
            self._watch.say,
        )
        for at, rounds in enumerate(seen):
            for one in rounds:
                self._records.add(len(self._cells) + at, one)

    def _prompts_done(self, lifetime: int) -> bool:
        last = (len(self._cells) + 1, lifetime, (self._own.repeats if self._own else 0) - 1)
        return last in self._records.rounds

    async def _rounds(self, dialogue: Dialogue, places: Iterable[int], lifetime: int) -> None:
        import httpx

        for at in places:
            cell = self._cells[at]
            if self._why_not(cell):
                continue
            for number in range(cell.per_lifetime):
                if (at, lifetime, number) in self._records.rounds:
                    continue
                if self._over_budget():
                    self.stopped = "budget"
                    return
                try:
                    one = await run_round(
                        dialogue, self._plan, cell, lifetime, number, self._records.place, self._id
                    )
                except (httpx.HTTPError, StatusError) as fault:
                    told = f"{type(fault).__name__} while its cache was reset"
                    self._stop("down", told)
                    return
                self._records.add(at, one)
                self._watch.made(at, one)
            if self._failed(at, lifetime) and not await self._alive(dialogue):
                self._stop("down", "the server answers no request any more")
                return

    def _stop(self, reason: str, why: str) -> None:
        self.stopped = reason
        self._watch.say(f"no further rounds: {why}")

    def _over_budget(self) -> bool:
        budget = self._config.budget
        return budget is not None and time.monotonic() - self._began > budget

    def _failed(self, at: int, lifetime: int) -> bool:
        rounds = self._records.rounds.items()
        return any(one.failures for key, one in rounds if key[:2] == (at, lifetime))

    async def _alive(self, dialogue: Dialogue) -> bool:
        """Whether the server answers a small request."""
        units = (20, 21, 22) if self._plan["form"] == "tokens" else "the of and"
        reply, patience = Reply(), dialogue.timeout
        dialogue.timeout = min(patience, ALIVE_SECONDS)
        await dialogue.send(Ask(units, 1, stream=False), time.monotonic_ns, reply)
        dialogue.timeout = patience
        return reply.answer is not None

    def _why_not(self, cell: PlannedCell) -> str:
        """Give why a cell is not run at all; empty where it is."""
        if not set(cell.needs) <= set(self._plan["offers"]):
            return "not_offered"
        return "too_long" if cell.longest > self._plan["context"] else ""

    async def _control(self, command: Command) -> None:
        """Make the rounds of the positive control, against a server of its own."""
        self._watch.say("positive control: a server that is meant to differ")
        cells = [at for at, cell in enumerate(self._cells) if cell.control in POSITIVE]
        self._records.forget_lifetimes(0, cells)
        async with self._server(command) as (started, client):
            if started is not None:
                interpreter = await asyncio.to_thread(
                    read_interpreter, command, self._distributions()
                )
                self._positive = subject.launch_of(
                    command, started, interpreter, self._adapter, client.endpoint.hide
                )
            await self._rounds(self._dialogue(client), cells, 0)

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
        async with (
            launched(command, self._url, self._watch.say) as started,
            Client(self._endpoint(started.url)) as client,
        ):
            yield started, client

    def _endpoint(self, url: str) -> Endpoint:
        return Endpoint(url, self._key, self._config.headers, self._config.ca)

    def _dialogue(self, client: Client) -> Dialogue:
        timeout = self._timeout or PROBE_SECONDS
        return Dialogue(client, self._adapter, self._overrides, timeout)

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

    def _whole(self) -> Seen:
        config = self._config
        reasons = {at: self._reason(at) for at in range(len(self._cells))}
        cells, outputs, prompts = self._records.seen(len(self._cells), reasons)
        self._records.end()
        told = self._found.description
        return Seen(
            plan=self._plan,
            adapter=Spoken(self._adapter.name, self._gauge, is_verified(self._adapter.name)),
            subject=Subject(
                subject.identity(self._adapter, told, self._launch, config.recorded),
                self._launch,
                self._positive,
            ),
            certifier=subject.certifier(),
            settings=subject.settings(
                self._settings, config.launch.text if config.launch else None, config.requested
            ),
            outputs=outputs,
            cells=cells,
            prompts=self._prompts_seen(prompts),
        )

    def _reason(self, at: int) -> str:
        cell = self._cells[at]
        made = sum(key[0] == at for key in self._records.rounds)
        lacking = made < cell.lifetimes * cell.per_lifetime
        return self._why_not(cell) or (self.stopped if lacking else "")

    def _prompts_seen(self, rounds: Sequence[tuple[Round, ...]]) -> PromptsSeen | None:
        if self._own is None:
            return None
        lifetimes = self._plan["lifetimes"]
        lacking = any(len(one) < lifetimes * self._own.repeats for one in rounds)
        reason = self.stopped if lacking else ""
        return own_prompts.collected(self._own, [rounds], lifetimes, reason)


def is_verified(adapter: str) -> bool:
    """Whether a certificate of a real server of this kind is at hand, in a checkout's evidence."""
    if adapter == "lockstep":
        # It is of this distribution: its tests ask it at each change.
        return True
    return (spec.root().parent / "evidence" / f"certification-{adapter}.cert.json").is_file()
