"""The oversized request: the finding of the committed certificate finding-wedge.

A request whose need exceeds the pool waits at the head of the queue for ever, and everyone behind
it. The engine refuses it at submission; the operator takes that guard away.
"""

from __future__ import annotations

from lockstep.fuzz.lineage import Lineage, case_of
from lockstep.minimize.observe import FindingSeen, observe
from lockstep.minimize.worker import Engine

MUTATION = "never_fitting_accepted"
SEED = 3598
"""Of the swarm: a fresh case with a pool of 2 blocks of 32, too small for one of its requests."""

HELD = dict.fromkeys(
    ("pool_blocks", "block_size"), "the configuration of the subject, which operators choose"
)


def found(backend: str = "host", jobs: int = 1) -> FindingSeen:
    """Find and reduce it; errors as `observe`."""
    return observe(
        case_of(Lineage("swarm", (SEED,))),
        Engine(MUTATION, backend=backend),
        source=f"population swarm, seed {SEED}, a fresh case",
        held=HELD,
        jobs=jobs,
    )
