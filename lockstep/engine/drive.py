"""A policy in the driver's seat: it is shown the state, and says the next action [ENG-20].

It is shown `Execution.view`.
"""

from lockstep.engine.execute import Execution, Observer
from lockstep.engine.model import Model
from lockstep.engine.run import Run
from lockstep.errors import LockstepError
from lockstep.lifecycle import Machine, Pool
from lockstep.limits import SCHEDULE_STEPS
from lockstep.schedule.policy import Policy, take_step
from lockstep.schedule.schedule import Action, Schedule
from lockstep.schedule.workload import Workload


def drive(
    model: Model,
    workload: Workload,
    pool: Pool,
    policy: Policy,
    observer: Observer | None = None,
    machine: Machine | None = None,
) -> tuple[Schedule, Run]:
    """Let a policy run a workload until every request is finished.

    Returns:
        The schedule that the policy made, and the run, which `execute` gives again for it.

    Raises:
        LockstepError: as `execute`; POLICY_STUCK, a step without an action although a request is
            unfinished and none is still to arrive; LIMIT_SIZE, the policy goes on for more steps
            than a schedule may have.
    """
    execution = Execution(model, workload, pool, observer, machine)
    steps = list[tuple[Action, ...]]()
    while execution.unfinished:
        if len(steps) == SCHEDULE_STEPS:
            raise LockstepError("LIMIT_SIZE", "/steps", f"at most {SCHEDULE_STEPS} steps")
        steps.append(take_step(policy, execution.view, execution.act))
        execution.end_step()
    return Schedule(pool, tuple(steps)), execution.run()
