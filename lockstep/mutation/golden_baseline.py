"""Golden digests of the engine as it is, made once a campaign, before any mutant is looked at.

A baseline of another machine, or of another version of NumPy, would be no baseline here: it is
made in the same run, under the same binding, by a process that is not mutated. Run as a module,
this is that process: `python -m lockstep.mutation.golden_baseline FOLDER FILE`.
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


def make(folder: Path, file: Path) -> None:
    """Have a baseline made by a process of its own.

    Args:
        folder: of the model.
        file: where the baseline goes.

    Raises:
        LockstepError: MUTATION_INSTALLED; MUTATION_BASELINE, the process failed.
    """
    load.require_unmutated("golden baseline")
    done = subprocess.run(
        [sys.executable, "-m", __name__, str(folder), str(file)],
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    if done.returncode:
        told = done.stderr.strip().splitlines() or ["nothing"]
        raise LockstepError("MUTATION_BASELINE", str(file), "golden digests", told[-1])


def main(arguments: Sequence[str]) -> int:
    """Write the digests of the model in a folder."""
    from lockstep.engine.opening import open_model
    from lockstep.fidelity.golden import golden, write_baseline

    load.require_unmutated("golden baseline")
    folder, file = arguments
    write_baseline(Path(file), [golden(open_model(Path(folder)))])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
