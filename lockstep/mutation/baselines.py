"""Digests of the engine as it is, made once a campaign, before any mutant is looked at [MUT-7].

A baseline of another machine, or of another version of NumPy, would be no baseline here: it is
made in the same run, under the same binding, by a process that is not mutated. Run as a module,
this is that process: `python -m lockstep.mutation.baselines FOLDER GOLDEN TRAJECTORY`.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from lockstep.errors import LockstepError
from lockstep.mutation import load

SECONDS = 300
"""The longest that the process may take; it takes two."""


def make(folder: Path, golden: Path | None, trajectory: Path | None) -> None:
    """Have the baselines made by a process of its own.

    Args:
        folder: of the model.
        golden: where the golden digests go, None for none.
        trajectory: where the trajectory goes, None for none.

    Raises:
        LockstepError: MUTATION_INSTALLED; MUTATION_BASELINE, the process failed.
    """
    load.require_unmutated("a baseline")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            __name__,
            str(folder),
            *(str(path or "") for path in (golden, trajectory)),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    if done.returncode:
        told = done.stderr.strip().splitlines() or ["nothing"]
        raise LockstepError("MUTATION_BASELINE", str(folder), "baselines", told[-1])


def main(arguments: Sequence[str]) -> int:
    """Write the digests of the model in a folder, and the trajectory of an execution of it."""
    from lockstep.engine.opening import open_model
    from lockstep.fidelity.golden import golden, write_baseline
    from lockstep.mutation.trajectory import write_trajectory

    load.require_unmutated("a baseline")
    folder, file, trajectory = arguments
    opened = open_model(Path(folder))
    if file:
        write_baseline(Path(file), [golden(opened)])
    if trajectory:
        write_trajectory(Path(trajectory), opened.model)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
