"""The producer's machine and the verifier's, step by step over the same random runs."""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from lockstep import spec
from lockstep.errors import LockstepError
from lockstep.lifecycle import Machine, Pool, State, Step, claims
from lockstep.lifecycle.explore import open_steps
from lockstep.lifecycle.state import empty
from lockstep_verify.derive.lifecycle_machine import Machine as Verifiers

WEAKENINGS = ["", *(entry["name"] for entry in spec.load("lifecycle.json")["weakenings"])]


def document(step: Step) -> dict[str, Any]:
    return {
        "request": step.request,
        "event": step.event,
        "tokens": step.tokens,
        "blocks": list(step.blocks),
        "published": list(step.published),
    }


def facts(machine: Machine, state: State) -> tuple[Any, ...]:
    requests = [(r.state, r.computed, r.outputs, list(r.table), r.known) for r in state.requests]
    return (
        list(state.references),
        list(state.cached),
        requests,
        list(state.queue),
        state.slack,
        claims.stuck(machine, state),
    )


def facts_of_verifier(machine: Verifiers) -> tuple[Any, ...]:
    requests = [(r.state, r.computed, r.outputs, r.table, r.known) for r in machine.requests]
    return (
        machine.references,
        machine.cached,
        requests,
        machine.queue,
        machine.slack(),
        machine.stuck(),
    )


def altered(step: Step, random: Random) -> Step:
    """A step with one of its members drawn anew, which its guard may or may not hold for."""
    blocks = tuple(random.sample(range(4), random.randint(0, 2)))
    return random.choice(
        (
            replace(step, request=random.randint(-1, 3)),
            replace(step, event=random.choice((*Machine().relation.events, "abort"))),
            replace(step, tokens=random.randint(0, 4)),
            replace(step, blocks=blocks),
            replace(step, blocks=step.blocks[:-1] + step.blocks[:1]),
            replace(step, published=blocks),
            replace(step, published=step.published * 2),
        )
    )


def takes(machine: Machine, state: State, step: Step) -> bool:
    try:
        machine.step(state, step)
    except LockstepError as fault:
        assert fault.code == "EVENT_NOT_ALLOWED"
        return False
    return True


@pytest.mark.parametrize("weakening", WEAKENINGS)
def test_machines_agree(weakening: str) -> None:
    """A run ends where a weakened rule has broken the invariant: beyond it nothing is stated."""
    ours = Machine(weakened=frozenset(filter(None, [weakening])))
    random, answers = Random(7), Counter[bool]()
    for _ in range(12):
        theirs, state = Verifiers(4, 2, weakening), empty(Pool(4, 2))
        for _ in range(3):
            lengths = (random.randint(1, 5), random.randint(1, 3))
            assert theirs.submit(*lengths)
            state = ours.submit(state, *lengths)
        while (steps := open_steps(ours, state)) and not claims.broken(state):
            for step in [altered(random.choice(steps), random) for _ in range(8)]:
                copied = copy.deepcopy(theirs)
                answers[taken := copied.take(document(step))] += 1
                assert taken == takes(ours, state, step)
                if not taken:
                    assert facts_of_verifier(copied) == facts_of_verifier(theirs)
            step = random.choice(steps)
            assert theirs.writes_alone(document(step)) == claims.exclusive_write(state, step)
            assert theirs.take(document(step))
            state = ours.step(state, step)
            assert facts_of_verifier(theirs) == facts(ours, state)
            assert theirs.miscounts() != claims.references_match_holders(state)
    assert min(answers[True], answers[False]) > 100
