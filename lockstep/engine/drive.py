"""A policy in the driver's seat: it is shown the state, and says the next action [ENG-20].

What a policy may know is what a scheduler knows: the lifecycle's state, how many blocks a lookup
would grant, which requests have ended. It sees no logits and no tokens of the future.
"""

from typing import Protocol

from lockstep.engine.execute import Execution, Observer
from lockstep.engine.model import Model
from lockstep.engine.run import Run
from lockstep.errors import LockstepError
from lockstep.lifecycle import Machine, Pool, State
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


class Policy(Protocol):
    """Makes a schedule, an action at a time."""

    def next_action(self, view: View) -> Action | None:
        """Give the next action of the open step, or None to end the step."""
        ...


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
            unfinished and none is still to arrive.
    """
    execution = Execution(model, workload, pool, observer, machine)
    view, steps = View(execution), []
    while unfinished := execution.unfinished:
        actions = []
        while (action := policy.next_action(view)) is not None:
            execution.act(action)
            actions.append(action)
        if not actions and not execution.arriving:
            waiting = f"none, and {', '.join(unfinished)} unfinished"
            raise LockstepError("POLICY_STUCK", f"/steps/{view.step}", "an action", waiting)
        execution.end_step()
        steps.append(tuple(actions))
    return Schedule(pool, tuple(steps)), execution.run()
