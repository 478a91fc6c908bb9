"""One execution, observed for its certificate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lockstep.engine.drive import drive
from lockstep.engine.execute import execute
from lockstep.engine.opening import Opened
from lockstep.engine.run import Run
from lockstep.lifecycle import Pool
from lockstep.schedule.policy import Policy
from lockstep.schedule.schedule import Schedule
from lockstep.schedule.workload import Workload


@dataclass(frozen=True)
class ReplaySeen:
    """An execution, and what it was made of.

    Attributes:
        model: as [RPL-1] states it.
        environment: the environment tuple, read back after the run.
        workload: what was asked for.
        schedule: what was done.
        run: what came of it.
    """

    model: Mapping[str, Any]
    environment: Mapping[str, Any]
    workload: Workload
    schedule: Schedule
    run: Run


def stated_model(opened: Opened) -> dict[str, Any]:
    """Give the model with its stop tokens and its longest sequence [RPL-1]."""
    config = opened.model.config
    return {
        **opened.statement(),
        "stop_tokens": sorted(config.eos_token_ids),
        "max_positions": config.max_position_embeddings,
    }


def observe(opened: Opened, workload: Workload, schedule: Schedule) -> ReplaySeen:
    """Execute a workload under a schedule; errors as `execute`."""
    run = execute(opened.model, workload, schedule)
    return ReplaySeen(stated_model(opened), opened.environment(), workload, schedule, run)


def observe_driven(opened: Opened, workload: Workload, pool: Pool, policy: Policy) -> ReplaySeen:
    """Let a policy run a workload, and keep the schedule that it made; errors as `drive`."""
    schedule, run = drive(opened.model, workload, pool, policy)
    return ReplaySeen(stated_model(opened), opened.environment(), workload, schedule, run)
