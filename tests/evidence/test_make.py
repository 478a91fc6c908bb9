"""The maker of the relations' certificate, over one run."""

from __future__ import annotations

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from lockstep.evidence.index import statement_of
from lockstep.evidence.make import campaign, relations
from lockstep.evidence.making import Making
from lockstep.fuzz import campaign as fuzzing
from lockstep.relations import run

ISSUED_AT = "2026-11-29T12:00:00Z"


def test_relations_are_run_anew_and_signed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    every = run.plans

    def one(folder: Path, backend: str) -> list[run.Plan]:
        return every(folder, backend, relations=["NEVER-FITS"], block_sizes=[8])

    monkeypatch.setattr(run, "plans", one)
    monkeypatch.setattr(run, "control_plans", lambda folder: [])
    told: list[tuple[str, int, int]] = []

    def progress(what: str, done: int, whole: int) -> None:
        told.append((what, done, whole))

    making = Making(Ed25519PrivateKey.generate(), ISSUED_AT, tmp_path, progress, jobs=1)
    predicate = statement_of(relations(making))["predicate"]
    assert told == [
        ("running the relations", 0, 1),
        ("running the relations", 1, 1),
        ("running the controls", 0, 0),
    ]
    assert predicate["issued_at"] == ISSUED_AT
    assert predicate["verdict"] == "UNPROVEN"
    assert (predicate["counts"]["holds"], predicate["counts"]["not_run"]) == (1, 79)
    assert not any(tmp_path.iterdir())


def test_a_campaign_is_run_anew_and_signed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = {"swarm": 2, "eviction": 1, "probes": 1}
    monkeypatch.setattr(fuzzing, "counted", lambda: few)
    told: list[tuple[str, int, int]] = []

    def progress(what: str, done: int, whole: int) -> None:
        told.append((what, done, whole))

    making = Making(Ed25519PrivateKey.generate(), ISSUED_AT, tmp_path, progress, jobs=1)
    predicate = statement_of(campaign(making))["predicate"]
    assert told == [("fuzzing schedules", done, 4) for done in range(1, 5)]
    assert predicate["issued_at"] == ISSUED_AT
    assert (predicate["verdict"], predicate["counts"]["records"]) == ("UNPROVEN", 4)
    assert not any(tmp_path.iterdir())
