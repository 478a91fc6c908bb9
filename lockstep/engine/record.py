"""The files of a run: what was done, what came of it, and where [SCHED-26] to [SCHED-28]."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lockstep.certificate import lcj
from lockstep.certificate.write import write_file
from lockstep.engine.execute import Execution
from lockstep.engine.run import Run
from lockstep.engine.trajectory import Parts, Trajectory
from lockstep.lifecycle import Pool
from lockstep.schedule.schedule import Schedule, write_schedule
from lockstep.schedule.workload import Workload, write_workload

WORKLOAD = "workload.json"
SCHEDULE = "schedule.json"
TRAJECTORY = "trajectory.json"
RUN = "run.json"
PARTIAL = "schedule.partial.json"
"""The steps of a run that was interrupted."""


def trajectory_document(trajectory: Trajectory) -> dict[str, Any]:
    """Give a trajectory as a JSON value, its digests in hex [SCHED-27]."""
    chain = trajectory.chain
    return {
        "version": 1,
        "pool": {"blocks": trajectory.pool.blocks, "block_size": trajectory.pool.block_size},
        "start": chain[0].hex(),
        "steps": [
            {**{name: part.hex() for name, part in parts._asdict().items()}, "chain": after.hex()}
            for parts, after in zip(trajectory.steps, chain[1:], strict=True)
        ],
        "sha256": trajectory.sha256,
    }


def parse_trajectory(document: dict[str, Any]) -> Trajectory:
    """Give the trajectory of what `trajectory_document` gave; its chain is made anew."""
    steps = tuple(
        Parts(*(bytes.fromhex(step[name]) for name in Parts._fields)) for step in document["steps"]
    )
    return Trajectory(Pool(**document["pool"]), steps)


def run_document(execution: Execution, run: Run, schedule: Schedule) -> dict[str, Any]:
    """Give what came of a run, with the digests of what it was made of [SCHED-28].

    The backend, its dtype and its environment are read back from what has computed.
    """
    model = execution.model
    return {
        "version": 1,
        "workload_sha256": execution.workload.sha256,
        "schedule_sha256": schedule.sha256,
        "model_digest": model.digest.hex(),
        "backend": model.backend.name,
        "dtype": model.backend.dtype,
        "environment": dict(model.backend.environment()),
        "trajectory_sha256": run.trajectory.sha256,
        "steps": len(run.trajectory.steps),
        "counters": run.counters,
        "outputs": [
            {
                "request": name,
                "reason": output.reason,
                "tokens": list(output.tokens),
                "logit_digests": list(output.logit_digests),
            }
            for name, output in run.outputs.items()
        ],
    }


def write_run(folder: Path, workload: Workload, schedule: Schedule, execution: Execution) -> None:
    """Write a run's four files, each whole or not at all, and run.json last [SCHED-26].

    run.json names the others by digest, so that files of two runs do not pass for one.

    Raises:
        OSError: a file cannot be written.
    """
    run = execution.run()
    folder.mkdir(parents=True, exist_ok=True)
    write_workload(folder / WORKLOAD, workload)
    write_schedule(folder / SCHEDULE, schedule)
    write_file(folder / TRAJECTORY, lcj.encode(trajectory_document(run.trajectory)))
    write_file(folder / RUN, lcj.encode(run_document(execution, run, schedule)))
    # What an earlier run left when it was interrupted is no part of this one.
    (folder / PARTIAL).unlink(missing_ok=True)
