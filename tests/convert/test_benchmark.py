"""The benchmark's contestants give the same bytes, and its floors are read as they stand."""

from __future__ import annotations

import pytest

from lockstep.convert.benchmark import CASES, Case, Timed, timed
from lockstep.errors import LockstepError


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case.source} {case.destination} {case.dims}"
)
def test_all_contestants_do_the_same(case: Case) -> None:
    one = timed(case, 1 << 18, 1, threads=1)
    assert set(one.seconds) == {
        "lockstep", "memcpy", "numpy copyto", "numpy transpose", "torch copy_",
        "torch permute().contiguous()", "einops",
    }  # fmt: skip
    assert all(len(times) == 1 and times[0] > 0 for times in one.seconds.values())


def test_a_pattern_that_is_not_the_map_is_told() -> None:
    wrong = CASES[0]._replace(patterns=("b k n h d -> b h k n d",))
    with pytest.raises(LockstepError) as fault:
        timed(wrong, 1 << 18, 1, threads=1)
    assert fault.value.code == "INTERNAL"


@pytest.mark.parametrize(
    ("run", "ours", "memcpy", "other", "holds"),
    [
        (256, 1.0, 0.8, 1.0, True),
        (256, 1.0, 0.79, 2.0, False),
        (2, 1.0, 0.1, 1.0, True),
        (2, 1.0, 0.1, 0.9, False),
    ],
)
def test_the_floors(run: int, ours: float, memcpy: float, other: float, holds: bool) -> None:
    seconds = {"lockstep": [ours], "memcpy": [memcpy], "einops": [other], "numpy": [9.0]}
    assert Timed(CASES[0], run, seconds).holds is holds
