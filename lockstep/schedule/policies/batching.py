"""Continuous batching, from the reference execution to extreme settings [SCHED-21] [SCHED-23]."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from lockstep.errors import LockstepError
from lockstep.schedule.policies.compute import admissible, admission, compute, preemptible
from lockstep.schedule.policy import StepPolicy, View
from lockstep.schedule.schedule import Action

Turn = Literal["never", "always", "alternate"]
"""When a choice is turned round: in no step, in each, or in every other one from step 1."""


@dataclass(frozen=True)
class Settings:
    """What continuous batching leaves open.

    Attributes:
        max_batch: requests that are active at once.
        token_budget: tokens that a step computes; None for no bound.
        chunks: the largest chunks of prefills in turn, each a number or S, S-1, S+1 for the
            pool's block size; empty for no bound but the budget.
        lookup: whether an admitted request looks the prefix index up.
        preempt_after: a request is preempted once for each of these, when it has emitted so many
            tokens: 0 within its prefill.
        preempted: ids of the requests that `preempt_after` is for; None for all.
        order: when a step's batch is in the reverse order.
        take: when blocks are taken from the highest free numbers, named in the schedule.
        evict: when blocks are evicted from the highest numbers, named in the schedule.

    Raises:
        LockstepError: BAD_VALUE, a bound below 1 or a chunk of another form.
    """

    max_batch: int = 8
    token_budget: int | None = 64
    chunks: tuple[str, ...] = ()
    lookup: bool = True
    preempt_after: tuple[int, ...] = ()
    preempted: tuple[str, ...] | None = None
    order: Turn = "never"
    take: Turn = "never"
    evict: Turn = "never"

    def __post_init__(self) -> None:
        for name, bound in (("max_batch", self.max_batch), ("token_budget", self.token_budget)):
            if bound is not None and bound < 1:
                raise LockstepError("BAD_VALUE", name, "1 or more", bound)
        for chunk in self.chunks:
            chunk_tokens(chunk, 2)


def chunk_tokens(chunk: str, block_size: int) -> int:
    """Give the tokens of a chunk as `Settings.chunks` says it, one at least.

    Raises:
        LockstepError: BAD_VALUE, neither a number nor S, S-1 or S+1.
    """
    around = {"S-1": block_size - 1, "S": block_size, "S+1": block_size + 1}
    if chunk in around:
        return max(1, around[chunk])
    if chunk.isascii() and chunk.isdigit() and int(chunk) >= 1:
        return int(chunk)
    raise LockstepError("BAD_VALUE", "chunks", "a number from 1, S, S-1 or S+1", chunk)


class Batching(StepPolicy):
    """Continuous batching under settings; nothing in it is drawn."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.settings = settings
        # Numbers of the active requests, in the order of admission.
        self._active: list[int] = []
        self._chunks = 0
        self._preempted: set[tuple[int, int]] = set()

    def actions(self, view: View) -> Iterator[Action]:
        """Give the actions of one step."""
        yield from self._finish(view)
        victims = [number for number in self._active if self._due(view, number)]
        for number in victims:
            self._active.remove(number)
            yield Action("preempt_rc", view.request(number).id)
        if not victims:
            # Who was preempted in this step would be the first to come back.
            yield from self._admit(view)
        plan = self._plan(view)
        if self._turned(self.settings.order, view):
            plan.reverse()
        for number, tokens in plan:
            yield from compute(
                view,
                number,
                tokens,
                highest=self._turned(self.settings.take, view),
                evict_highest=self._turned(self.settings.evict, view),
            )

    def _finish(self, view: View) -> Iterator[Action]:
        for number in tuple(self._active):
            if view.ended(number):
                self._active.remove(number)
                yield Action("finish", view.request(number).id)

    def _due(self, view: View, number: int) -> bool:
        """Whether a request is to be preempted now, which is noted as done."""
        outputs = view.state.requests[number].outputs
        chosen = self.settings.preempted
        due = (
            outputs in self.settings.preempt_after
            and (number, outputs) not in self._preempted
            and (chosen is None or view.request(number).id in chosen)
            and preemptible(view, number)
        )
        if due:
            self._preempted.add((number, outputs))
        return due

    def _admit(self, view: View) -> Iterator[Action]:
        while (number := admissible(view.state, self.settings.max_batch)) is not None:
            self._active.append(number)
            yield admission(view, number)
            if self.settings.lookup and view.hit(number) > 0:
                yield Action("cache_hit", view.request(number).id)

    def _plan(self, view: View) -> list[tuple[int, int]]:
        """Share the budget out: decoding requests first, then prefills as they were admitted."""
        requests = view.state.requests
        left = self.settings.token_budget
        plan = []
        by_state = sorted(self._active, key=lambda number: requests[number].state != "DECODING")
        for number in by_state:
            request = requests[number]
            tokens = request.known - request.computed
            if request.state != "DECODING":
                tokens = min(tokens, self._largest_chunk(view.state.pool.block_size, tokens))
            tokens = tokens if left is None else min(tokens, left)
            if tokens > 0:
                plan.append((number, tokens))
                left = None if left is None else left - tokens
        return plan

    def _largest_chunk(self, block_size: int, otherwise: int) -> int:
        chunks = self.settings.chunks
        if not chunks:
            return otherwise
        self._chunks += 1
        return chunk_tokens(chunks[(self._chunks - 1) % len(chunks)], block_size)

    def _turned(self, turn: Turn, view: View) -> bool:
        return turn == "always" or (turn == "alternate" and view.step % 2 == 1)
