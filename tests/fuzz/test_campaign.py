"""Campaigns go on after any interruption, and do not depend on what runs them."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from lockstep.errors import LockstepError
from lockstep.fuzz import campaign, lineage
from lockstep.fuzz.campaign import Ran, run_campaign
from lockstep.fuzz.executors import Seeds, here, processes
from lockstep.fuzz.record import parse_record
from lockstep.fuzz.store import Store
from lockstep.fuzz.worker import Subject, perform
from tests.campaign_records import fold

SCRIPT = Path(__file__).with_name("killed_campaign.py")
WANTED = {"swarm": 5, "eviction": 1, "probes": 1}
"""Some rounds of `ROUND` seeds, so that some have parents."""

ROUND = 2


def backwards(wanted: Sequence[Seeds]) -> Iterator[dict[str, Any]]:
    """Run seeds in another order, so that records come back in another order."""
    for population, seeds in reversed(wanted):
        yield perform(Subject(), population, seeds)


def records_of(path: Path) -> list[tuple[str, int, str]]:
    with sqlite3.connect(path) as database:
        rows = database.execute("SELECT population, seed, record FROM records ORDER BY 1, 2")
        return list(rows)


@pytest.fixture(autouse=True, scope="module")
def short_rounds() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for module in (campaign, lineage):
            patch.setattr(module, "round_size", lambda: ROUND)
        yield


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ran]:
    path = tmp_path_factory.mktemp("straight") / "records"
    with Store(path, {}) as store, here(Subject()) as run:
        return path, run_campaign(store, run, WANTED)


def test_records_are_clean_and_read_back(straight: tuple[Path, Ran]) -> None:
    ran = straight[1]
    assert {name: len(own) for name, own in ran.records.items()} == WANTED
    assert {record.outcome for record in ran.all} <= {"clean", "refused"}
    assert any(record.parent is not None for record in ran.records["swarm"])
    assert all(parse_record(record.document()) == record for record in ran.all)


def test_the_predicate_does_not_depend_on_order(straight: tuple[Path, Ran], tmp_path: Path) -> None:
    with Store(tmp_path / "records", {}) as store:
        ran = run_campaign(store, backwards, WANTED)
    assert fold(dict(ran.records)) == fold(dict(straight[1].records))


def test_the_predicate_does_not_depend_on_processes(
    straight: tuple[Path, Ran], tmp_path: Path
) -> None:
    with Store(tmp_path / "records", {}) as store, processes(Subject(), 2) as run:
        ran = run_campaign(store, run, WANTED)
    assert fold(dict(ran.records)) == fold(dict(straight[1].records))
    assert records_of(tmp_path / "records") == records_of(straight[0])


def test_what_is_kept_is_not_run_again(straight: tuple[Path, Ran]) -> None:
    def nothing(wanted: Sequence[Seeds]) -> Iterator[dict[str, Any]]:
        raise AssertionError(wanted)

    told = []
    with Store(straight[0], {}) as store:
        ran = run_campaign(store, nothing, WANTED, lambda done, record: told.append(done))
    assert ran == straight[1]
    assert told == list(range(1, sum(WANTED.values()) + 1))


def test_it_ends_after_the_round_of_a_record(tmp_path: Path) -> None:
    def blank(wanted: Sequence[Seeds]) -> Iterator[dict[str, Any]]:
        for population, seeds in wanted:
            yield {**EMPTY, "population": population, "seed": seeds[-1]}

    with Store(tmp_path / "records", {}) as store:
        ran = run_campaign(
            store, blank, {"swarm": 40, "eviction": 40}, until=lambda record: record.seed == 3
        )
    assert {name: len(own) for name, own in ran.records.items()} == {"swarm": 4}


EMPTY = {
    "population": "swarm", "seed": 0, "parent": None, "case_sha256": "0" * 64,
    "trajectory_sha256": None, "outcome": "not_run", "reason": "MEMORY_SHORT", "requests": 1,
    "steps": 0, "events": 0, "twice": None, "alone": None, "cells": [], "n_grams": [],
    "predicates": [], "failure": None,
}  # fmt: skip


def test_a_seed_is_kept_once(tmp_path: Path) -> None:
    with Store(tmp_path / "records", {}) as store:
        store.add(EMPTY)
        store.add(EMPTY)
        assert list(store.records("swarm")) == [0]
        with pytest.raises(LockstepError, match="REPLAY_DIFFERS"):
            store.add({**EMPTY, "requests": 2})


def test_records_of_another_subject_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "records"
    with Store(path, {"model": "a", "mutation": "none"}) as store:
        store.add(EMPTY)
    with Store(path, {"model": "a", "mutation": "none"}) as store:
        assert len(store.records("swarm")) == 1
    with pytest.raises(LockstepError, match="NOT_COMPARABLE") as caught:
        Store(path, {"model": "b", "mutation": "none"})
    assert caught.value.pointer == f"{path}: model"


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "records"
    path.write_bytes(b"no database, by any means" * 100)
    with pytest.raises(LockstepError, match="FILE_UNREADABLE"):
        Store(path, {})


def kill_and_go_on(path: Path, kills: int, jobs: int, seeds: int) -> int:
    """Kill a campaign at random moments until it is through; gives how often it was killed."""
    draws = random.Random(kills)
    command = [sys.executable, str(SCRIPT), str(path), str(jobs), str(seeds)]
    killed = 0
    while True:
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
        assert child.stdout is not None
        begun = len(records_of(path)) if path.exists() else 0
        if killed < kills:
            # A record or none, then some moment of the next one.
            for _ in range(begun + draws.randrange(2)):
                child.stdout.readline()
            try:
                child.wait(draws.random() * 0.05)
            except subprocess.TimeoutExpired:
                child.send_signal(signal.SIGKILL)
                killed += 1
        child.stdout.read()
        child.stdout.close()
        if child.wait() == 0:
            return killed
        assert child.returncode == -signal.SIGKILL


@pytest.mark.parametrize(
    ("kills", "jobs", "seeds"),
    [
        (3, 1, 4),
        pytest.param(20, 1, 40, marks=pytest.mark.slow),
        pytest.param(20, 2, 40, marks=pytest.mark.slow),
    ],
)
def test_a_campaign_that_is_killed_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kills: int, jobs: int, seeds: int
) -> None:
    path = tmp_path / "records"
    assert kill_and_go_on(path, kills, jobs, seeds) == kills
    monkeypatch.setattr(campaign, "round_size", lambda: 16)
    monkeypatch.setattr(lineage, "round_size", lambda: 16)
    with Store(tmp_path / "straight", {}) as store, here(Subject()) as run:
        run_campaign(store, run, {"swarm": seeds, "eviction": seeds})
    assert records_of(path) == records_of(tmp_path / "straight")


def test_processes_end_with_their_parent(tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPT), str(tmp_path / "records"), "2", "64"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        child.send_signal(signal.SIGKILL)
        # The workers hold ends of the pipe too: it closes as the last of them ends.
        child.communicate(timeout=60)


def test_a_lost_process_is_told(tmp_path: Path) -> None:
    with Store(tmp_path / "records", {}) as store:
        subject = Subject(folder=str(tmp_path / "absent"))
        with pytest.raises(LockstepError), processes(subject, 1) as run:
            run_campaign(store, run, {"swarm": 1})
