"""What a removal takes with it, by hand [FIND-4] [FIND-5]."""

from __future__ import annotations

import pytest

from lockstep.fuzz.case import Case
from lockstep.lifecycle import Pool
from lockstep.minimize.dimensions import Removal, removals, units
from lockstep.minimize.removals import without
from lockstep.schedule.schedule import Action
from lockstep.schedule.workload import Request, Workload


def steps(text: str) -> tuple[tuple[Action, ...], ...]:
    """Read steps: `admit a, chunk a 3 | decode a @0,1`."""
    return tuple(
        tuple(_action(one.split()) for one in step.split(";") if one.strip())
        for step in text.split("|")
    )


def _action(words: list[str]) -> Action:
    event, name, *rest = words
    tokens = next((int(word) for word in rest if word.isdigit()), 0)
    named = next((word[1:].split(",") for word in rest if word[0] == "@"), [])
    return Action(event, name, tokens, tuple(map(int, named)))


CASE = Case(
    Workload(
        (
            Request("a", (10, 11, 12, 13, 14), 3),
            Request("b", (20,), 1, arrival=2),
            Request("c", (30, 31), 2, arrival=9),
        )
    ),
    Pool(6, 2),
    steps(
        "admit a; chunk a 2 | chunk a 2 @3 | decode a; admit b | preempt_rc a; resume a; "
        "cache_hit a @0; chunk a 2 | decode a; decode b | | decode a | finish b; finish a"
    ),
)


def left(*removed: Removal) -> Case:
    return without(CASE, removed)


def test_the_list_is_that_of_the_rule() -> None:
    places: dict[str, list[tuple[int, ...]]] = {}
    for removal in removals(CASE):
        places.setdefault(removal.dimension, []).append(removal.place)
    assert list(places) == [
        *("requests", "steps", "actions", "prompt_tokens", "new_tokens", "chunk_tokens"),
        *("named_blocks", "arrivals", "pool_blocks", "block_size"),
    ]
    assert places["requests"] == [(0,), (1,), (2,)]
    # The last step is not empty, and stays.
    assert places["steps"] == [(step,) for step in range(7)]
    assert len(places["actions"]) == 14
    assert places["prompt_tokens"] == [*((0, p) for p in range(5)), (2, 0), (2, 1)]
    assert places["new_tokens"] == [(0,), (2,)]
    assert places["chunk_tokens"] == [(0, 1), (1, 0), (3, 3)]
    assert places["named_blocks"] == [(1, 0), (3, 2)]
    assert places["arrivals"] == [(1,), (2,)]
    assert places["pool_blocks"] == places["block_size"] == [()]
    alike = [one.dimension for one in units(CASE)]
    assert alike.count("arrivals") == 11
    assert (alike.count("new_tokens"), alike.count("pool_blocks")) == (3, 5)


def test_a_request_takes_its_actions() -> None:
    found = left(Removal("requests", (0,)))
    assert [request.id for request in found.workload.requests] == ["b", "c"]
    assert found.by == steps("| | admit b | | decode b | | | finish b")
    with pytest.raises(ValueError, match="nothing"):
        left(*(Removal("requests", (number,)) for number in range(3)))


def test_a_boundary_joins_two_steps_and_moves_arrivals() -> None:
    found = left(Removal("steps", (1,)))
    assert found.by[1] == (*CASE.by[1], *CASE.by[2])  # type: ignore[index]
    assert [request.arrival for request in found.workload.requests] == [0, 1, 8]
    # A request that arrives with the first of two joined steps stays where it is.
    assert [r.arrival for r in left(Removal("steps", (2,))).workload.requests] == [0, 2, 8]


def test_a_last_step_that_is_empty_goes() -> None:
    case = Case(CASE.workload, CASE.pool, steps("admit a |"))
    assert [r.place for r in removals(case, ("steps",))] == [(0,), (1,)]
    found = without(case, [Removal("steps", (1,))])
    assert found.by == steps("admit a")
    assert [request.arrival for request in found.workload.requests] == [0, 1, 8]
    assert without(found, [Removal("actions", (0, 0)), Removal("steps", (0,))]).by == ()


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        # An admission takes all that follows of its request.
        ((0, 0), "| | admit b | | decode b | | | finish b"),
        # So does a resumption, and leaves what was before.
        (
            (3, 1),
            "admit a; chunk a 2 | chunk a 2 @3 | decode a; admit b | preempt_rc a | decode b "
            "| | | finish b",
        ),
        # A preemption takes what was computed anew, up to the next decode.
        (
            (3, 0),
            "admit a; chunk a 2 | chunk a 2 @3 | decode a; admit b | | decode a; decode b "
            "| | decode a | finish b; finish a",
        ),
        # Any other goes by itself.
        (
            (1, 0),
            "admit a; chunk a 2 | | decode a; admit b | preempt_rc a; resume a; "
            "cache_hit a @0; chunk a 2 | decode a; decode b | | decode a | finish b; finish a",
        ),
    ],
)
def test_an_action_takes_what_cannot_be_without_it(place: tuple[int, int], expected: str) -> None:
    assert left(Removal("actions", place)).by == steps(expected)


def test_a_preemption_ends_where_another_begins() -> None:
    text = "admit a; chunk a 2 | preempt_rc a; resume a; chunk a 2 | preempt_rc a; resume a"
    case = Case(CASE.workload, CASE.pool, steps(text))
    found = without(case, [Removal("actions", (1, 0))])
    assert found.by == steps("admit a; chunk a 2 | | preempt_rc a; resume a")


@pytest.mark.parametrize(
    ("position", "sizes"),
    [(0, (1, 2, 2)), (1, (1, 2, 2)), (2, (2, 1, 1)), (3, (2, 1, 1)), (4, (2, 2, 2))],
)
def test_a_prompts_token_takes_its_place_in_each_chunk_that_computes_it(
    position: int, sizes: tuple[int, ...]
) -> None:
    """After the resumption a named block of two slots was granted: a chunk begins at 2."""
    found = left(Removal("prompt_tokens", (0, position)))
    request = found.workload.requests[0]
    assert request.prompt == tuple(token for token in range(10, 15) if token != 10 + position)
    chunks = [action.tokens for step in found.by for action in step if action.event == "chunk"]  # type: ignore[union-attr]
    assert tuple(chunks) == sizes


def test_a_chunk_of_which_nothing_is_left_goes() -> None:
    gone = [Removal("prompt_tokens", (0, position)) for position in (0, 1)]
    assert left(*gone).by[0] == steps("admit a")[0]  # type: ignore[index]
    with pytest.raises(ValueError, match="nothing"):
        left(*(Removal("prompt_tokens", (2, position)) for position in range(2)))


def test_a_new_token_takes_the_last_decode_that_has_no_place_any_more() -> None:
    found = left(Removal("new_tokens", (0,)))
    assert found.workload.requests[0].max_new == 2
    assert found.by[6] == ()  # type: ignore[index]
    assert found.by[4] == CASE.by[4]  # type: ignore[index]
    # Where there are no more decodes than may be, all stay.
    assert left(Removal("new_tokens", (2,))).by == CASE.by


def test_numbers_and_names() -> None:
    assert left(Removal("chunk_tokens", (1, 0))).by[1] == steps("chunk a 1 @3")[0]  # type: ignore[index]
    assert left(Removal("named_blocks", (1, 0))).by[1] == steps("chunk a 2")[0]  # type: ignore[index]
    assert left(Removal("arrivals", (1,))).workload.requests[1].arrival == 1
    assert left(Removal("pool_blocks"), Removal("block_size")).pool == Pool(5, 1)
    with pytest.raises(ValueError, match="nothing"):
        left(Removal("block_size", (), 2))
