"""MR6: the same workload and schedule give the same trajectory [REL-16]."""

from dataclasses import dataclass

from lockstep.engine.run import Run
from lockstep.engine.trajectory import Parts, Trajectory
from lockstep.relations.context import Context
from lockstep.schedule.policies import policy
from lockstep.schedule.schedule import Schedule
from lockstep.schedule.workload import Workload
from lockstep.schedule.workloads import Kind, Shape, make_workload, pool_for

REPLAYS = 2
"""Executions of each recorded schedule."""


@dataclass(frozen=True)
class Case:
    """A shape of workload and the policy that it runs under.

    Attributes:
        kind: of the workload.
        policy: its name.
        requests: how many there are.
        tight: whether the pool holds only the largest request.
    """

    kind: Kind
    policy: str
    requests: int = 5
    tight: bool = False

    @property
    def name(self) -> str:
        """What the case is called in a difference."""
        return f"{self.kind}, {self.policy}{', tight' if self.tight else ''}"


CASES = (
    Case("edges", "continuous"),
    Case("edges", "adversarial"),
    Case("edges", "swarm", tight=True),
    Case("prefixes", "continuous"),
    Case("prefixes", "adversarial", tight=True),
    Case("prefixes", "swarm"),
    Case("prefixes", "continuous", requests=8, tight=True),
    Case("splits", "continuous", requests=2),
)
"""Eight shapes: each kind of workload and each policy, over pools with room and without."""


def run(context: Context) -> None:
    """Run each shape, and its schedule again, and compare their trajectories."""
    for number, case in enumerate(CASES):
        workload, schedule, first = record(context, case, number)
        context.counters["shapes"] += 1
        for replay in range(REPLAYS):
            name = f"replay {replay + 1} of {case.name}"
            again = context.execute(name, workload, schedule)
            context.counters["replays"] += 1
            compare_trajectories(context, name, first.trajectory, again.trajectory)
            for request in workload.requests:
                expected, got = first.outputs[request.id], again.outputs[request.id]
                context.compare_outputs(name, request, expected, got)


def record(context: Context, case: Case, number: int) -> tuple[Workload, Schedule, Run]:
    """Run a case under its policy, and give workload, schedule and run."""
    shape = Shape(
        kind=case.kind,
        requests=case.requests,
        vocab_size=context.model.config.vocab_size,
        block_size=context.block_size,
        max_new=6,
    )
    seed = len(CASES) * context.seed + number
    workload = make_workload(shape, seed)
    pool = pool_for(workload, context.block_size, case.tight)
    schedule, run = context.drive(case.name, workload, pool, policy(case.policy, seed))
    return workload, schedule, run


def compare_trajectories(
    context: Context, execution: str, expected: Trajectory, got: Trajectory
) -> None:
    """Compare the parts of each step, then the numbers of steps."""
    for step, (left, right) in enumerate(zip(expected.steps, got.steps, strict=False)):
        differing = [
            name
            for name, mine, other in zip(Parts._fields, left, right, strict=True)
            if mine != other
        ]
        part = differing[0] if differing else "emitted"
        sides = (getattr(left, part).hex(), getattr(right, part).hex())
        context.compare(execution, "", step, part, *sides)
    lengths = (len(expected.steps), len(got.steps))
    context.compare(execution, "", None, "length", *lengths)
