"""Shares of a copy: all of it, each once, none of them empty."""

from __future__ import annotations

import pytest

from lockstep.convert.copies import Loop
from lockstep.convert.parts import LEAST_SHARE, Part, shared

WIDE = Loop(4096, 32, 32 * 4096), Loop(4096, 32 * 4096, 32)


@pytest.mark.parametrize("threads", [2, 3, 64, 65, 100, 128])
@pytest.mark.parametrize(
    ("length", "loops"),
    [
        (32, WIDE),
        # So many turns that shares begin at lines, and fewer.
        (8192, (Loop(100_003, 8192, 8200),)),
        (1 << 20, (Loop(499, 1 << 20, -(1 << 20)), Loop(2, 1 << 30, 1 << 30))),
        (1 << 20, (Loop(7, 1 << 20, 1 << 21),)),
        (1 << 30, ()),
    ],
)
def test_shares_are_all_of_a_copy(length: int, loops: tuple[Loop, ...], threads: int) -> None:
    whole = Part(0, 0, 5, 7 << 40, length, loops)
    cut = shared(whole, threads)
    assert 1 <= len(cut) <= threads
    assert all(one.length and all(loop.times for loop in one.loops) for one in cut)
    longest = max(range(len(loops)), key=lambda at: loops[at].times, default=-1)
    source, destination, turns = whole.source, whole.destination, 0
    for one in cut:
        assert (one.source, one.destination) == (source, destination)
        step = one.loops[longest] if loops else Loop(one.length, 1, 1)
        source += step.times * step.source
        destination += step.times * step.destination
        turns += step.times
        assert [loop[1:] for loop in one.loops] == [loop[1:] for loop in loops]
    assert turns == (loops[longest].times if loops else length)


@pytest.mark.parametrize(("tokens", "threads", "step"), [(2048, 3, 32), (5000, 2, 64), (40, 3, 1)])
def test_shares_are_of_steps_that_keep_lines_whole(tokens: int, threads: int, step: int) -> None:
    loops = Loop(32, 1 << 14, 1 << 30), Loop(tokens, 1 << 19, 1 << 14)
    whole = Part(0, 0, 0, 0, 1 << 14, loops)
    cut = shared(whole, threads)
    assert len(cut) == threads
    turns = [one.loops[1].times for one in cut]
    assert all(one % step == 0 for one in turns[:-1])
    assert max(turns) - min(turns) < 2 * step


def test_little_is_not_shared() -> None:
    whole = Part(0, 0, 0, 0, 64, (Loop(2 * LEAST_SHARE // 64 - 1, 64, 64),))
    assert shared(whole, 16) == [whole]
