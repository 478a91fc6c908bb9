"""The observer TRAJECTORY: one execution, digest by digest, as the engine as it is gave it [MUT-7].

Outputs alone leave unseen which blocks were taken, evicted and offered, and who waits where. The
execution is that of the committed replay: it preempts, evicts, hits and draws.
"""

from __future__ import annotations

from pathlib import Path

from lockstep.certificate import lcj
from lockstep.certificate.write import write_file
from lockstep.engine.drive import drive
from lockstep.engine.execute import execute
from lockstep.engine.model import Model
from lockstep.engine.record import parse_trajectory, trajectory_document
from lockstep.engine.trajectory import first_difference
from lockstep.mutation.observer import Observer, Seen, Setting
from lockstep.relations.observation import Difference
from lockstep.replay import demonstration
from lockstep.schedule.document import read_document
from lockstep.schedule.schedule import parse_schedule


def write_trajectory(path: Path, model: Model) -> None:
    """Write the schedule and the trajectory of the execution on a model.

    Raises:
        OSError: the file cannot be written.
    """
    requests = demonstration.workload()
    pool = demonstration.pool(requests)
    schedule, run = drive(model, requests, pool, demonstration.adversarial())
    document = {
        "schedule": schedule.document(),
        "trajectory": trajectory_document(run.trajectory),
    }
    write_file(path, lcj.encode(document))


def look(setting: Setting) -> Seen:
    """Execute the schedule again, and compare step by step and part by part."""
    document = read_document(setting.trajectory)
    schedule = parse_schedule(document["schedule"])
    run = execute(setting.model, demonstration.workload(), schedule)
    stated = parse_trajectory(document["trajectory"])
    found = first_difference(stated, run.trajectory)
    if found is None:
        return Seen("agrees")
    step = min(found.step, len(run.trajectory.steps) - 1)
    expected, got = (
        getattr(side.steps[step], found.part, side.sha256) for side in (stated, run.trajectory)
    )
    told = [value.hex() if isinstance(value, bytes) else value for value in (expected, got)]
    return Seen("differs", "", Difference("demonstration", "", found.step, None, found.part, *told))


TRAJECTORY = Observer("TRAJECTORY", look)
