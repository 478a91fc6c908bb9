"""The experiments, made small: every role and every measure is observed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lockstep import spec
from lockstep.claims.sampling_experiments import bits, outcome, predicate
from lockstep.issue_sampling_experiments import check_size, issue_sampling_experiments
from lockstep.sampling import experiments_computed
from lockstep.sampling.experiments import Scale, observe
from lockstep.sampling.forced import Text
from tests import experiments_records as records
from tests.refusals import refused


@pytest.mark.parametrize(
    ("differing", "text"),
    [
        ((True,), "8"),
        ((False, False, False, True), "1"),
        ((True, False, True, False, True), "a8"),
        ((False,) * 9, "000"),
    ],
)
def test_bits_are_written_earliest_first(differing: tuple[bool, ...], text: str) -> None:
    assert bits(differing) == text


def test_an_experiment_without_its_roles_was_not_run() -> None:
    assert outcome(1, [], []) == outcome(4, records.series(), []) == "not_run"
    assert outcome(1, records.series(), []) == "shown"


def test_a_process_that_fails_is_no_observation(tmp_path: Path) -> None:
    text = Text("text-0", (1, 2), (3,))
    rows = [np.zeros((1, 4), np.float32)]
    refused("INTERNAL", lambda: experiments_computed._process(tmp_path / "none", [text], rows))


@pytest.mark.parametrize(
    ("name", "pointer"),
    [
        ("series_most", "/series"),
        ("series_positions_most", "/series"),
        ("positions_most", "/series"),
        ("distances_most", "/distances"),
        ("entry_values_most", "/distances"),
        ("values_most", "/distances"),
    ],
)
def test_what_no_certificate_holds_is_not_signed(
    monkeypatch: pytest.MonkeyPatch, name: str, pointer: str
) -> None:
    seen = records.experiments()
    positions = [len(one.differing) for one in seen.series]
    values = [len(one.values) for one in seen.distances]
    most = {
        "series_most": len(positions), "series_positions_most": max(positions),
        "positions_most": sum(positions), "distances_most": len(values),
        "entry_values_most": max(values), "values_most": sum(values),
    }  # fmt: skip
    data = {**spec.load("sampling-experiments.json"), **most}
    monkeypatch.setattr(spec, "load", lambda path: data)
    check_size(seen)
    data[name] -= 1

    def issued() -> None:
        issue_sampling_experiments(seen, [], issued_at="2026-11-30T00:00:00Z", command="test")

    found = refused("LIMIT_SIZE", issued)
    assert (found.pointer, found.got) == (pointer, most[name])


@pytest.mark.slow
def test_every_role_is_observed(tmp_path: Path) -> None:
    told: list[int] = []
    seen = observe(tmp_path, lambda what, done, whole: told.append(done), Scale(1, 8, 4, 1))
    data = spec.load("sampling-experiments.json")
    roles = {(one["experiment"], one["role"]) for one in data["roles"]}
    assert {(one.experiment, one.role) for one in seen.series} == roles
    sides = {
        (one["experiment"], one[side], one["measure"])
        for one in data["orders"]
        for side in ("left", "right")
    }
    assert {(one.experiment, one.role, one.measure) for one in seen.distances} == sides
    folded = predicate(seen, issued_at="2026-11-30T00:00:00Z", producer=records.PRODUCER)
    assert folded["counts"]["replay_differing"] == folded["counts"]["not_run"] == 0
    assert folded["counts"]["replay_positions"] == 4 * 8 + 4 * 40
    assert told == [0, 1, 2, 3, 4]
