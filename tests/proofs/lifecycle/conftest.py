"""What both solvers answer to the trace queries, asked once."""

from __future__ import annotations

import pytest

from lockstep.proofs.lifecycle.transition_system import Run, foils, witnesses
from lockstep.proofs.solvers import Answered, decide, solvers


@pytest.fixture(scope="session")
def answered() -> dict[str, tuple[Run, Answered]]:
    by = solvers()
    return {run.query.name: (run, decide(run.query, by)) for run in (*witnesses(), *foils())}
