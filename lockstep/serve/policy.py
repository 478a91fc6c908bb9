"""The policy that drives a served execution: one of the schedule's, under the server's bounds."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lockstep.errors import LockstepError
from lockstep.schedule.policies import ADVERSARIAL, CONTINUOUS, Batching
from lockstep.schedule.policies.swarm import Swarm
from lockstep.schedule.policy import Policy, View
from lockstep.schedule.schedule import Action

NAMES = ("continuous", "adversarial", "swarm")
"""The policies that serve; `canonical` has no batches."""


@dataclass(frozen=True)
class Driving:
    """How a served execution is driven.

    Attributes:
        policy: a name of `NAMES`.
        max_batch: requests that are active at once; `swarm` draws its own.
        chunk_tokens: tokens that a step computes at most, which cuts prefills into chunks; `swarm`
            draws its own.
        prefix_cache: whether requests look the prefix index up.
        seed: of `swarm`, to which an execution's number is added.

    Raises:
        LockstepError: USAGE, no such policy, or a bound below 1.
    """

    policy: str = "continuous"
    max_batch: int = 256
    chunk_tokens: int = 512
    prefix_cache: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        if self.policy not in NAMES:
            raise LockstepError("USAGE", "--policy", f"one of {', '.join(NAMES)}", self.policy)
        for name in ("max_batch", "chunk_tokens"):
            if getattr(self, name) < 1:
                option = f"--{name.replace('_', '-')}"
                raise LockstepError("USAGE", option, "1 or more", getattr(self, name))


class Served:
    """A policy for one execution, some of whose requests look nothing up.

    Args:
        driving: how to drive.
        execution: the execution's number.

    Attributes:
        without_lookup: ids of requests that look nothing up: those whose prompts are scored, since
            a row that a hit grants is not computed.
    """

    def __init__(self, driving: Driving, execution: int) -> None:
        self.without_lookup: set[str] = set()
        self._lookup = driving.prefix_cache
        self._inner = _inner(driving, execution)

    def next_action(self, view: View) -> Action | None:
        """Give the policy's next action, lookups left out where there are to be none."""
        while True:
            action = self._inner.next_action(view)
            if action is None or action.event != "cache_hit":
                return action
            if self._lookup and action.request not in self.without_lookup:
                return action


def _inner(driving: Driving, execution: int) -> Policy:
    if driving.policy == "swarm":
        return Swarm(driving.seed + execution)
    settings = CONTINUOUS if driving.policy == "continuous" else ADVERSARIAL
    return Batching(
        replace(
            settings,
            max_batch=driving.max_batch,
            token_budget=driving.chunk_tokens,
            lookup=driving.prefix_cache,
        )
    )
