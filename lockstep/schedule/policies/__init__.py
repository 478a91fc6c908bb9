"""The policies by name [SCHED-21] to [SCHED-24]."""

from collections.abc import Callable

from lockstep.errors import LockstepError
from lockstep.schedule.policies.batching import Batching, Settings
from lockstep.schedule.policies.swarm import Swarm
from lockstep.schedule.policy import Policy

CANONICAL = Settings(max_batch=1, token_budget=None, lookup=False)
"""Each request by itself, its prompt in one step, without lookups."""

CONTINUOUS = Settings()
"""Continuous batching with chunked prefill."""

ADVERSARIAL = Settings(
    token_budget=48,
    chunks=("1", "S-1", "S", "S+1"),
    preempt_after=(0, 1, 2, 4, 8, 16),
    order="alternate",
    take="alternate",
    evict="alternate",
)
"""Extreme chunks, preemptions at powers of two, orders that turn round."""

POLICIES: dict[str, Callable[[int], Policy]] = {
    "canonical": lambda seed: Batching(CANONICAL),
    "continuous": lambda seed: Batching(CONTINUOUS),
    "adversarial": lambda seed: Batching(ADVERSARIAL),
    "swarm": Swarm,
}
"""What makes each policy from a seed; only `swarm` draws, the others have no use for one."""


def policy(name: str, seed: int = 0) -> Policy:
    """Make a policy for one run.

    Raises:
        LockstepError: BAD_VALUE, no policy of this name.
    """
    if name not in POLICIES:
        raise LockstepError("BAD_VALUE", "policy", f"one of {', '.join(POLICIES)}", name)
    return POLICIES[name](seed)


__all__ = ["ADVERSARIAL", "CANONICAL", "CONTINUOUS", "POLICIES", "Batching", "Settings", "policy"]
