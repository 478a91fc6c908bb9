"""MR6-PROCESS: another process with another hash seed gives the same trajectory [REL-17].

Run as a module, it is that process: it reads a job from standard input and writes trajectories
to standard output.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from lockstep.engine.backends import open_backend
from lockstep.engine.checkpoint import read_checkpoint
from lockstep.engine.execute import execute
from lockstep.engine.model import Model
from lockstep.engine.record import parse_trajectory, trajectory_document
from lockstep.errors import LockstepError
from lockstep.mutation.load import module_command
from lockstep.relations.context import Context
from lockstep.relations.replay import CASES, compare_trajectories, record
from lockstep.schedule.schedule import parse_schedule
from lockstep.schedule.workload import parse_workload

CHOSEN = (1, 4, 5)
"""Which of the shapes are replayed: adversarial, tight, and swarm."""

HASH_SEEDS = ("0", "1", "4294967295")
"""PYTHONHASHSEED of each process; 0 switches the randomisation of hashes off."""

SECONDS = 600
"""The longest that a process may take."""

HASHED = "lockstep"
"""The text whose hash tells whether a hash seed took effect."""


def run(context: Context) -> None:
    """Record shapes here, execute them in processes of their own, and compare."""
    recorded = [(CASES[number], *record(context, CASES[number], number)) for number in CHOSEN]
    backend = context.model.backend
    job = {
        "folder": str(context.folder),
        "backend": backend.name,
        "dtype": backend.dtype,
        "runs": [
            {"workload": workload.document(), "schedule": schedule.document()}
            for _, workload, schedule, _ in recorded
        ],
    }
    hashes = set()
    for hash_seed in HASH_SEEDS:
        name = f"process with PYTHONHASHSEED={hash_seed}"
        answer = _ask(context, name, job, hash_seed)
        if answer is None:
            continue
        context.counters["processes"] += 1
        hashes.add(answer["hash"])
        for (case, _, _, first), given in zip(recorded, answer["trajectories"], strict=True):
            execution = f"{name}, {case.name}"
            context.notes.executions += 1
            compare_trajectories(context, execution, first.trajectory, parse_trajectory(given))
    context.counters["hash_seeds"] += len(hashes) if len(hashes) > 1 else 0


def _ask(context: Context, name: str, job: dict[str, Any], hash_seed: str) -> dict[str, Any] | None:
    """Give a job to a process; what it does not answer is a difference."""
    done = subprocess.run(
        module_command("lockstep.relations.replay_process"),
        input=json.dumps(job),
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
    )
    told = done.stderr.strip().splitlines() or ["nothing"]
    context.compare(
        name,
        "",
        None,
        "refusal",
        0,
        done.returncode if not done.returncode else (f"exit status {done.returncode}: {told[-1]}"),
    )
    answer: dict[str, Any] | None = json.loads(done.stdout) if done.returncode == 0 else None
    return answer


def answer(job: dict[str, Any]) -> dict[str, Any]:
    """Execute the runs of a job and give their trajectories, and the hash of a text."""
    backend = open_backend(job["backend"], job["dtype"])
    model = Model(read_checkpoint(Path(job["folder"]), backend.dtype), backend)
    trajectories = [
        trajectory_document(
            execute(
                model, parse_workload(entry["workload"]), parse_schedule(entry["schedule"])
            ).trajectory
        )
        for entry in job["runs"]
    ]
    return {"trajectories": trajectories, "hash": hash(HASHED)}


def main() -> int:
    """Answer the job on standard input."""
    try:
        json.dump(answer(json.load(sys.stdin)), sys.stdout)
    except LockstepError as fault:
        print(f"lockstep: {fault}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
