"""A campaign of six operators: each is killed by the observers that should, and by no other."""

import json
from pathlib import Path

import pytest

from lockstep.claims.mutation_totals import outcome, verdict_of
from lockstep.errors import LockstepError
from lockstep.mutation import campaign, load

OBSERVERS = ("MR4", "NEVER-FITS", "TRAJECTORY", "ALWAYS-PASS", "ALWAYS-FAIL")

EXPECTED = {
    "never_fitting_accepted": ["NEVER-FITS"],
    "refcount_leak": ["MR4", "TRAJECTORY"],
    "hash_without_salt": ["MR4"],
    "draw_without_seed": ["TRAJECTORY"],
    "draw_without_position": ["TRAJECTORY"],
    "highest_free_block_first": ["TRAJECTORY"],
}


# One campaign, whichever tests look at it.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("mutation-campaign")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("campaign")


@pytest.fixture(scope="module")
def trials(folder: Path) -> list[dict]:
    return campaign.run_campaign(folder, tuple(EXPECTED), OBSERVERS, jobs=1)


def test_the_control_is_clean_and_the_baselines_have_teeth(trials: list[dict]) -> None:
    control = trials[0]
    assert control["operator"] == load.CONTROL.id
    seen = {cell["observer"]: cell["seen"] for cell in control["cells"]}
    assert seen == {**dict.fromkeys(OBSERVERS, "agrees"), "ALWAYS-FAIL": "differs"}
    assert all(cell["ran"] == cell["live"] == 0 for cell in control["cells"])
    assert all(cell["steps"] > 0 for cell in control["cells"][:3])
    for trial in trials:
        last = [cell["seen"] for cell in trial["cells"][-2:]]
        assert last == ["agrees", "differs"]


@pytest.mark.parametrize("name", EXPECTED)
def test_an_operator_is_killed_by_who_should(name: str, trials: list[dict]) -> None:
    fit = {cell["observer"] for cell in trials[0]["cells"] if cell["seen"] == "agrees"}
    (trial,) = [trial for trial in trials if trial["operator"] == name]
    cells = [{**cell, "outcome": outcome(cell, fit)} for cell in trial["cells"]]
    said, killers = verdict_of(cells, proved=False)
    assert said == "killed"
    assert set(EXPECTED[name]) <= set(killers)
    for cell in cells:
        if cell["outcome"] == "killed":
            assert cell["first_difference"] is not None


def test_a_campaign_goes_on_where_it_was_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []

    def trial(name: str, model: Path, names: list[str]) -> dict:
        made.append(name)
        cells = [{"observer": observer} for observer in names]
        return {"operator": name, "edits_sha256": load.find(name).sha256, "cells": cells}

    monkeypatch.setattr(campaign, "_trial", trial)
    monkeypatch.setattr(campaign, "_prepare", lambda folder, names: folder)
    operators = tuple(EXPECTED)

    def run(observers: tuple[str, ...] = OBSERVERS) -> list[str]:
        made.clear()
        found = campaign.run_campaign(tmp_path, operators, observers, jobs=1)
        return [record["operator"] for record in found]

    names = [load.CONTROL.id, *operators]
    assert run() == made == names
    results = tmp_path / campaign.RESULTS
    lines = results.read_text("ascii").splitlines()
    stale = json.dumps({**json.loads(lines[1]), "sources_sha256": "0" * 64})
    results.write_text("\n".join([lines[0], stale, *lines[2:-1], lines[-1][:40]]), "ascii")
    assert run() == names
    # What was of other sources, and what was cut off.
    assert made == [names[1], names[-1]]
    assert run(("MR4",)) == made == names
    assert run() == names
    assert made == []


def test_what_is_not_known_is_refused(folder: Path) -> None:
    with pytest.raises(LockstepError) as fault:
        campaign.run_campaign(folder, ("no_such",))
    assert fault.value.code == "MUTATION_UNKNOWN"
    with pytest.raises(LockstepError) as fault:
        campaign.run_campaign(folder, ("refcount_leak",), ("no such",))
    assert fault.value.code == "BAD_VALUE"


def test_no_campaign_runs_below_a_mutation(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(load.VARIABLE, "refcount_leak")
    with pytest.raises(LockstepError) as fault:
        campaign.run_campaign(folder)
    assert fault.value.code == "MUTATION_INSTALLED"
