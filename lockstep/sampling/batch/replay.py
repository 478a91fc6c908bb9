"""Verdicts on positions, many at a time [SAMP-33].

A position that is honest, or from which another token is drawn, is judged here. What else may be
wrong with one is found by looking at it alone: so are the reasons those of `one_by_one`, however
many positions there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

import numpy as np

from lockstep import spec
from lockstep.sampling.batch import numbers, texts
from lockstep.sampling.batch.numbers import Integers, Mask
from lockstep.sampling.batch.weights import (
    Block,
    Powers,
    masses,
    powers,
    takes,
    weigh_powers,
)
from lockstep.sampling.document import Request, Signed
from lockstep.sampling.number import is_token
from lockstep.sampling.replay import FRAUD, one_by_one, replay_position, right_numbers, uncovered
from lockstep.sampling.rng import u64
from lockstep.sampling.seed import derive_seeds

_ROWS = 1 << 11
"""Of a block, at most."""
_ENTRIES = 1 << 18
"""Of a block of long rows: so few that it takes some 20 MB, so many that a sum's steps are long."""
_UNSURE = 1e-5
"""So near to a bound a mass in binary64 decides nothing."""
_PIECE = 1 << 12
"""Pairs that are read at once."""


@dataclass
class Effort:
    """What a replay in batches came to.

    Attributes:
        positions: judged in all.
        alone: of these, those that were looked at one by one.
        exponentials: computed exactly, since binary64 did not decide them.
        apportionments: likewise.
    """

    positions: int = 0
    alone: int = 0
    exponentials: int = 0
    apportionments: int = 0


def in_batches(request: Request, choice: int, first: int, positions: Sequence[Signed]) -> list[str]:
    """Give the reasons of consecutive positions, those of `one_by_one`.

    Raises:
        LockstepError: as `one_by_one`.
    """
    return Replay(request, choice, first, positions).reasons()


@dataclass
class Replay:
    """Consecutive positions of a sequence, replayed in blocks."""

    request: Request
    choice: int
    first: int
    positions: Sequence[Signed]
    effort: Effort = field(default_factory=Effort)

    def reasons(self) -> list[str]:
        """Give the reasons of the positions.

        Raises:
            LockstepError: as `one_by_one`.
        """
        self.effort.positions += len(self.positions)
        if uncovered(self.request) or not takes(self.request.parameters):
            self.effort.alone += len(self.positions)
            return one_by_one(self.request, self.choice, self.first, self.positions)
        found: dict[int, str] = {}
        for chosen in self._blocks():
            found.update(self._judged(chosen))
        return [
            found[index] if index in found else self._alone(index)
            for index in range(len(self.positions))
        ]

    def _alone(self, index: int) -> str:
        self.effort.alone += 1
        position, signed = self.first + index, self.positions[index]
        return replay_position(self.request, self.choice, position, signed).reason

    def _support(self, index: int) -> texts.Pairs:
        return self.positions[index].support or ()

    def _blocks(self) -> Iterator[list[int]]:
        """Give positions with as many tokens as there must be, those of like number together."""
        sizes = [len(signed.support or ()) for signed in self.positions]
        # Stop tokens are masked at the first positions, where so many fewer may be signed.
        masked = self.request.min_tokens - self.first
        early, late = (right_numbers(self.request, at) for at in (0, self.request.min_tokens))
        right = [
            index
            for index, size in enumerate(sizes)
            if size and size in (early if index < masked else late)
        ]
        right.sort(key=sizes.__getitem__)
        while right:
            longest = sizes[right[min(_ROWS, len(right)) - 1]]
            rows = min(_ROWS, max(1, _ENTRIES // longest))
            yield right[:rows]
            right = right[rows:]

    def _judged(self, chosen: list[int]) -> dict[int, str]:
        """Judge positions; those that are left out are to be looked at alone."""
        block, well = self._read(chosen)
        if not well.all():
            chosen = [index for index, good in zip(chosen, well.tolist(), strict=True) if good]
            block = Block(block.units[well], block.there[well])
        if not chosen:
            return {}
        given = powers(block, self.request.parameters.temperature)
        sound = self._massive(block, chosen) & self._cut(given, block, chosen)
        whole = numbers.total(given.values)
        weighed = weigh_powers(given, whole, block.there, self.request.parameters)
        self.effort.exponentials += weighed.exponentials
        self.effort.apportionments += weighed.rows
        return self._drawn(weighed.weights, sound, chosen)

    def _read(self, chosen: list[int]) -> tuple[Block, Mask]:
        """Read supports, the longest of them the last, and tell which are well."""
        sizes = np.array([len(self._support(index)) for index in chosen])
        there: Mask = np.arange(sizes[-1]) < sizes[:, np.newaxis]
        units, well = np.zeros(there.shape, np.int64), np.zeros(len(chosen), np.bool_)
        step = max(1, _PIECE // int(sizes[-1]))
        for start in range(0, len(chosen), step):
            rows = slice(start, start + step)
            supports = [self._support(index) for index in chosen[rows]]
            read = texts.read(supports) or texts.read(list(map(texts.lined, supports)))
            if read is not None:
                units[rows][there[rows]] = read.units
                positions = np.array(chosen[rows]) + self.first
                well[rows] = self._well(read, positions, sizes[rows])
        return Block(units, there), well

    def _well(self, read: texts.Read, positions: Integers, sizes: Integers) -> Mask:
        """Tell which positions have nothing but tokens in order, and log-probabilities."""
        starts = np.cumsum(sizes) - sizes
        good = read.well & texts.below(read.keys, self.request.vocab_size)
        rising = read.keys[1:] > read.keys[:-1]
        rising[starts[1:] - 1] = True
        good[1:] &= rising
        masked = positions < self.request.min_tokens
        if self.request.stop_tokens and masked.any():
            stops = np.array([texts.key(str(token)) for token in self.request.stop_tokens])
            good &= ~(np.isin(read.keys, stops) & np.repeat(masked, sizes))
        well: Mask = np.logical_and.reduceat(good, starts)
        return well

    def _massive(self, block: Block, chosen: list[int]) -> Mask:
        """Tell which supports surely have the mass that they must have [SAMP-31]."""
        data = spec.load("sampling.json")
        masked = np.array(chosen) + self.first < self.request.min_tokens
        early, late = (self.request.available(at) for at in (0, self.request.min_tokens))
        unsigned = np.where(masked, early, late) - block.there.sum(axis=1)
        mass, least = masses(block)
        sound: Mask = (mass < float(data["mass_most"]) - _UNSURE) & (
            mass + unsigned * least > float(data["mass_least"]) + _UNSURE
        )
        return sound

    def _cut(self, given: Powers, block: Block, chosen: list[int]) -> Mask:
        """Tell where the cut of min_p lies within the support, and next to its end [SAMP-30]."""
        least = self.request.parameters.min_p
        if self.request.rule != "min_p" or least is None:
            return np.ones(len(chosen), np.bool_)
        most: int = spec.load("sampling.json")["support_most"]
        below = block.there & (given.values.keys < numbers.least_key(Decimal(least)))
        dropped = below.sum(axis=1)
        whole = [
            len(self._support(index)) == min(most, self.request.available(self.first + index))
            for index in chosen
        ]
        found: Mask = (dropped == 1) | ((dropped == 0) & np.array(whole))
        return found

    def _drawn(self, weights: Integers, sound: Mask, chosen: list[int]) -> dict[int, str]:
        """Draw a token for each position, and compare it with what was sampled."""
        positions = [self.first + index for index in chosen]
        seeds = derive_seeds(self.request.origin, self.choice, positions)
        total: int = spec.load("sampling.json")["total"]
        # The total divides 2^64, so that no draw is passed over [SAMP-3].
        points = np.array([u64(seed, 0) for seed in seeds], dtype=np.uint64) % np.uint64(total)
        places = (
            (np.cumsum(weights, axis=1) <= points.astype(np.int64)[:, np.newaxis])
            .sum(axis=1)
            .tolist()
        )
        found = {}
        for index, place, holds in zip(chosen, places, sound.tolist(), strict=True):
            token = self.positions[index].token
            if not holds:
                continue
            if self._support(index)[place][0] == token:
                found[index] = ""
            elif is_token(token, self.request.vocab_size):
                found[index] = FRAUD
        return found
