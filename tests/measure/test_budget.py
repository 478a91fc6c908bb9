"""Batch budgets from counts of steps alone: found exactly, and refused where nothing fits."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lockstep.measure.budget import Budget, budget, next_length
from lockstep.measure.probes import MOST_DETECTIONS

MOST = 4095


def found(size: int, overhead: int, hint: int | None) -> tuple[Budget, int]:
    """Look for the budget of a server that has it, and give how many prefills that took."""
    seen: list[tuple[int, int]] = []
    while (length := next_length(seen, hint, MOST)) is not None:
        assert length <= MOST
        assert length not in [tokens for tokens, _ in seen]
        seen.append((length, -(-length // size) + overhead))
    return budget(seen), len(seen)


@given(st.integers(2, 4000), st.integers(0, 3), st.sampled_from([None, 16, 512, 2048, 8192]))
def test_a_budget_is_found_exactly(size: int, overhead: int, hint: int | None) -> None:
    told, prefills = found(size, overhead, hint)
    assert told.exact == size
    assert told.overhead == overhead
    assert prefills < MOST_DETECTIONS


def test_what_a_server_says_is_tried_and_not_believed() -> None:
    assert found(512, 1, 512) == (Budget(1, 512, 512), 3)
    assert found(512, 1, 64)[0].exact == 512


def test_a_budget_beyond_the_context_has_a_least_alone() -> None:
    told, _ = found(5000, 1, None)
    assert (told.least, told.greatest, told.exact) == (MOST, None, None)


def test_without_a_prompt_of_one_token_nothing_is_known() -> None:
    assert budget([(512, 2), (1024, 3)]) == Budget(None, None, None)
    assert budget([]) == Budget(None, None, None)


def test_a_counter_of_answers_fits_no_budget_or_none_that_ends() -> None:
    """It counts one whatever the chunks were: a prefill of any length takes one "step"."""
    told = budget([(1, 1), (2048, 1), (16384, 1)])
    assert told == Budget(0, 16384, None)


def test_steps_that_no_budget_gives() -> None:
    told = budget([(1, 1), (100, 1), (101, 3)])
    assert told.least is not None
    assert told.greatest is not None
    assert told.least > told.greatest
    assert told.exact is None
