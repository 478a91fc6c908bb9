"""NEVER-FITS: what can never fit is refused at submission, and what can is served [REL-23]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lockstep.engine.drive import drive
from lockstep.errors import LockstepError
from lockstep.lifecycle import Pool
from lockstep.relations.context import Context
from lockstep.relations.requests import request
from lockstep.schedule.policies import CONTINUOUS, Batching
from lockstep.schedule.workload import Request, Workload

POOLS = (1, 2, 5)
"""Sizes of pools, in blocks."""

OUTPUTS = 3


def run(context: Context) -> None:
    """Fill each pool exactly; then ask for one token more, in prompt and in output."""
    size = context.block_size
    for blocks in POOLS:
        pool = Pool(blocks, size)
        fitting = request(context, 0, blocks * size - OUTPUTS, max_new=OUTPUTS)
        small = request(context, 1, 1, max_new=2)
        execution = f"{blocks} blocks filled"
        workload = Workload((fitting, replace(small, arrival=1)))
        _, done = context.drive(execution, workload, pool, Batching(CONTINUOUS))
        context.counters["filled_pools"] += 1
        context.compare_with_references(execution, workload, done)
        longer = replace(fitting, id="longer", prompt=(*fitting.prompt, 1))
        further = replace(fitting, id="further", max_new=OUTPUTS + 1)
        for counter, refused in (("refused_prompts", longer), ("refused_outputs", further)):
            late = replace(refused, arrival=3)
            for members in ((refused,), (small, refused), (late, small)):
                context.counters[counter] += _refused(context, counter, members, pool)


def _refused(context: Context, what: str, members: Sequence[Request], pool: Pool) -> bool:
    """Compare what becomes of a workload of which one request cannot fit."""
    stepped = _Steps()
    execution = f"{pool.blocks} blocks, {what}, {len(members)} requests"
    workload = Workload(tuple(members))
    try:
        drive(context.model, workload, pool, Batching(CONTINUOUS), stepped)
        code = "a run"
    except LockstepError as fault:
        code = fault.code
    context.notes.executions += 1
    context.notes.workloads.add(workload.sha256)
    expected = ("REQUEST_NEVER_FITS", 0)
    context.compare(execution, "", None, "refusal", expected, (code, stepped.count))
    return code == "REQUEST_NEVER_FITS"


class _Steps:
    """An observer that counts steps."""

    def __init__(self) -> None:
        self.count = 0

    def after_step(self, view: object) -> None:
        """Count a step."""
        self.count += 1
