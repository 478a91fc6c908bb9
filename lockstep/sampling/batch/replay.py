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
from lockstep.sampling.batch.weights import Block, Powers, masses, powers, takes, weigh_powers
from lockstep.sampling.document import Request, Signed
from lockstep.sampling.number import is_token
from lockstep.sampling.replay import FRAUD, one_by_one, replay_position, right_number, uncovered
from lockstep.sampling.rng import u64
from lockstep.sampling.seed import derive_seeds

_ENTRIES = 1 << 15
"""Of a block, so that its arrays stay in a core's cache."""
_COLUMNS = 1 << 12
"""Of a block, at most."""
_COLUMNS_LEAST = 1 << 9
"""Of a block of long columns, over which what a row costs is spread."""


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
        sizes = [len(self._support(index)) for index in range(len(self.positions))]
        right = [
            index
            for index, size in enumerate(sizes)
            if size and right_number(self.request, self.first + index, size)
        ]
        right.sort(key=sizes.__getitem__)
        while right:
            columns = min(_COLUMNS, max(_COLUMNS_LEAST, _ENTRIES // sizes[right[0]]))
            yield right[:columns]
            right = right[columns:]

    def _judged(self, chosen: list[int]) -> dict[int, str]:
        """Judge positions; those that are left out are to be looked at alone."""
        read = texts.read([self._support(index) for index in chosen])
        if read is None:
            chosen = [index for index in chosen if texts.plain(self._support(index))]
            read = texts.read([self._support(index) for index in chosen])
        if not chosen or read is None:
            return {}
        sizes = np.array([len(self._support(index)) for index in chosen])
        well = self._well(read, np.array(chosen) + self.first, sizes)
        block = _block(read.units, sizes, well)
        chosen = [index for index, good in zip(chosen, well.tolist(), strict=True) if good]
        if not chosen:
            return {}
        mass = masses(block)
        given = powers(block, self.request.parameters.temperature)
        sound = self._massive(mass, block, chosen) & self._cut(given, block, chosen)
        weighed = weigh_powers(given, block.there, self.request.parameters)
        self.effort.exponentials += mass.fallbacks + weighed.exponentials
        self.effort.apportionments += weighed.columns
        return self._drawn(weighed.weights, sound, chosen)

    def _well(self, read: texts.Read, positions: Integers, sizes: Integers) -> Mask:
        """Tell which positions have nothing but tokens in order, and log-probabilities."""
        starts = np.cumsum(sizes) - sizes
        rising = np.diff(read.order, prepend=0) > 0
        rising[starts] = True
        good = read.well & rising & (read.tokens < self.request.vocab_size)
        masked = positions < self.request.min_tokens
        if self.request.stop_tokens and masked.any():
            stops = np.isin(read.tokens, np.array(self.request.stop_tokens, dtype=np.int64))
            good &= ~(stops & np.repeat(masked, sizes))
        well: Mask = np.logical_and.reduceat(good, starts)
        return well

    def _massive(self, mass: Powers, block: Block, chosen: list[int]) -> Mask:
        """Tell which supports have the mass that they must have [SAMP-31]."""
        data = spec.load("sampling.json")
        signed = numbers.total(mass.values)
        keys = np.where(block.there, mass.values.keys, np.iinfo(np.int64).max)
        available = np.array([self.request.available(self.first + index) for index in chosen])
        rest = numbers.multiply(
            numbers.of_keys(keys.min(axis=0)), available - block.there.sum(axis=0), 0
        )
        least, most = (
            numbers.least_key(Decimal(data[name])) for name in ("mass_least", "mass_most")
        )
        # Both bounds have no more than 10 digits.
        sound: Mask = (signed.keys <= most) & (numbers.add(signed, rest).keys >= least)
        return sound

    def _cut(self, given: Powers, block: Block, chosen: list[int]) -> Mask:
        """Tell where the cut of min_p lies within the support, and next to its end [SAMP-30]."""
        least = self.request.parameters.min_p
        if self.request.rule != "min_p" or least is None:
            return np.ones(len(chosen), np.bool_)
        most: int = spec.load("sampling.json")["support_most"]
        below = block.there & (given.values.keys < numbers.least_key(Decimal(least)))
        dropped = below.sum(axis=0)
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
        points = np.array([u64(seed, 0) % total for seed in seeds])
        places = (np.cumsum(weights, axis=0) <= points).sum(axis=0).tolist()
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


def _block(units: Integers, sizes: Integers, well: Mask) -> Block:
    """Put the supports that are well into columns."""
    column = np.repeat(np.cumsum(well) - 1, sizes)
    row = np.arange(len(units)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    chosen = np.repeat(well, sizes)
    shape = (int(sizes.max()), int(well.sum()))
    placed, there = np.zeros(shape, np.int64), np.zeros(shape, np.bool_)
    placed[row[chosen], column[chosen]] = units[chosen]
    there[row[chosen], column[chosen]] = True
    return Block(placed, there)
