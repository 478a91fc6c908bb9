"""What comes of an execution."""

from collections import Counter
from dataclasses import dataclass

from lockstep.engine.events import Event
from lockstep.engine.trajectory import Trajectory
from lockstep.lifecycle.relation import observed_n_grams


@dataclass(frozen=True)
class Output:
    """What a request came to.

    Attributes:
        tokens: what it emitted.
        logit_digests: SHA-256, in hex, of the raw logits that each token was chosen from.
        reason: `eos`, `length`, or `unfinished` where its finish is not in the run.
    """

    tokens: tuple[int, ...]
    logit_digests: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class Run:
    """An execution's outcome.

    Attributes:
        outputs: of each request of the workload, by its id.
        trajectory: digests step by step.
        counters: what was exercised, by the names of `counters.NAMES`.
        events: what took effect, in order.
    """

    outputs: dict[str, Output]
    trajectory: Trajectory
    counters: dict[str, int]
    events: tuple[Event, ...]

    @property
    def unfinished(self) -> tuple[str, ...]:
        """The requests whose finish is not in the run."""
        return tuple(name for name, out in self.outputs.items() if out.reason == "unfinished")

    def logs(self) -> dict[str, tuple[str, ...]]:
        """Give each request's events by name, in the order in which they took effect."""
        logs: dict[str, list[str]] = {name: [] for name in self.outputs}
        for event in self.events:
            logs[event.request].append(event.event)
        return {name: tuple(events) for name, events in logs.items()}

    def n_grams(self, n: int) -> Counter[tuple[str, ...]]:
        """Count the n-grams of events that the requests show [LIFE-3]."""
        return sum((observed_n_grams(log, n) for log in self.logs().values()), Counter())
