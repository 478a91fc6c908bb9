"""Trials of the certifier: what they ask, what they keep, and two of them for real."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from lockstep.certify import faults
from lockstep.certify.cells import planned
from lockstep.certify.observation import Failure, Seen
from lockstep.certify.trials import Trial, trials
from lockstep.certify.watch import EnoughSeen
from lockstep.claims.detection_shown import shown
from lockstep.errors import LockstepError
from tests import certification_records, detection_records
from tests.refusals import refused

EVERY = {one.name: one for one in trials()}


def test_a_trial_asks_for_the_default_plan_of_its_server() -> None:
    visible = faults.config(EVERY["refcount_leak"])
    assert visible.plan == {"lifetimes": 1} and visible.timeout == faults.REQUEST_SECONDS
    assert visible.budget is None, "a budget would make the plan smaller"
    assert visible.launch is not None
    assert visible.launch.text.endswith("--fault refcount_leak")
    assert faults.config(EVERY["none"]).plan == {"lifetimes": 20}


def watched(deadline: float, seen: Seen) -> tuple[faults.FirstDifference, int]:
    """Give a watcher after all rounds that it took, and how many there were."""
    watch = faults.FirstDifference(deadline)
    watch.planned(None, dict(seen.plan), planned(seen.plan), None)  # type: ignore[arg-type]
    count = 0
    try:
        for at, cell in enumerate(seen.cells):
            for one in cell.rounds:
                count += 1
                watch.made(at, one)
    except EnoughSeen:
        pass
    return watch, count


def test_a_run_is_ended_by_the_first_observation() -> None:
    later = time.monotonic() + 3600
    clean = certification_records.seen()
    whole = sum(len(cell.rounds) for cell in clean.cells)
    watch, count = watched(later, clean)
    assert (watch.ended, count) == (None, whole)
    for twist in (detection_records.differing, detection_records.failing):
        watch, count = watched(later, certification_records.seen(None, twist))
        assert watch.ended is not None and count < whole
    watch, count = watched(0, clean)
    assert (watch.ended, count) == (None, 1)


class Server:
    """Stands for the certifier; counts what it is asked."""

    def __init__(self, seen: Seen | LockstepError) -> None:
        self.seen = seen
        self.asked: list[Any] = []

    async def observe(self, config: Any, records: Any, watch: Any) -> Seen:
        self.asked.append(config)
        if isinstance(self.seen, LockstepError):
            raise self.seen
        return self.seen


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Callable[[Seen | LockstepError], Server]:
    def put(seen: Seen | LockstepError) -> Server:
        server = Server(seen)
        monkeypatch.setattr(faults, "observe", server.observe)
        return server

    return put


def run(folder: Path, *chosen: str) -> list[dict[str, Any]]:
    key = Ed25519PrivateKey.generate()
    return faults.run_trials(folder, key, lambda: detection_records.ISSUED_AT, chosen)


def test_what_is_recorded_is_not_made_again(
    tmp_path: Path, serve: Callable[[Seen], Server]
) -> None:
    server = serve(certification_records.seen(None, detection_records.differing))
    (first,) = run(tmp_path, "refcount_leak")
    (again,) = run(tmp_path, "refcount_leak")
    assert first == again and len(server.asked) == 1
    assert first["shown"]["sort"] == "difference"
    assert first["certificate"]["verdict"] == "DIVERGENT"
    assert (tmp_path / "detection" / "refcount_leak.cert.json").is_file()
    path = tmp_path / "refcount_leak.json"
    record = json.loads(path.read_text())
    record["declared"]["edits_sha256"] = "0" * 64
    path.write_text(json.dumps(record))
    run(tmp_path, "refcount_leak")
    assert len(server.asked) == 2, "a record of other edits is of another fault"
    path.write_text(json.dumps({**json.loads(path.read_text()), "sources_sha256": "0" * 64}))
    run(tmp_path, "refcount_leak")
    assert len(server.asked) == 3, "a record of other sources is of another engine"
    path.write_text("{")
    with pytest.raises(LockstepError) as caught:
        run(tmp_path, "refcount_leak")
    assert caught.value.code == "MALFORMED_JSON"


def test_rounds_of_other_sources_or_another_trial_are_not_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans: list[Any] = []

    async def observe(config: Any, records: Any, watch: Any) -> Seen:
        plans.append(records.plan)
        records.begin({"made": "up"})
        raise LockstepError("ENDPOINT_DOWN", "--endpoint", "a server that answers", "none")

    monkeypatch.setattr(faults, "observe", observe)
    for _ in range(2):
        refused("ENDPOINT_DOWN", lambda: run(tmp_path, "none"))
    assert plans == [None, {"made": "up"}], "an interrupted trial goes on"
    document = faults.Trial.document
    changes: list[tuple[Any, str, Any]] = [
        (faults, "_sources_sha256", lambda: "0" * 64),
        (faults.Trial, "document", lambda trial: {**document(trial), "edits_sha256": "0" * 64}),
    ]
    for where, name, other in changes:
        with monkeypatch.context() as changed:
            changed.setattr(where, name, other)
            fault = refused("USAGE", lambda: run(tmp_path, "none"))
        assert fault.hint is not None and "--fresh" in fault.hint
    assert len(plans) == 2


def test_a_server_that_answers_nothing_is_recorded(
    tmp_path: Path, serve: Callable[[LockstepError], Server]
) -> None:
    serve(LockstepError("ENDPOINT_REFUSES", "--endpoint", "an answer", "dropped"))
    (record,) = run(tmp_path, "refcount_leak")
    assert record["certificate"] is None
    assert record["shown"]["sort"] == "no_answer"
    assert record["shown"]["told"] == "ENDPOINT_REFUSES: dropped"
    with pytest.raises(LockstepError):
        run(tmp_path, "none")
    serve(LockstepError("LIBRARY_MISSING", "serve", "starlette", "none"))
    with pytest.raises(LockstepError):
        run(tmp_path, "finish_frees_nothing")


def test_a_trial_of_another_backend_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LockstepError) as caught:
        run(tmp_path, "triton_log_probabilities_of_first")
    assert caught.value.code == "USAGE"


def test_failures_are_of_the_request_that_failed() -> None:
    run_ = certification_records.seen(None, detection_records.failing)
    told = shown(run_)
    assert told is not None and told["failure"]["request"] == 1
    assert Failure(1, "timeout").kind == told["failure"]["kind"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "sorts"), [("refcount_leak", {"failure", "difference"}), ("exp_cut_short", {None})]
)
def test_a_visible_fault_is_caught_and_an_invisible_one_is_not(
    name: str, sorts: set[str | None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = ("prefix_equal", "full_hit")
    asked = faults.config

    def smaller(trial: Trial) -> Any:
        whole = asked(trial)
        return replace(whole, plan={**whole.plan, "cases": few, "cache": ("warm",)})

    monkeypatch.setattr(faults, "config", smaller)
    (record,) = run(tmp_path, name)
    told = record["shown"]
    assert (None if told is None else told["sort"]) in sorts
    assert record["elapsed_us"] < 300_000_000
    if told is None:
        assert record["certificate"]["verdict"] != "DIVERGENT"
