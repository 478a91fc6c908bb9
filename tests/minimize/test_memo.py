"""The memo of tested cases."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from lockstep.errors import LockstepError
from lockstep.fuzz.case import Case
from lockstep.minimize.memo import Memo, Outcome, read_outcomes, write_outcomes
from tests.minimize.conftest import swarm_case

CASES = [swarm_case(seed) for seed in range(5)]


class Counting:
    """Says that one case reproduces, and notes what it was asked."""

    def __init__(self, place: int) -> None:
        self.place = place
        self.asked: list[str] = []

    def __call__(self, cases: Sequence[Case]) -> list[Outcome]:
        self.asked += [case.sha256 for case in cases]
        return [Outcome("reproduces" if c == CASES[self.place] else "passes") for c in cases]


@pytest.mark.parametrize("ahead", [1, 2, 7])
def test_the_first_in_order_is_taken_and_what_is_counted_stays(ahead: int) -> None:
    test = Counting(2)
    memo = Memo(lambda case: "", test, ahead)
    assert memo.first(CASES) == CASES[2]
    assert memo.checks == 3
    assert len(test.asked) == -(-3 // ahead) * ahead if ahead < 7 else 5
    assert memo.first(CASES) == CASES[2]
    assert memo.checks == 3
    assert len(test.asked) == len(set(test.asked))


def test_illegal_cases_are_never_tested() -> None:
    test = Counting(1)
    memo = Memo(lambda case: "STEP_ORDER" if case == CASES[1] else "", test)
    assert memo.first(CASES) is None
    assert memo.outcome(CASES[1]) == Outcome("illegal", "STEP_ORDER")
    assert (memo.checks, memo.refused) == (4, 1)
    assert CASES[1].sha256 not in test.asked


def test_outcomes_are_kept_for_another_search(tmp_path: Path) -> None:
    memo = Memo(lambda case: "", Counting(0))
    list(memo.all(CASES))
    write_outcomes(tmp_path / "memo.json", "subject", memo.outcomes)
    known = read_outcomes(tmp_path / "memo.json", "subject")
    assert known == memo.outcomes
    again = Counting(0)
    second = Memo(lambda case: "", again, known=known)
    assert second.first(CASES) == CASES[0]
    assert (second.checks, again.asked) == (0, [])
    # Outcomes of another failure or engine are no use.
    assert read_outcomes(tmp_path / "memo.json", "another") == {}
    assert read_outcomes(tmp_path / "none.json", "subject") == {}


@pytest.mark.parametrize("text", ["", "[]", '{"subject": "s"}', '{"subject": "s", "outcomes": 3}'])
def test_a_memo_of_another_form_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "memo.json"
    path.write_text(text)
    with pytest.raises(LockstepError) as caught:
        read_outcomes(path, "s")
    assert caught.value.code == "BAD_VALUE"
