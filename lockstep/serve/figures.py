"""What a server's engine counts, over all of its executions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

BATCH_BOUNDS = (1, 2, 4, 8, 16, 24, 31, 32, 33, 48, 64, 96, 128, 192, 255, 256, 257, 512)
"""Upper bounds of the histogram of requests in a batch: around the widths that kernels turn at."""


@dataclass
class Figures:
    """Figures of a server; the engine's thread alone writes them.

    Attributes:
        running: requests with a reservation in the step at hand, 0 when idle.
        waiting: requests without one.
        blocks_used: blocks that requests hold.
        blocks_cached: blocks that nobody holds and the prefix index offers.
        steps: steps that have ended, counted one by one.
        batches: steps with a batch, by its number of requests.
        batch_requests: sum of these numbers.
        prompt_tokens: tokens of the prompts that were looked up.
        cached_tokens: of these, tokens that first lookups granted.
        generated_tokens: tokens emitted, dropped ones too.
        preemptions: events preempt_rc.
        evictions: events evict.
        executions: executions begun.
        failures: executions that a fault ended.
        outcomes: requests by how they ended: `eos`, `length`, `dropped`, `failed`.
    """

    running: int = 0
    waiting: int = 0
    blocks_used: int = 0
    blocks_cached: int = 0
    steps: int = 0
    batches: Counter[int] = field(default_factory=Counter)
    batch_requests: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    generated_tokens: int = 0
    preemptions: int = 0
    evictions: int = 0
    executions: int = 0
    failures: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)

    def batch(self, requests: int) -> None:
        """Count a batch of so many requests."""
        bound = next((bound for bound in BATCH_BOUNDS if requests <= bound), BATCH_BOUNDS[-1] + 1)
        self.batches[bound] += 1
        self.batch_requests += requests
