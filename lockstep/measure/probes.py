"""Probes of servers: prefill, decode, a decoder beside a long prefill, and the batch budget.

In each block every arm is there once, in an order that the seed shuffles, in a process of its own
where it is started here; in it every entry is warmed up and then taken once, shuffled likewise.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from lockstep.certify.requests import text_of, units
from lockstep.errors import LockstepError
from lockstep.measure.budget import next_length
from lockstep.measure.load import Bodies, Load, sampled, warmed_up
from lockstep.measure.observation import Arm, Body, Sample
from lockstep.measure.order import shuffled
from lockstep.measure.server import Opened, Server
from lockstep.measure.window import refusal, value

WARM_UPS = 1
MOST_DETECTIONS = 24
"""Prefills to find a budget by: a bisection of some thousand tokens takes a dozen."""

MOST_REFUSED = 3
"""Refused prefills of one arm after which its budget is left alone."""

Told = Callable[[str], None]


@dataclass(frozen=True)
class Entry:
    """What is sent for one sample [PROBE-15].

    Attributes:
        name: no other entry has it.
        probe: `prefill`, `decode` or `stall`.
        prompts: units of each request's prompt.
        max_new: tokens of each answer.
        behind: parts of the first answer that the last request waits for.
    """

    name: str
    probe: str
    prompts: tuple[int, ...]
    max_new: tuple[int, ...]
    behind: int = 0


@dataclass(frozen=True)
class Design:
    """Of which prompts samples are made, and in which order they are taken [CERT-1, PROBE-2].

    Attributes:
        form: `tokens` or `text`.
        low: of units.
        span: of units.
        seed: of units and of the order.
        blocks: how often each entry is taken of each arm.
    """

    form: str
    low: int
    span: int
    seed: int
    blocks: int


@dataclass(frozen=True)
class Probed:
    """What probes saw.

    Attributes:
        design: of the run.
        entries: in the order in which they were named.
        arms: likewise.
        bodies: that were sent.
        detections: untimed prefills that the batch budget is read from.
        samples: in the order in which they were taken.
    """

    design: Design
    entries: tuple[Entry, ...]
    arms: tuple[Arm, ...]
    bodies: tuple[Body, ...]
    detections: tuple[Sample, ...]
    samples: tuple[Sample, ...]


class Probing:
    """A run of probes over servers.

    Args:
        servers: one for each arm.
        design: of the run.
        told: takes a line for people.
    """

    def __init__(
        self, servers: Sequence[Server], design: Design, told: Told = lambda line: None
    ) -> None:
        self._servers = {server.wanted.name: server for server in servers}
        self._design = design
        self._told = told
        self._bodies = Bodies()
        self._detections: list[Sample] = []
        self._samples: list[Sample] = []
        self._processes = 0
        self._began = time.perf_counter_ns() // 1000

    async def detect(self) -> None:
        """Read each arm's batch budget from steps, where its server has an honest counter."""
        for name, server in self._servers.items():
            async with self._opened(server) as (opened, process):
                if not server.known or server.known.metrics.get("steps") is None:
                    continue
                self._told(f"{name}: batch budget")
                hint = server.known.found.description.chunk
                most = (server.known.found.description.context or 1 << 15) - 1
                seen: list[tuple[int, int]] = []
                refused = 0
                while len(seen) < MOST_DETECTIONS and refused < MOST_REFUSED:
                    length = next_length(seen, hint, most)
                    if length is None:
                        break
                    entry = Entry(f"budget-{len(seen) + refused}", "budget", (length,), (1,))
                    sample = await self._sample(opened, server, entry, 0, process, 0)
                    self._detections.append(sample)
                    if reason := refusal(sample):
                        # It stays among the detections; another prompt of its length is sent.
                        refused += 1
                        self._told(f"{name}: a prefill of {length} was refused: {reason}")
                        continue
                    steps = value(sample, "steps")
                    if steps is None:
                        break
                    seen.append((length, steps))

    async def measure(self, entries: Sequence[Entry]) -> None:
        """Take every entry of every arm in every block.

        Raises:
            LockstepError: USAGE, two samples would have one name [PROBE-16].
        """
        known = {entry.name: entry for entry in entries}
        names = [f"{arm}-{entry}" for arm in self._servers for entry in known]
        if alike := sorted({name for name in names if names.count(name) > 1}):
            hint = "Give one of the arms another name."
            raise LockstepError("USAGE", "arms", "samples whose names differ", alike, hint)
        for block in range(self._design.blocks):
            for name in shuffled(self._design.seed, block, self._servers):
                server = self._servers[name]
                self._told(f"block {block + 1} of {self._design.blocks}, {name}")
                async with self._opened(server) as (opened, process):
                    order = shuffled(self._design.seed, block, [f"{name}-{one}" for one in known])
                    for one in order:
                        entry = known[one.removeprefix(f"{name}-")]
                        sample = await self._sample(opened, server, entry, block, process, WARM_UPS)
                        self._samples.append(sample)

    def seen(self, entries: Sequence[Entry]) -> Probed:
        """Give all that was seen."""
        arms = tuple(one.known.arm for one in self._servers.values() if one.known is not None)
        return Probed(
            self._design,
            tuple(entries),
            arms,
            self._bodies.all(),
            tuple(self._detections),
            tuple(self._samples),
        )

    @asynccontextmanager
    async def _opened(self, server: Server) -> AsyncIterator[tuple[Opened, int | None]]:
        process = self._processes if server.started_here else None
        self._processes += server.started_here
        async with server.opened() as opened:
            self._require_form(server)
            yield opened, process

    def _require_form(self, server: Server) -> None:
        form = "" if server.known is None else server.known.found.form
        if form == "text" and self._design.form == "tokens":
            hint = "Choose --form text; its lengths are words then."
            where = f"arm {server.wanted.name}"
            raise LockstepError("NOT_COMPARABLE", where, "prompts of token ids", "texts", hint)

    async def _sample(
        self,
        opened: Opened,
        server: Server,
        entry: Entry,
        block: int,
        process: int | None,
        warm_ups: int,
    ) -> Sample:
        arm = server.wanted.name
        name = f"{arm}-{entry.name}" + ("" if entry.probe == "budget" else f"-{block}")
        for _ in range(warm_ups):
            await warmed_up(opened, self._loads(entry, f"{name}/warm"))
        requests, window, begun = await sampled(opened, self._loads(entry, name), self._bodies)
        place = len(self._detections if entry.probe == "budget" else self._samples)
        return Sample(
            name,
            arm,
            block,
            place,
            process,
            warm_ups,
            begun - self._began,
            requests,
            window,
        )

    def _loads(self, entry: Entry, name: str) -> list[Load]:
        design = self._design
        plan = {"seed": design.seed, "low": design.low, "span": design.span}
        last = len(entry.prompts) - 1
        found = []
        for place, (count, max_new) in enumerate(zip(entry.prompts, entry.max_new, strict=True)):
            prompt = units(plan, name, f"own/{place}", count)
            behind = entry.behind if place and place == last else 0
            if design.form == "text":
                found.append(Load(text_of(prompt), None, max_new, behind))
            else:
                found.append(Load(prompt, count, max_new, behind))
        return found
