"""What a policy is shown of a run, and what it gives [SCHED-20]."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from lockstep.errors import LockstepError
from lockstep.lifecycle import State
from lockstep.schedule.schedule import Action
from lockstep.schedule.workload import Request


class View(Protocol):
    """A run after the actions so far of its open step; it changes under the one who looks."""

    @property
    def step(self) -> int:
        """The number of the open step."""

    @property
    def state(self) -> State:
        """The machine's state."""

    @property
    def waiting_arrivals(self) -> int:
        """Requests that have not been submitted yet."""

    def number(self, name: str) -> int | None:
        """Give the number of a submitted request, None for another."""

    def request(self, number: int) -> Request:
        """Give the request of a number."""

    def hit(self, number: int) -> int:
        """Give the number of blocks that a cache_hit of the request would grant now."""

    def ended(self, number: int) -> bool:
        """Whether the request has ended, so that only its finish is left [SCHED-15]."""

    def computing(self, number: int) -> bool:
        """Whether the request has its chunk or decode in the open step."""


class Policy(Protocol):
    """Decides what a run does; one object for one run, since it remembers what it did."""

    def next_action(self, view: View) -> Action | None:
        """Give the next action of the open step, None to end the step."""


class StepPolicy:
    """A policy that gives the actions of a step one after the other, from a generator."""

    def __init__(self) -> None:
        self._open: Iterator[Action] | None = None

    def next_action(self, view: View) -> Action | None:
        """Give the generator's next action; it goes on after the action took effect."""
        if self._open is None:
            self._open = self.actions(view)
        action = next(self._open, None)
        if action is None:
            self._open = None
        return action

    def actions(self, view: View) -> Iterator[Action]:
        """Give the actions of one step, looking at the view anew after each."""
        raise NotImplementedError


def take_step(policy: Policy, view: View, act: Callable[[Action], object]) -> tuple[Action, ...]:
    """Let a policy give the actions of the open step; `act` lets each take effect.

    Raises:
        LockstepError: POLICY_STUCK, no action although no request is still to arrive [SCHED-25];
            and what `act` raises.
    """
    actions: list[Action] = []
    while (action := policy.next_action(view)) is not None:
        act(action)
        actions.append(action)
    if not actions and not view.waiting_arrivals:
        left = sum(request.state != "FINISHED" for request in view.state.requests)
        raise LockstepError(
            "POLICY_STUCK", f"/steps/{view.step}", "an action", f"none, with {left} unfinished"
        )
    return tuple(actions)
