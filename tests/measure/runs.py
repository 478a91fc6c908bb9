"""Runs over arms as if they had been taken: every member can be set."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lockstep import spec
from lockstep.certify.observation import Launch
from lockstep.measure.load import REQUESTED
from lockstep.measure.observation import (
    Arm,
    Body,
    Counter,
    Pin,
    Request,
    Sample,
    Seen,
    Window,
    Workload,
)
from lockstep.measure.order import shuffled

METRICS = {
    "steps": "lockstep_steps_total",
    "prompt_tokens": "lockstep_prompt_tokens_total",
    "generated_tokens": "lockstep_generated_tokens_total",
}
BODY = Body(
    "/v1/completions",
    (
        ("ignore_eos", "on"),
        ("stream", "on"),
        ("temperature", "0"),
        ("top_k", "-1"),
        ("top_p", "1"),
    ),
)
WORK = Workload(10, 246, 1, (32, 48), 4)


def request(tokens: int | None = 32, wall: int = 1000, **changes: Any) -> Request:
    """Give a request of the wall's length that answers four tokens."""
    one = Request(
        prompt_tokens=tokens,
        told_tokens=tokens,
        max_new=4,
        generated=4,
        cached=0,
        start_us=0,
        first_us=wall // 2,
        end_us=wall,
        arrivals_us=(wall // 2, *(wall * part // 8 for part in (5, 6, 7))),
        failure=None,
        body=0,
    )
    return replace(one, **changes)


def window(tokens: int, generated: int, elapsed: int, steps: int = 5, **changes: Any) -> Window:
    """Give a window whose counters rose by just what a sample asked for."""
    rises = {"steps": steps, "prompt_tokens": tokens, "generated_tokens": generated}
    counters = tuple(Counter(name, METRICS[name], 100, 100 + rises[name]) for name in rises)
    return replace(Window(counters, elapsed, elapsed), **changes)


def sample(wall: int = 1000, **changes: Any) -> Sample:
    """Give a sample of the workload."""
    requests = tuple(request(tokens, wall) for tokens in WORK.prompts)
    one = Sample(
        name="block-0",
        arm="invariant",
        block=0,
        place=0,
        process=0,
        warm_ups=1,
        begin_us=0,
        requests=requests,
        window=window(sum(WORK.prompts), 4 * len(WORK.prompts), wall + 10),
    )
    return replace(one, **changes)


def arm(name: str, role: str | None = None, **changes: Any) -> Arm:
    """Give an arm that was started here."""
    fields = spec.load("probe.json")["pins"]
    one = Arm(
        name=name,
        role=role or name,
        adapter="lockstep",
        launch=Launch(f"lockstep serve --mode {name}"),
        pins=tuple(Pin(field, None, "seen", "/version") for field in fields),
        server_settings=(),
        kv_pool=None,
        requested=dict(REQUESTED),
    )
    return replace(one, **changes)


def run(
    walls: Mapping[str, Sequence[int]],
    changed: Callable[[Sample], Sample] = lambda one: one,
    arms: Sequence[Arm] | None = None,
    bodies: Sequence[Body] = (BODY,),
) -> Seen:
    """Give a run over arms.

    Args:
        walls: of each arm's samples by block.
        changed: changes a sample.
        arms: None for one of each name, its role alike.
        bodies: that were sent.
    """
    blocks = len(next(iter(walls.values())))
    samples: list[Sample] = []
    begun = 0
    for block in range(blocks):
        for name in shuffled(WORK.seed, block, walls):
            place = len(samples)
            one = sample(
                walls[name][block],
                name=f"block-{block}",
                arm=name,
                block=block,
                place=place,
                process=place,
                begin_us=begun,
            )
            begun += one.window.monotonic_us
            samples.append(changed(one))
    chosen = tuple(arms or (arm(name) for name in walls))
    return Seen(WORK, blocks, chosen, tuple(bodies), tuple(samples))
