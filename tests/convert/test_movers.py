"""Kernels copy what one assignment of NumPy copies, and nothing beside it [CONV-10]."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from math import gcd, prod
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lockstep.convert.copies import Loop
from lockstep.convert.kernels import LINE, once
from lockstep.convert.memory import empty
from lockstep.convert.movers import LONG_RUN, TILE, by_numba, by_numpy, grouped, tile
from lockstep.convert.parts import Part

LENGTHS = [1, 2, 3, 8, 16, 24, 64, 80, 160, 1000, LONG_RUN - 1, LONG_RUN, LONG_RUN + 65]
UNTOUCHED = 0xEE


def steps(counts: list[int], order: list[int], length: int, gaps: list[int]) -> list[int]:
    """Lay loops out in memory, the last of `order` innermost, each with a gap behind its turns."""
    found, size = [0] * len(counts), length
    for place in reversed(order):
        found[place] = size + gaps[place]
        size = found[place] * counts[place]
    return found


def bytes_of(part: Part, side: int) -> int:
    return part.length + sum((loop.times - 1) * abs(loop[side]) for loop in part.loops)


@st.composite
def drawn(draw: Any) -> tuple[Part, int]:
    """Draw a part whose runs lie apart, some loops going backwards, and a skew of memory."""
    length = draw(st.sampled_from(LENGTHS))
    most = max(2, min(150, 60_000 // length))
    counts = draw(st.lists(st.integers(1, 9), min_size=0, max_size=3))
    counts.append(draw(st.integers(1, most // min(most, prod(counts)) + 1)))
    sides = []
    for _ in range(2):
        order = draw(st.permutations(range(len(counts))))
        gaps = [draw(st.sampled_from([0, 0, 0, 1, 64])) for _ in counts]
        signs = [draw(st.sampled_from([1, 1, 1, -1])) for _ in counts]
        sides.append(
            [
                sign * step
                for sign, step in zip(signs, steps(counts, order, length, gaps), strict=True)
            ]
        )
    loops = tuple(Loop(*one) for one in zip(counts, *sides, strict=True))
    starts = [-sum(min(0, loop[side]) * (loop.times - 1) for loop in loops) for side in (1, 2)]
    return Part(0, 0, *starts, length, loops), draw(st.sampled_from([0, 0, 1, 16]))


@settings(max_examples=150, deadline=None)
@example((Part(0, 0, 0, 0, 80, (Loop(8, 80, 23 * LINE), Loop(18, 640, 80))), 0), True)
@example((Part(0, 0, 0, 0, 64, (Loop(9, 128, 64),)), 0), False)
@given(drawn(), st.booleans())
def test_a_kernel_copies_as_numpy_does(one: tuple[Part, int], past_cache: bool) -> None:
    part, skew = one
    source = np.random.default_rng(7).integers(0, 256, bytes_of(part, 1), dtype=np.uint8)
    found, due = (empty(skew + bytes_of(part, 2) + LINE) for _ in range(2))
    for memory in (found, due):
        memory.fill(UNTOUCHED)
    by_numba(part, source, found[skew:], past_cache)
    by_numpy(part, source, due[skew:])
    assert np.array_equal(found, due)


@pytest.mark.parametrize("past_cache", [True, False])
@pytest.mark.parametrize("length", [8, 16, 24, 64, 80, 160, 256, 656, 1000, 2040])
def test_groups_are_copied_as_numpy_does(length: int, past_cache: bool) -> None:
    """Each length as one of its own or not, in pieces of 8, 16 and 32 bytes."""
    times = 2 * LINE // gcd(LINE, length)
    backwards = Loop(3, -8 * times * length, 8 * times * length)
    loops = (backwards, Loop(8, length, times * length), Loop(times, 8 * length, length))
    part = Part(0, 0, 2 * 8 * times * length, LINE, length, loops)
    source = np.random.default_rng(7).integers(0, 256, bytes_of(part, 1), dtype=np.uint8)
    found, due = (empty(bytes_of(part, 2) + 2 * LINE) for _ in range(2))
    for memory in (found, due):
        memory.fill(UNTOUCHED)
    assert grouped(length, found.ctypes.data + LINE, loops) is not None
    by_numba(part, source, found, past_cache)
    by_numpy(part, source, due)
    assert np.array_equal(found, due)


def test_of_many_threads_one_builds() -> None:
    built = []

    @once
    def slow(width: int) -> Any:
        time.sleep(0.05)
        built.append(width)
        return width

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(slow, [1] * 8)) == [1] * 8
    assert built == [1]


@pytest.mark.parametrize("length", [1, 2, 16, 80, 160, 1000, LONG_RUN - 1])
@pytest.mark.parametrize(("first", "second"), [(1024, 4096), (8, 16), (3, 2), (4096, 2)])
def test_a_tile_is_of_the_loops_and_stays_small(length: int, first: int, second: int) -> None:
    rows, columns = tile(length, Loop(first, length, 1), Loop(second, 1, length))
    assert 1 <= rows <= first
    assert 1 <= columns <= second
    assert rows * columns == 1 or rows * columns * length <= TILE


@pytest.mark.parametrize(
    ("length", "times", "turns"),
    [(8, 16, 16), (16, 16, 8), (16, 12, 4), (32, 16, 4), (48, 16, 4), (64, 16, 2), (64, 7, 1),
     (80, 16, 4), (160, 16, 2), (256, 16, 2)],
)  # fmt: skip
def test_a_group_fills_lines_of_runs_that_touch(length: int, times: int, turns: int) -> None:
    heads, tokens = Loop(8, length, times * length), Loop(times, 8 * length, length)
    whole = Loop(times // turns, turns * 8 * length, turns * length)
    due = [whole, heads, Loop(turns, 8 * length, length)]
    assert grouped(length, 0, (heads, tokens)) == due
    assert grouped(length, 0, (Loop(1, 5, length), heads, tokens)) == due


@pytest.mark.parametrize(
    ("length", "to", "loops"),
    [
        (160, 32, (Loop(8, 160, 2560), Loop(16, 1280, 160))),
        (160, 0, (Loop(8, 160, 2592), Loop(16, 1280, 160))),
        (160, 0, (Loop(8, 160, 2560), Loop(15, 1280, 160))),
        (160, 0, (Loop(8, 160, 192),)),
        (64, 8, (Loop(8, 160, 192),)),
    ],
)
def test_there_is_no_group_where_lines_stay_in_part(
    length: int, to: int, loops: tuple[Loop, ...]
) -> None:
    assert grouped(length, to, loops) is None


def test_runs_of_lines_that_lie_apart_are_a_group_each() -> None:
    loop = Loop(8, 160, 192)
    assert grouped(128, LINE, (loop,)) == [loop, Loop(1, 0, 0)]
