"""A campaign for a test to kill: prints a line for each record that is kept."""

from __future__ import annotations

import sys
from pathlib import Path

from lockstep.fuzz.campaign import run_campaign
from lockstep.fuzz.executors import here, processes
from lockstep.fuzz.store import Store
from lockstep.fuzz.worker import Subject


def main(path: str, jobs: int, seeds: int) -> None:
    wanted = {"swarm": seeds, "eviction": seeds}
    executor = here(Subject()) if jobs == 1 else processes(Subject(), jobs)
    with Store(Path(path), {"test": "killed"}) as store, executor as run:
        run_campaign(store, run, wanted, lambda done, record: print(done, flush=True))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
