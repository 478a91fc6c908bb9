"""The dimensions of a case, and every single removal in each [FIND-3] [FIND-4]."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from lockstep import spec
from lockstep.fuzz.case import Case, Steps
from lockstep.schedule.schedule import Action


class Removal(NamedTuple):
    """One unit of one dimension, or several alike.

    Attributes:
        dimension: a name of spec/finding.json.
        place: of the unit: request and position, step and action, as [FIND-4] says.
        amount: how many units, in a dimension whose units are alike.
    """

    dimension: str
    place: tuple[int, ...] = ()
    amount: int = 1


def dimensions() -> tuple[str, ...]:
    """Give the names of the dimensions, in the order of the spec."""
    return tuple(entry["name"] for entry in spec.load("finding.json")["dimensions"])


def removals(case: Case, free: Collection[str] | None = None) -> list[Removal]:
    """List the single removals of a case of steps, in the normative order [FIND-4].

    Args:
        case: a case of steps.
        free: the dimensions to list; None for all.
    """
    return [
        removal
        for name in dimensions()
        if free is None or name in free
        for removal in _SINGLE[name](case)
    ]


def units(case: Case, free: Collection[str] | None = None) -> list[Removal]:
    """List every unit of a case by itself, alike ones once each."""
    return [
        removal._replace(amount=1)
        for removal in removals(case, free)
        for _ in range(amount(case, removal))
    ]


def amount(case: Case, removal: Removal) -> int:
    """Give how many units there are at a place."""
    requests, steps = case.workload.requests, steps_of(case)
    match removal.dimension:
        case "new_tokens":
            return requests[removal.place[0]].max_new - 1
        case "arrivals":
            return requests[removal.place[0]].arrival
        case "chunk_tokens":
            return steps[removal.place[0]][removal.place[1]].tokens - 1
        case "pool_blocks":
            return case.pool.blocks - 1
        case "block_size":
            return case.pool.block_size - 1
    return 1


def steps_of(case: Case) -> Steps:
    """Give the steps of a case of steps; ValueError for one of a policy."""
    schedule = case.schedule
    if schedule is None:
        raise ValueError("a case of a policy; its steps are needed")
    return schedule.steps


def _of_requests(case: Case) -> Iterator[Removal]:
    for number in range(len(case.workload.requests)):
        if len(case.workload.requests) > 1:
            yield Removal("requests", (number,))


def _of_steps(case: Case) -> Iterator[Removal]:
    steps = steps_of(case)
    for step in range(len(steps)):
        if step < len(steps) - 1 or not steps[step]:
            yield Removal("steps", (step,))


def _of_actions(case: Case) -> Iterator[Removal]:
    for place, _ in _placed(case):
        yield Removal("actions", place)


def _of_prompts(case: Case) -> Iterator[Removal]:
    for number, request in enumerate(case.workload.requests):
        for place in range(len(request.prompt) if len(request.prompt) > 1 else 0):
            yield Removal("prompt_tokens", (number, place))


def _of_new_tokens(case: Case) -> Iterator[Removal]:
    for number, request in enumerate(case.workload.requests):
        if request.max_new > 1:
            yield Removal("new_tokens", (number,))


def _of_chunks(case: Case) -> Iterator[Removal]:
    for place, action in _placed(case):
        if action.tokens > 1:
            yield Removal("chunk_tokens", place)


def _of_names(case: Case) -> Iterator[Removal]:
    for place, action in _placed(case):
        if action.blocks:
            yield Removal("named_blocks", place)


def _of_arrivals(case: Case) -> Iterator[Removal]:
    for number, request in enumerate(case.workload.requests):
        if request.arrival > 0:
            yield Removal("arrivals", (number,))


def _of_pool(case: Case) -> Iterator[Removal]:
    if case.pool.blocks > 1:
        yield Removal("pool_blocks")


def _of_block_size(case: Case) -> Iterator[Removal]:
    if case.pool.block_size > 1:
        yield Removal("block_size")


def _placed(case: Case) -> Iterator[tuple[tuple[int, int], Action]]:
    for step, actions in enumerate(steps_of(case)):
        for index, action in enumerate(actions):
            yield (step, index), action


_SINGLE: dict[str, Callable[[Case], Iterator[Removal]]] = {
    "requests": _of_requests,
    "steps": _of_steps,
    "actions": _of_actions,
    "prompt_tokens": _of_prompts,
    "new_tokens": _of_new_tokens,
    "chunk_tokens": _of_chunks,
    "named_blocks": _of_names,
    "arrivals": _of_arrivals,
    "pool_blocks": _of_pool,
    "block_size": _of_block_size,
}
