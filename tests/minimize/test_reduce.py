"""Reductions of synthetic failures, against every single removal tested by brute force."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.errors import LockstepError
from lockstep.fuzz.case import Case
from lockstep.minimize.dimensions import dimensions, removals, steps_of, units
from lockstep.minimize.legality import Rules
from lockstep.minimize.memo import Memo, Outcome
from lockstep.minimize.reduce import reduce
from lockstep.minimize.removals import without
from tests.minimize.conftest import swarm_case

RULES = Rules()
Shows = Callable[[Case], bool]


def events(case: Case, name: str) -> int:
    return sum(action.event == name for step in steps_of(case) for action in step)


FAILURES: dict[str, Shows] = {
    "two requests": lambda case: len(case.workload.requests) >= 2,
    "a long prompt": lambda case: max(len(r.prompt) for r in case.workload.requests) >= 6,
    "two decodes": lambda case: events(case, "decode") >= 2,
    "a chunk and a decode in one step": lambda case: any(
        {"chunk", "decode"} <= {action.event for action in step} for step in steps_of(case)
    ),
    "an odd number of prompt tokens": lambda case: (
        sum(len(r.prompt) for r in case.workload.requests) % 2 == 1
    ),
    "two block sizes of tokens": lambda case: (
        sum(len(r.prompt) + r.max_new for r in case.workload.requests) >= 2 * case.pool.block_size
    ),
    "a late arrival": lambda case: any(r.arrival >= 1 for r in case.workload.requests),
}


def memo_of(shows: Shows, ahead: int = 1) -> Memo:
    def test(cases: Sequence[Case]) -> list[Outcome]:
        return [Outcome("reproduces" if shows(case) else "passes") for case in cases]

    return Memo(RULES.refusal, test, ahead)


@pytest.mark.parametrize("name", FAILURES)
@pytest.mark.parametrize("seed", [1, 3])
def test_no_single_removal_is_left(name: str, seed: int) -> None:
    shows = FAILURES[name]
    case = next(one for k in range(20) if shows(one := swarm_case(seed + 3 * k, requests=3)))
    found = reduce(case, memo_of(shows))
    assert shows(found.case)
    assert RULES.refusal(found.case) == ""
    singles = [without(found.case, (removal,)) for removal in removals(found.case)]
    assert not any(shows(one) and not RULES.refusal(one) for one in singles)
    assert [removal for removal, _, _ in found.outcomes] == removals(found.case)
    assert [sha256 for _, sha256, _ in found.outcomes] == [one.sha256 for one in singles]
    for one, (_, _, outcome) in zip(singles, found.outcomes, strict=True):
        assert outcome.code == RULES.refusal(one)
        assert (outcome.name == "illegal") == bool(outcome.code)
    assert len(units(found.case)) < len(units(case))


@given(st.integers(0, 3), st.sets(st.sampled_from(sorted(FAILURES)), min_size=1, max_size=3))
@settings(max_examples=5, deadline=None)
def test_several_failures_at_once(seed: int, names: set[str]) -> None:
    case = swarm_case(seed)
    chosen = [FAILURES[name] for name in sorted(names) if FAILURES[name](case)]

    def shows(one: Case) -> bool:
        return all(failure(one) for failure in chosen)

    found = reduce(case, memo_of(shows))
    for removal in removals(found.case):
        one = without(found.case, (removal,))
        assert RULES.refusal(one) or not shows(one)


@pytest.mark.parametrize("name", ["two decodes", "two block sizes of tokens"])
def test_looking_ahead_changes_nothing(name: str) -> None:
    alone, ahead = memo_of(FAILURES[name]), memo_of(FAILURES[name], ahead=5)
    assert reduce(swarm_case(1), alone) == reduce(swarm_case(1), ahead)
    # More may have been tested, but no more is counted.
    assert len(ahead.outcomes) >= len(alone.outcomes)


def test_held_dimensions_stay() -> None:
    case = swarm_case(2)
    free = [name for name in dimensions() if name not in ("prompt_tokens", "pool_blocks")]
    found = reduce(case, memo_of(FAILURES["two decodes"]), free)
    assert found.case.pool.blocks == case.pool.blocks
    kept = {request.id: request.prompt for request in case.workload.requests}
    assert all(request.prompt == kept[request.id] for request in found.case.workload.requests)
    assert {removal.dimension for removal, _, _ in found.outcomes} <= set(free)


def test_what_shows_nothing_is_refused() -> None:
    with pytest.raises(LockstepError) as caught:
        reduce(swarm_case(1), memo_of(lambda case: False))
    assert caught.value.code == "FINDING_NOT_REPRODUCED"


@pytest.mark.parametrize(
    ("where", "most"), [("/steps/0/0", 3), ("/outputs/nobody/3", 40), ("/outputs/r0/0", 40)]
)
def test_the_failures_place_says_where_to_cut(where: str, most: int) -> None:
    case = swarm_case(4)
    cuts: list[int] = []

    def shows(one: Case) -> bool:
        cuts.append(len(steps_of(one)))
        return len(steps_of(one)) >= 1

    found = reduce(case, memo_of(shows), ["steps"], where)
    assert len(steps_of(found.case)) == 1
    assert found.checks <= most
