"""A policy in the driver's seat: it is shown the state, and says the next action [ENG-20].

What a policy may know is what a scheduler knows: the lifecycle's state, how many blocks a lookup
would grant, which requests have ended. It sees no logits and no tokens of the future.
"""

from lockstep.engine.execute import Execution, Observer
from lockstep.engine.model import Model
from lockstep.engine.run import Run
from lockstep.errors import LockstepError
from lockstep.lifecycle import Machine, Pool, State
from lockstep.limits import SCHEDULE_STEPS
from lockstep.schedule.policy import Policy, take_step
from lockstep.schedule.schedule import Action, Schedule
from lockstep.schedule.workload import Request, Workload


class View:
    """What a policy is shown: the state after the actions so far of the open step.

    Args:
        execution: what is driven.
    """

    def __init__(self, execution: Execution) -> None:
        self._execution = execution
        self._ledger = execution.ledger

    @property
    def step(self) -> int:
        """The number of the open step."""
        return self._ledger.step

    @property
    def state(self) -> State:
        """The lifecycle's state; requests stand in it by number."""
        return self._ledger.state

    @property
    def waiting_arrivals(self) -> int:
        """How many requests have not arrived yet."""
        return len(self._execution.arriving)

    def number(self, name: str) -> int | None:
        """Give the number of a request that has arrived, None for another."""
        return self._ledger.number(name)

    def request(self, number: int) -> Request:
        """Give the request of a number."""
        return self._ledger.request(number)

    def hit(self, number: int) -> int:
        """Give how many blocks a cache_hit would grant now."""
        return len(self._ledger.prefix(number))

    def ended(self, number: int) -> bool:
        """Whether only finish is left: a token that ends it was emitted, or the last one."""
        return self._ledger.ended(number)

    def computing(self, number: int) -> bool:
        """Whether the request has its chunk or decode in this step, and so no further action."""
        return self._ledger.computes(number)


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
    view, steps = View(execution), list[tuple[Action, ...]]()
    while execution.unfinished:
        if len(steps) == SCHEDULE_STEPS:
            raise LockstepError("LIMIT_SIZE", "/steps", f"at most {SCHEDULE_STEPS} steps")
        steps.append(take_step(policy, view, execution.act))
        execution.end_step()
    return Schedule(pool, tuple(steps)), execution.run()
