"""What a ledger tells a policy: the state, what a lookup would grant, who has ended [SCHED-20].

It is what a scheduler knows; no logits and no tokens are in it.
"""

from lockstep.engine.ledger import Ledger
from lockstep.lifecycle import State
from lockstep.schedule.workload import Request, Workload


class LedgerView:
    """A run after the actions so far of its open step, as `lockstep.schedule.policy.View` asks.

    Args:
        ledger: what is looked at; it changes under the one who looks.
        workload: all requests, those that are still to arrive among them.
    """

    def __init__(self, ledger: Ledger, workload: Workload) -> None:
        self.workload = workload
        self._ledger = ledger

    @property
    def step(self) -> int:
        """The number of the open step."""
        return self._ledger.step

    @property
    def state(self) -> State:
        """The machine's state; requests stand in it by number."""
        return self._ledger.state

    @property
    def arriving(self) -> tuple[Request, ...]:
        """The requests that are still to be submitted, in the order of submission."""
        return self.workload.submission[len(self.state.requests) :]

    @property
    def waiting_arrivals(self) -> int:
        """How many requests are still to be submitted."""
        return len(self.arriving)

    @property
    def unfinished(self) -> tuple[str, ...]:
        """The ids of requests that are not finished, those still to arrive among them."""
        states = self.state.requests
        return tuple(
            request.id
            for number, request in enumerate(self.workload.submission)
            if number >= len(states) or states[number].state != "FINISHED"
        )

    def number(self, name: str) -> int | None:
        """Give the number of a submitted request, None for another."""
        return self._ledger.number(name)

    def request(self, number: int) -> Request:
        """Give the request of a number."""
        return self._ledger.request(number)

    def hit(self, number: int) -> int:
        """Give the number of blocks that a cache_hit of the request would grant now."""
        return len(self._ledger.prefix(number))

    def ended(self, number: int) -> bool:
        """Whether only finish is left: a token that ends it was emitted, or the last one."""
        return self._ledger.ended(number)

    def computing(self, number: int) -> bool:
        """Whether the request has its chunk or decode in the open step, and so no other action."""
        return self._ledger.computes(number)
