"""MR5: who else is in the engine, and in which order, does not change an output [REL-15]."""

from dataclasses import replace

from lockstep.engine.events import Event
from lockstep.relations import mechanisms
from lockstep.relations.context import Context
from lockstep.relations.requests import request, requests
from lockstep.schedule.policies import CONTINUOUS, Batching, Settings
from lockstep.schedule.workload import Request, Workload

MEMBERS = 6


def run(context: Context) -> None:
    """Run the same requests in several orders and companies; compare with references."""
    size, draws = context.block_size, context.draws
    lengths = tuple(max(1, size * (1 + n % 2) - 2 + draws.below(5)) for n in range(MEMBERS))
    members = requests(context, lengths)
    strangers = tuple(
        replace(request(context, MEMBERS + n, 1 + draws.below(3 * size)), id=f"stranger{n}")
        for n in range(4)
    )
    half = MEMBERS // 2
    turned = replace(CONTINUOUS, order="alternate", take="alternate")
    highest = replace(CONTINUOUS, order="always", take="always")
    runs: list[tuple[Event, ...]] = []
    for name, chosen, settings in (
        ("in order", members, CONTINUOUS),
        ("reversed", members[::-1], CONTINUOUS),
        ("rotated", members[2:] + members[:2], CONTINUOUS),
        ("turned in every other step", members, turned),
        ("from the highest blocks", members, highest),
        ("first half among strangers", strangers[:2] + members[:half] + strangers[2:], CONTINUOUS),
        ("second half among strangers", strangers + members[half:], turned),
    ):
        runs.append(_together(context, name, chosen, settings))
    context.counters["pairs_in_both_orders"] += mechanisms.pairs_in_both_orders(runs)
    context.counters["requests_in_two_companies"] += mechanisms.requests_in_two_companies(runs)


def _together(
    context: Context, name: str, members: tuple[Request, ...], settings: Settings
) -> tuple[Event, ...]:
    workload = Workload(members)
    _, done = context.drive(name, workload, context.pool(members), Batching(settings))
    context.compare_with_references(name, workload, done)
    return done.events
