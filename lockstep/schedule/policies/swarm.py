"""Random schedules: each run draws which features it has, then each choice [SCHED-24].

A run in which every feature is on at once hardly ever goes far in any of them; runs that lack some
reach what the others hide (A. Groce et al., Swarm Testing, ISSTA 2012).
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields

from lockstep.schedule.draws import Draws
from lockstep.schedule.policies.compute import (
    admissible,
    admission,
    compute,
    evict,
    preemptible,
)
from lockstep.schedule.policy import StepPolicy, View
from lockstep.schedule.schedule import Action

PREEMPTIONS_PER_REQUEST = 4
"""Preemptions of a run, for each of its requests; past them it only goes forward."""

PAUSES_PER_REQUEST = 12
"""Times that a run lets a request wait which it could have moved on, for each of its requests."""


@dataclass(frozen=True)
class Features:
    """What a run does beside the least that it must; each is on or off for the whole run.

    Attributes:
        lookups: looks the prefix index up.
        chunks: splits prefills at drawn places.
        edges: where it splits, at a block's edge or one beside it, or after one token.
        pauses: lets requests wait between admission, lookup, eviction and computation.
        early_evictions: evicts before it must, also before the lookup.
        preempts_prefills: preempts requests that are prefilling.
        preempts_decodes: preempts requests that are decoding.
        shuffles: draws the order of each batch.
        highest: takes blocks from the highest numbers in drawn steps.
        evicts_highest: evicts from the highest numbers in drawn steps.
        late_finishes: leaves ended requests in their blocks for a while.
        small_batches: keeps at most two requests active.
    """

    lookups: bool
    chunks: bool
    edges: bool
    pauses: bool
    early_evictions: bool
    preempts_prefills: bool
    preempts_decodes: bool
    shuffles: bool
    highest: bool
    evicts_highest: bool
    late_finishes: bool
    small_batches: bool


class Swarm(StepPolicy):
    """A run of drawn features and choices.

    Args:
        seed: of all that is drawn; the same seed makes the same choices in any process.
        features: instead of drawn ones.
    """

    def __init__(self, seed: int, features: Features | None = None) -> None:
        super().__init__()
        self._draws = Draws(seed)
        drawn = Features(**{field.name: self._draws.chance(1, 2) for field in fields(Features)})
        self.features = drawn if features is None else features
        self.max_batch = 2 if self.features.small_batches else 3 + self._draws.below(6)
        self._preemptions = 0
        self._pauses = 0

    def actions(self, view: View) -> Iterator[Action]:
        """Give the actions of one step."""
        idle = True
        for action in self._drawn(view):
            idle = False
            yield action
        if idle and not view.waiting_arrivals:
            yield from self._go_on(view)

    def _drawn(self, view: View) -> Iterator[Action]:
        yield from self._finish(view)
        yield from self._preempt(view)
        while (number := admissible(view.state, self.max_batch)) is not None:
            yield admission(view, number)
            if self._draws.chance(1, 4):
                break
        numbers = self._active(view)
        if self.features.shuffles:
            numbers = self._draws.shuffled(numbers)
        for number in numbers:
            if not view.ended(number):
                yield from self._advance(view, number)

    def _go_on(self, view: View) -> Iterator[Action]:
        """Move the first active request on, where the draws let every one wait."""
        for number in self._active(view)[:1]:
            if view.ended(number):
                yield Action("finish", view.request(number).id)
            else:
                request = view.state.requests[number]
                left = request.known - request.computed
                yield from compute(view, number, left, highest=False, evict_highest=False)

    def _active(self, view: View) -> list[int]:
        return [n for n, request in enumerate(view.state.requests) if request.active]

    def _finish(self, view: View) -> Iterator[Action]:
        for number in self._active(view):
            late = view.ended(number) and self.features.late_finishes and self._pause(view, 1, 2)
            if view.ended(number) and not late:
                yield Action("finish", view.request(number).id)

    def _preempt(self, view: View) -> Iterator[Action]:
        wanted = {
            "PREFILLING": self.features.preempts_prefills,
            "DECODING": self.features.preempts_decodes,
        }
        for number, request in enumerate(view.state.requests):
            most = PREEMPTIONS_PER_REQUEST * len(view.state.requests)
            if self._preemptions >= most or not wanted.get(request.state, False):
                continue
            if preemptible(view, number) and self._draws.chance(1, 4):
                self._preemptions += 1
                yield Action("preempt_rc", view.request(number).id)

    def _advance(self, view: View, number: int) -> Iterator[Action]:
        """Let an active request look up, evict, and compute; each may wait for a later step."""
        if self._draws.chance(1, 2):
            yield from self._evict_early(view, number)
        looks = self.features.lookups and view.state.requests[number].computed == 0
        if looks and view.hit(number) > 0 and self._draws.chance(7, 8):
            yield Action("cache_hit", view.request(number).id)
        yield from self._evict_early(view, number)
        if self.features.pauses and self._pause(view, 1, 3):
            return
        request = view.state.requests[number]
        left = request.known - request.computed
        tokens = self._tokens(left, view.state.pool.block_size) if self.features.chunks else left
        yield from compute(
            view,
            number,
            tokens,
            highest=self.features.highest and self._draws.chance(1, 2),
            evict_highest=self._evicts_highest(),
        )

    def _evict_early(self, view: View, number: int) -> Iterator[Action]:
        """Evict while the guard allows it [LIFE-16] and the draws go on."""
        while self.features.early_evictions and self._draws.chance(1, 2):
            state = view.state
            if not state.evictable or len(state.free) >= state.requests[number].owed(state.pool):
                return
            yield evict(view, number, self._evicts_highest())

    def _tokens(self, left: int, block_size: int) -> int:
        """Draw the tokens of a chunk, all that is left among them."""
        if self._draws.chance(1, 4):
            return left
        if self.features.edges:
            edges = (1, max(1, block_size - 1), block_size, block_size + 1)
            return min(left, self._draws.choice(edges))
        return 1 + self._draws.below(left)

    def _evicts_highest(self) -> bool:
        return self.features.evicts_highest and self._draws.chance(1, 2)

    def _pause(self, view: View, part: int, whole: int) -> bool:
        """Draw whether to wait, as long as the run may."""
        if self._pauses >= PAUSES_PER_REQUEST * len(view.state.requests):
            return False
        drawn = self._draws.chance(part, whole)
        self._pauses += drawn
        return drawn
