"""The template and the machine read the rules alike: single states and steps, by a solver."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest

from lockstep.lifecycle import Machine, Pool, Request, State, Step, claims, relation
from lockstep.lifecycle.explore import open_steps, submitted, walk
from lockstep.lifecycle.machine import not_exclusive
from lockstep.lifecycle.state import empty
from lockstep.proofs.lifecycle.template import Model, Template
from lockstep.proofs.query import Expected, Query
from lockstep.proofs.solvers import decide, solvers

MODEL = Model(3, 4, 2)
MACHINE = Machine()
RELATION = relation()
# One solver is enough to evaluate closed formulas.
BY = solvers()[:1]
EVENTS = RELATION.events


def ask(sections: list[tuple[str, int | None]], asserted: list[str], answer: Expected) -> None:
    template = Template(MODEL, RELATION)
    parts = [template.section(name, time) for name, time in sections]
    parts += [f"(assert {formula})\n" for formula in asserted]
    text = "".join(["(set-logic QF_LIA)\n", *parts, "(check-sat)\n"])
    decide(Query("agreement", "agreement", answer, text), BY)


def number(value: int) -> str:
    return str(value) if value >= 0 else f"(- {-value})"


def values(state: State, time: int) -> dict[str, str]:
    """The constants of a state at a time, entries and ranks left out."""
    given = {}
    for r, request in enumerate(state.requests):
        given[f"state_{r}_{time}"] = request.state
        given[f"computed_{r}_{time}"] = number(request.computed)
        given[f"outputs_{r}_{time}"] = number(request.outputs)
        given[f"length_{r}_{time}"] = number(len(request.table))
        given[f"admitted_{r}_{time}"] = str(request.state != "QUEUED").lower()
    for b in range(MODEL.blocks):
        given[f"references_{b}_{time}"] = number(state.references[b])
        given[f"cached_{b}_{time}"] = str(state.cached[b]).lower()
    return given


def places(state: State, time: int) -> dict[str, str]:
    """The constants of a state's tables and queue."""
    given = {}
    for r, request in enumerate(state.requests):
        rank = state.queue.index(r) if r in state.queue else 9
        given[f"rank_{r}_{time}"] = number(rank)
        for b in range(MODEL.blocks):
            entry = request.table.index(b) if b in request.table else -1
            given[f"entry_{r}_{b}_{time}"] = number(entry)
    return given


def constants(state: State) -> list[str]:
    given = {**values(state, 0), **places(state, 0)}
    for r, request in enumerate(state.requests):
        given[f"prompt_{r}"] = number(request.prompt)
        given[f"max_new_{r}"] = number(request.max_new)
        given[f"need_{r}"] = number(request.need(state.pool))
    return [f"(= {name} {value})" for name, value in given.items()]


def choice(step: Step) -> list[str]:
    blocks = range(MODEL.blocks)
    return [
        f"(= actor_0 {step.request})",
        f"(= event_0 {step.event})",
        f"(= tokens_0 {step.tokens})",
        *(f"(= chosen_{b}_0 {str(b in step.blocks).lower()})" for b in blocks),
        *(f"(= published_{b}_0 {str(b in step.published).lower()})" for b in blocks),
    ]


def walked(seed: int) -> Iterator[tuple[State, Random]]:
    random = Random(seed)
    for _ in range(4):
        lengths = tuple((random.randint(1, 5), random.randint(1, 3)) for _ in range(3))
        start = submitted(MACHINE, empty(Pool(MODEL.blocks, MODEL.block_size)), lengths)
        yield random.choice(walk(MACHINE, start, 30, random).states), random


def disturbed(state: State, random: Random) -> State:
    """A state with some numbers drawn anew, which breaks the invariant more often than not."""
    requests = []
    for request in state.requests:
        drawn = Request(
            request.prompt,
            request.max_new,
            random.choice(RELATION.states),
            random.randint(0, 8),
            random.randint(0, 4),
            tuple(random.sample(range(MODEL.blocks), random.randint(0, 3))),
        )
        requests.append(random.choice((request, drawn)))
    waiting = [r for r, request in enumerate(requests) if request.waiting]
    random.shuffle(waiting)
    return replace(
        state,
        requests=tuple(requests),
        queue=tuple(waiting),
        references=tuple(random.choice((n, random.randint(0, 2))) for n in state.references),
        cached=tuple(random.choice((c, not c)) for c in state.cached),
    )


@pytest.mark.parametrize("seed", range(12))
def test_clauses_of_a_state(seed: int) -> None:
    sections: list[tuple[str, int | None]] = [("names", None), ("requests", None)]
    sections += [("state", 0), ("invariant", 0), ("enabled", 0)]
    for state, random in walked(seed):
        for given in (state, disturbed(state, random)):
            broken = claims.broken(given)
            said = [
                f"(= {clause.__name__}_0 {str(clause.__name__ not in broken).lower()})"
                for clause in claims.INVARIANT
            ]
            said.append(f"(= stuck_0 {str(claims.stuck(MACHINE, given)).lower()})")
            said.append(f"(= slack_0 {number(given.slack)})")
            said.append(f"(= free_0 {len(given.free)})")
            said.append(f"(= evictable_0 {len(given.evictable)})")
            ask(sections, [*constants(given), f"(and {' '.join(said)})"], "sat")


def drawn_step(state: State, random: Random) -> Step:
    """A step drawn without regard to its guard."""
    event = random.choice(EVENTS)
    some = random.sample(range(MODEL.blocks), random.randint(0, 3))
    tokens = random.randint(0, 4) if event == "chunk" else 0
    blocks = tuple(some) if event in ("chunk", "decode", "cache_hit", "evict") else ()
    return Step(random.randrange(MODEL.requests), event, tokens, blocks)


@pytest.mark.parametrize("seed", range(12))
def test_guard_of_a_step(seed: int) -> None:
    sections: list[tuple[str, int | None]] = [("names", None), ("requests", None)]
    sections += [("state", 0), ("choice", 0)]
    for state, random in walked(seed):
        steps = [drawn_step(state, random) for _ in range(4)]
        steps += random.sample(taken := open_steps(MACHINE, state), min(3, len(taken)))
        for step in steps:
            holds = MACHINE.refusal(state, replace(step, published=())) is None
            said = f"(= guard_0 {str(holds).lower()})"
            ask(sections, [*constants(state), *choice(replace(step, published=())), said], "sat")


@pytest.mark.parametrize("seed", range(12))
def test_effect_of_a_step(seed: int) -> None:
    sections: list[tuple[str, int | None]] = [("names", None), ("requests", None)]
    sections += [("state", 0), ("choice", 0), ("state", 1), ("effect", 0), ("write", 0)]
    for state, random in walked(seed):
        steps = open_steps(MACHINE, state)
        for step in random.sample(steps, min(3, len(steps))):
            after = MACHINE.step(state, step)
            held = {name: v for name, v in places(after, 1).items() if name.startswith("entry")}
            known = [f"(= {name} {v})" for name, v in values(after, 1).items()]
            given = [*constants(state), *choice(step), "step_0"]
            alone = f"(= exclusive_write_0 {str(not not_exclusive(state, step)).lower()})"
            entries = [f"(= {name} {v})" for name, v in held.items()]
            ask(sections, [*given, *known, *entries, alone], "sat")
            # Nothing else may follow; blocks that are taken together may stand in any order.
            if len(step.blocks) < 2:
                known += entries
            ask(sections, [*given, f"(not (and {' '.join(known)}))"], "unsat")
