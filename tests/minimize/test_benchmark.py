"""The ten findings, and the other reductions beside this one."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from lockstep.fuzz.case import Case
from lockstep.minimize import benchmark
from lockstep.minimize.dimensions import removals, steps_of, units
from lockstep.minimize.legality import Rules
from lockstep.minimize.memo import Memo, Outcome
from lockstep.minimize.removals import without
from lockstep.minimize.worker import Engine, Workers
from lockstep.mutation.operators import operators
from tests.minimize.conftest import swarm_case


def test_there_are_ten_of_ten_operators() -> None:
    found = benchmark.findings()
    assert len({one.mutation for one in found}) == len(found) == 10
    assert {one.mutation for one in found} <= set(operators())
    for one in found:
        assert Rules(one.mutation).refusal(one.case) == ""
        assert len(units(one.case)) > 50


@pytest.mark.slow
@pytest.mark.parametrize("one", benchmark.findings(), ids=lambda one: one.mutation)
def test_each_shows_under_its_operator_alone(one: benchmark.Finding) -> None:
    with Workers(Engine(one.mutation)) as workers:
        assert workers.show(one.case).failure is not None
    if not Rules().refusal(one.case):
        with Workers(Engine()) as workers:
            assert workers.show(one.case).failure is None


def _memo() -> Memo:
    def test(cases: Sequence[Case]) -> list[Outcome]:
        return [Outcome("reproduces" if _two_decodes(case) else "passes") for case in cases]

    return Memo(Rules().refusal, test)


def _two_decodes(case: Case) -> bool:
    return sum(action.event == "decode" for step in steps_of(case) for action in step) >= 2


@pytest.mark.parametrize("name", benchmark.picire_settings())
def test_picire_reduces_the_same_units_through_the_same_memo(name: str) -> None:
    case, theirs, ours = swarm_case(1), _memo(), _memo()
    reduced = benchmark.picire(**benchmark.picire_settings()[name])(case, theirs, "")
    assert _two_decodes(reduced)
    singles = [without(reduced, (removal,)) for removal in removals(reduced, benchmark.FREE)]
    assert not any(_two_decodes(one) and not Rules().refusal(one) for one in singles)
    assert benchmark.lockstep(case, ours, "") is not None
    assert 0 < ours.checks < theirs.checks


def test_shrink_ray_is_not_run_for_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.version_info", (3, 11, 0))
    assert benchmark.shrink_ray_missing() == "it needs Python 3.12, this is 3.11"
    monkeypatch.setattr("sys.version_info", (3, 12, 0))
    assert benchmark.shrink_ray_missing() in ("", "it is not installed")
