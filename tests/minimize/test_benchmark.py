"""The ten findings, and the other reductions beside this one."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from lockstep.errors import LockstepError
from lockstep.fuzz.case import Case
from lockstep.minimize import benchmark, shrink_ray
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


@pytest.mark.parametrize("name", [*benchmark.picire_settings()][-1:])
def test_picire_reduces_the_same_units_through_the_same_memo(name: str) -> None:
    case, theirs, ours = swarm_case(1), _memo(), _memo()
    reduced = benchmark.picire(**benchmark.picire_settings()[name])(case, theirs, "")
    assert _two_decodes(reduced)
    singles = [without(reduced, (removal,)) for removal in removals(reduced, benchmark.FREE)]
    assert not any(_two_decodes(one) and not Rules().refusal(one) for one in singles)
    assert benchmark.lockstep(case, ours, "") is not None
    assert 0 < ours.checks < theirs.checks


_FAKE = """#!{python}
import subprocess, sys
*_, test, path = sys.argv
lines = open(path).read().split()
def shows(kept):
    open(path + ".try", "w").write("\\n".join(kept))
    return subprocess.run([test, path + ".try"]).returncode == 0
assert shows(lines) and not shows(["x"]) and not shows(["0", "0"]) and not shows(["99999"])
for size in (len(lines) // 8, len(lines) // 16):
    place = 0
    while size and place < len(lines):
        rest = lines[:place] + lines[place + size:]
        if shows(rest):
            lines = rest
        else:
            place += size
open(path, "w").write("\\n".join(lines))
"""


def test_shrink_ray_is_asked_as_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own program needs another Python; one that deletes lines stands in its place here."""
    program = tmp_path / shrink_ray.PROGRAM
    program.write_text(_FAKE.format(python=sys.executable))
    program.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert shrink_ray.missing() == ""
    memo = _memo()
    small = swarm_case(1, requests=1)
    reduced = benchmark.shrink_ray(small, memo, "")
    assert _two_decodes(reduced)
    assert len(units(reduced)) < len(units(small))
    assert memo.checks > 0
    program.write_text(f"#!{sys.executable}\nraise SystemExit('no')")
    with pytest.raises(LockstepError) as caught:
        benchmark.shrink_ray(small, memo, "")
    assert (caught.value.code, caught.value.got) == ("WORKER_ENDED", "no\n")


def test_without_its_program_shrink_ray_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "needs Python 3.12" in shrink_ray.missing()
    with pytest.raises(LockstepError) as caught:
        benchmark.shrink_ray(swarm_case(1), _memo(), "")
    assert caught.value.code == "LIBRARY_MISSING"
