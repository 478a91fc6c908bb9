"""How the committed certificates about sampling are made."""

from __future__ import annotations

import tempfile
from pathlib import Path

from lockstep.evidence.making import COMMAND, Making


def sampled(making: Making) -> bytes:
    """Sample sequences of a tiny model, judge them from what is signed alone, and sign."""
    from lockstep.issue_sampling import issue_sampling
    from lockstep.sampling.demonstration import document
    from lockstep.sampling.observe import judge

    making.progress("sampling sequences", 0, 1)
    return issue_sampling(
        judge(document(making.backend)),
        [making.key],
        issued_at=making.issued_at,
        command=COMMAND,
    ).certificate


def distances(making: Making) -> bytes:
    """Compute a ladder of a tiny model, from honest schedules to another model, and sign it."""
    from lockstep.issue_distance import issue_distance_calibration
    from lockstep.sampling.ladder import HONEST, observe
    from lockstep.sampling.recast import blended

    with tempfile.TemporaryDirectory() as scratch:
        folder = blended(Path(scratch, "tiny"))
        seen = observe(folder, Path(scratch), making.progress)
    return issue_distance_calibration(
        seen, HONEST, [making.key], issued_at=making.issued_at, command=COMMAND
    ).certificate


def experiments(making: Making) -> bytes:
    """Ask the questions about reproducible sampling of the engine, and sign what was seen."""
    from lockstep.issue_sampling_experiments import issue_sampling_experiments
    from lockstep.sampling.experiments import observe

    with tempfile.TemporaryDirectory() as scratch:
        seen = observe(Path(scratch), making.progress)
    return issue_sampling_experiments(
        seen, [making.key], issued_at=making.issued_at, command=COMMAND
    ).certificate
