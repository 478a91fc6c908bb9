"""A campaign on a cluster is the campaign."""

from __future__ import annotations

import builtins
import importlib.util
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lockstep.errors import LockstepError
from lockstep.fuzz.campaign import run_campaign
from lockstep.fuzz.executors import here
from lockstep.fuzz.ray_executor import cluster
from lockstep.fuzz.store import Store
from lockstep.fuzz.worker import Subject

SCRIPT = Path(__file__).with_name("ray_campaign.py")
RAY = importlib.util.find_spec("ray") is not None
needs_ray = pytest.mark.skipif(not RAY, reason="Ray is not installed (extra ray): not run")


def records_of(path: Path) -> list[tuple[str, int, str]]:
    with sqlite3.connect(path) as database:
        return list(database.execute("SELECT * FROM records ORDER BY population, seed"))


@pytest.mark.slow
@needs_ray
def test_two_nodes_give_the_records_of_this_process(tmp_path: Path) -> None:
    seeds = 20
    done = subprocess.run(
        [sys.executable, SCRIPT, tmp_path / "ray", str(seeds)],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "2"
    with Store(tmp_path / "here", {}) as store, here(Subject()) as run:
        run_campaign(store, run, {"swarm": seeds, "eviction": seeds})
    assert records_of(tmp_path / "ray") == records_of(tmp_path / "here")


@needs_ray
def test_no_cluster_at_the_address() -> None:
    refused = pytest.raises(LockstepError, match=r"CLUSTER_UNREACHABLE at 127\.0\.0\.1:1: ")
    with refused, cluster(Subject(), "127.0.0.1:1"):
        pass


def test_without_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def missing(name: str, *arguments: Any, **named: Any) -> Any:
        if name == "ray":
            raise ImportError(name)
        return real(name, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(LockstepError, match="LIBRARY_MISSING"), cluster(Subject(), "auto"):
        pass
