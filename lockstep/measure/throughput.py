"""A run over arms: in each block every arm once, in a process of its own, warmed up [THR-3]."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from lockstep.certify.requests import units
from lockstep.errors import LockstepError
from lockstep.measure.load import Bodies, Load, sampled, warmed_up
from lockstep.measure.observation import Sample, Seen, Workload
from lockstep.measure.order import shuffled
from lockstep.measure.server import Server

WARM_UPS = 1
"""Rounds before what is timed: what a fresh process compiles, it compiles then."""

Told = Callable[[int, int, str], None]


async def observe(
    servers: Sequence[Server],
    workload: Workload,
    blocks: int,
    told: Told = lambda done, whole, arm: None,
) -> Seen:
    """Take all samples, and give what was seen.

    Args:
        servers: one for each arm, names different from each other.
        workload: of each sample.
        blocks: number.
        told: is told of each sample that is about to be taken.

    Raises:
        LockstepError: NOT_COMPARABLE, a server takes no token ids, or is another one than it was;
            ENDPOINT_DOWN, ENDPOINT_REFUSES.
    """
    arms = {server.wanted.name: server for server in servers}
    bodies, samples = Bodies(), list[Sample]()
    began = time.perf_counter_ns() // 1000
    for block in range(blocks):
        for name in shuffled(workload.seed, block, arms):
            told(len(samples), blocks * len(arms), name)
            samples.append(await _sample(arms[name], workload, block, len(samples), bodies, began))
    seen = tuple(server.known.arm for server in servers if server.known is not None)
    return Seen(workload, blocks, seen, bodies.all(), tuple(samples))


async def _sample(
    server: Server, workload: Workload, block: int, place: int, bodies: Bodies, began: int
) -> Sample:
    name = f"block-{block}"
    async with server.opened() as opened:
        _require_tokens(server)
        for _ in range(WARM_UPS):
            await warmed_up(opened, loads(workload, f"{name}/warm"))
        requests, window, begun = await sampled(opened, loads(workload, name), bodies)
    return Sample(
        name=name,
        arm=server.wanted.name,
        block=block,
        place=place,
        process=place if server.started_here else None,
        warm_ups=WARM_UPS,
        begin_us=begun - began,
        requests=requests,
        window=window,
    )


def loads(workload: Workload, name: str) -> list[Load]:
    """Give the requests of a sample of this name [PROBE-1]."""
    plan = {"seed": workload.seed, "low": workload.low, "span": workload.span}
    return [
        Load(units(plan, name, f"own/{place}", count), count, workload.max_new)
        for place, count in enumerate(workload.prompts)
    ]


def _require_tokens(server: Server) -> None:
    known = server.known
    if known is not None and known.found.form != "tokens":
        hint = "A text is other tokens for another tokenizer, so that the work would differ."
        where = f"arm {server.wanted.name}"
        raise LockstepError("NOT_COMPARABLE", where, "prompts of token ids", "texts", hint)
