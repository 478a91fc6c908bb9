"""MR7: what a request draws is its own matter [REL-18]."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from lockstep.engine.run import Output
from lockstep.engine.sampling import Sampling
from lockstep.relations.context import Context
from lockstep.relations.requests import request, sampling
from lockstep.schedule.policies import CONTINUOUS, Batching
from lockstep.schedule.workload import Request, Workload

REQUESTS = 4
OUTPUTS = 6


def run(context: Context) -> None:
    """Run four requests that draw, then perturb them, and compare with the first run."""
    members = tuple(_drawing(context, number) for number in range(REQUESTS))
    first = _outputs(context, "unperturbed", members)
    for number in range(REQUESTS):
        others = members[:number] + members[number + 1 :]
        _perturb(context, f"removed_{number}", others, first)
        _perturb(context, f"alone_{number}", members[number : number + 1], first)
    _perturb(context, "added", (members[0], _drawing(context, REQUESTS), *members[1:]), first)
    _perturb(context, "reversed", members[::-1], first)
    _perturb(context, "rotated", members[1:] + members[:1], first)
    for number in range(REQUESTS):
        own = members[number].sampling
        # 0 is the seed of who names none.
        for seed in (own.seed + 1, 0):
            other = Sampling(own.temperature, own.top_k, own.top_p, own.min_p, seed)
            _change(context, "neighbour_seed", members, number, other, first)
        # Greedy at last: a batch of which one row draws nothing.
        for parameters in (Sampling("1.5", 3, "0.8", "0.1", own.seed), Sampling()):
            _change(context, "neighbour_sampling", members, number, parameters, first)


def _drawing(context: Context, number: int) -> Request:
    """Make a request that draws, and whose draws leave it a choice."""
    length = 1 + context.draws.below(2 * context.block_size)
    drawing = replace(sampling(context, number), temperature="1.7")
    return replace(request(context, number, length, OUTPUTS), sampling=drawing)


def _change(
    context: Context,
    name: str,
    members: tuple[Request, ...],
    number: int,
    parameters: Sampling,
    first: dict[str, Output],
) -> None:
    """Give one request other parameters, and compare the others."""
    changed = replace(members[number], sampling=parameters)
    outputs = _perturb(
        context,
        name,
        (*members[:number], changed, *members[number + 1 :]),
        first,
        changed={changed.id},
    )
    own = outputs[changed.id].tokens != first[changed.id].tokens
    context.counters["neighbours_changed"] += own


def _perturb(
    context: Context,
    name: str,
    members: tuple[Request, ...],
    first: dict[str, Output],
    changed: Collection[str] = (),
) -> dict[str, Output]:
    """Run a perturbed workload and compare the requests that were there and are the same."""
    outputs = _outputs(context, name, members)
    context.counters[name] += 1
    for member in members:
        if member.id in first and member.id not in changed:
            context.compare_outputs(name, member, first[member.id], outputs[member.id])
    return outputs


def _outputs(context: Context, name: str, members: tuple[Request, ...]) -> dict[str, Output]:
    _, run = context.drive(name, Workload(members), context.pool(members), Batching(CONTINUOUS))
    return run.outputs
