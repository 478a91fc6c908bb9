"""Delta debugging against brute force."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.minimize.ddmin import largest_removal, least


@given(st.integers(0, 12), st.lists(st.sets(st.integers(0, 11), max_size=4), max_size=4))
@settings(max_examples=200, deadline=None)
def test_nothing_more_can_go(length: int, needed: list[set[int]]) -> None:
    """A failure that shows where all of some set of units is there, for one of several sets."""
    asked: list[tuple[int, ...]] = []

    def shows(gone: tuple[int, ...]) -> bool:
        kept = set(range(length)) - set(gone)
        return any(one <= kept for one in needed)

    def first(sets: Iterator[tuple[int, ...]]) -> tuple[int, ...] | None:
        for one in sets:
            asked.append(one)
            if shows(one):
                return one
        return None

    gone = largest_removal(range(length), first)
    assert len(set(gone)) == len(gone)
    if not shows(()):
        # What does not show at first gives nothing away.
        assert gone == () or shows(gone)
        return
    assert shows(gone)
    kept = [unit for unit in range(length) if unit not in gone]
    assert not any(shows((*gone, unit)) for unit in kept)
    # Each unit that stays was tried beside exactly those that went.
    tried = {frozenset(one) for one in asked}
    assert all(frozenset((*gone, unit)) in tried for unit in kept)


def test_one_needed_unit_of_many_is_cheap() -> None:
    asked = 0

    def first(sets: Iterator[tuple[int, ...]]) -> tuple[int, ...] | None:
        nonlocal asked
        for one in sets:
            asked += 1
            if 700 not in one:
                return one
        return None

    assert len(largest_removal(range(1024), first)) == 1023
    assert asked < 60


@given(st.integers(0, 200), st.integers(0, 200), st.integers(0, 3))
def test_least_of_a_threshold(greatest: int, threshold: int, low: int) -> None:
    if not low <= threshold <= greatest:
        return
    asked: list[int] = []

    def first(numbers: Iterator[int]) -> int | None:
        for number in numbers:
            asked.append(number)
            if number >= threshold:
                return number
        return None

    assert least(greatest, first, low) == threshold
    assert len(asked) <= 9


@given(st.sets(st.integers(0, 40)), st.integers(1, 40))
def test_least_of_anything_is_locally_least(shown: set[int], greatest: int) -> None:
    shown = shown | {greatest}
    found = least(greatest, lambda numbers: next((n for n in numbers if n in shown), None))
    assert found in shown
    assert found == 0 or found - 1 not in shown
