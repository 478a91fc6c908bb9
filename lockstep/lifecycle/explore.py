"""Runs of the reference machine: the steps that are open in a state, and seeded walks over them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from random import Random

from lockstep.lifecycle.guards import taken
from lockstep.lifecycle.machine import Machine
from lockstep.lifecycle.state import State, Step


@dataclass(frozen=True)
class Walk:
    """A run: its states, one more than its steps, and the events of each request in order."""

    states: tuple[State, ...]
    steps: tuple[Step, ...]

    @property
    def logs(self) -> tuple[tuple[str, ...], ...]:
        """The events of each request, in the order in which they took effect."""
        requests = range(len(self.states[-1].requests))
        return tuple(tuple(s.event for s in self.steps if s.request == r) for r in requests)


def candidates(machine: Machine, state: State, number: int, event: str) -> Iterator[Step]:
    """Give the steps of a request's event whose guard holds, whether or not it has a cell.

    All counts of tokens, all sets of granted and of evicted blocks; free blocks are alike, so
    that the lowest are taken; of the complete blocks all or none are published.
    """
    shapes: Iterator[Step]
    if event in ("chunk", "decode"):
        shapes = _computing(machine, state, number, event)
    elif event == "cache_hit":
        cached = [block for block, offered in enumerate(state.cached) if offered]
        sizes = range(1, len(cached) + 1)
        chosen = (blocks for size in sizes for blocks in combinations(cached, size))
        shapes = (Step(number, event, blocks=blocks) for blocks in chosen)
    elif event == "evict":
        shapes = (Step(number, event, blocks=(block,)) for block in state.evictable)
    else:
        shapes = iter([Step(number, event)])
    return (step for step in shapes if machine.refusal(state, step) is None)


def open_steps(machine: Machine, state: State) -> list[Step]:
    """Give every candidate of every request that the machine takes."""
    return [
        step
        for number, request in enumerate(state.requests)
        for event in machine.relation.events
        if machine.relation.next_state(request.state, event) is not None
        for step in candidates(machine, state, number, event)
    ]


def walk(machine: Machine, state: State, length: int, random: Random) -> Walk:
    """Take up to `length` open steps, drawn evenly over events first; ends where none is open."""
    states, steps = [state], []
    for _ in range(length):
        by_event: dict[tuple[int, str], list[Step]] = {}
        for step in open_steps(machine, states[-1]):
            by_event.setdefault((step.request, step.event), []).append(step)
        if not by_event:
            break
        step = random.choice(by_event[random.choice(list(by_event))])
        steps.append(step)
        states.append(machine.step(states[-1], step))
    return Walk(tuple(states), tuple(steps))


def submitted(machine: Machine, state: State, requests: tuple[tuple[int, int], ...]) -> State:
    """Give the state after these requests, each prompt and max_new, have been submitted."""
    for prompt, max_new in requests:
        state = machine.submit(state, prompt, max_new)
    return state


def _computing(machine: Machine, state: State, number: int, event: str) -> Iterator[Step]:
    request, size = state.requests[number], state.pool.block_size
    lengths = range(1, request.known - request.computed) if event == "chunk" else (0,)
    for tokens in lengths:
        step = Step(number, event, tokens)
        blocks = state.free[: max(0, taken(state, step, machine.weakened))]
        table = request.table + blocks
        computed = request.computed + tokens if event == "chunk" else request.known
        complete = tuple(b for b in table[: computed // size] if not state.cached[b])
        yield Step(number, event, tokens, blocks)
        if complete:
            yield Step(number, event, tokens, blocks, complete)
