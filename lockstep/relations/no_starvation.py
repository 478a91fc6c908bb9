"""NO-STARVATION: every request that is admitted to the queue is served in its turn [REL-24]."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from lockstep.engine.execute import StepView
from lockstep.relations.context import Context
from lockstep.relations.requests import request
from lockstep.schedule.policies import policy
from lockstep.schedule.policy import Policy
from lockstep.schedule.workload import Workload

SMALL = 12
LARGE = 4
"""The place of the large request among the small ones."""


@dataclass
class Queue:
    """An observer of the queue.

    Attributes:
        steps: requests waiting for their first admission, summed over steps.
        large_behind: whether the large request waited behind others.
    """

    steps: int = 0
    large_behind: bool = False

    def after_step(self, view: StepView) -> None:
        """Count who waits."""
        ledger = view.execution.ledger
        state = ledger.state
        self.steps += sum(state.requests[n].state == "QUEUED" for n in state.queue)
        large = ledger.number("large")
        self.large_behind |= large in state.queue and state.queue[0] != large


def run(context: Context) -> None:
    """Let a large request come between small ones, over a pool that it needs by itself."""
    size, draws = context.block_size, context.draws
    members = [
        request(context, n, 1 + draws.below(size), max_new=2 + draws.below(5), arrival=n // 2)
        for n in range(SMALL)
    ]
    large = request(context, SMALL, 3 * size, max_new=4, arrival=LARGE // 2)
    members.insert(LARGE + 1, replace(large, id="large"))
    workload = Workload(tuple(members))
    pool = context.tight_pool(members)
    policies: tuple[tuple[str, Callable[[], Policy]], ...] = (
        ("continuous", lambda: policy("continuous")),
        ("adversarial", lambda: policy("adversarial")),
        *((f"swarm {n}", lambda n=n: policy("swarm", context.seed * 8 + n)) for n in range(4)),
    )
    for name, make in policies:
        queue = Queue()
        _, done = context.drive(name, workload, pool, make(), queue)
        context.counters["steps_queued"] += queue.steps
        context.counters["large_behind_small"] += queue.large_behind
        context.compare_with_references(name, workload, done)
        admitted = [event.request for event in done.events if event.event == "admit"]
        for place, member in enumerate(workload.submission):
            got = admitted[place] if place < len(admitted) else "none"
            context.compare(name, member.id, place, "order", member.id, got)
