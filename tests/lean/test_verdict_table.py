"""The table that Lean compares with its own function is the reviewed one, row by row."""

from itertools import product

import pytest

from lockstep import spec
from lockstep.lean import verdict_table
from lockstep.vectors import cases

SEEN = {True: ".madeTrue", False: ".madeFalse", None: ".notMade"}


def _module() -> str:
    return verdict_table.files()[verdict_table.PATH]


def test_the_committed_module_is_what_the_generator_gives() -> None:
    committed = spec.root().parent / "lean" / verdict_table.PATH
    assert committed.read_text("utf-8") == _module()


def test_each_assignment_stands_once_and_in_order() -> None:
    lines = [line for line in _module().splitlines() if line.startswith("  (⟨")]
    wanted = [", ".join(SEEN[value] for value in row) for row in product(SEEN, repeat=4)]
    assert [line[4:].partition("⟩")[0] for line in lines] == wanted


def test_a_frontier_code_is_given_by_its_place_in_the_registry() -> None:
    lines = [line for line in _module().splitlines() if line.startswith("  (") and "⟨" in line[4:]]
    numbers = {int(line[3 : line.index(",")]) for line in lines}
    assert numbers == set(range(len(spec.load("hunt.json")["frontier_codes"])))


def test_a_verdict_that_is_none_is_no_table(monkeypatch: pytest.MonkeyPatch) -> None:
    first, *others = cases.load("verdict")
    wrong = cases.Case(**{**vars(first), "expect": {"value": {"verdict": "EXACT"}}})
    monkeypatch.setattr(verdict_table, "load", lambda _: (wrong, *others))
    with pytest.raises(KeyError):
        verdict_table.files()
