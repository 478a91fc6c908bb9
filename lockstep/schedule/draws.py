"""Seeded draws that give the same numbers in any process and any version of Python."""

from collections.abc import Sequence
from random import Random
from typing import TypeVar

Item = TypeVar("Item")


class Draws:
    """A stream of draws.

    Args:
        seed: of the stream.
    """

    def __init__(self, seed: int) -> None:
        # Of the generator's methods, `random` alone is promised to stay as it is.
        self._random = Random(seed)

    def below(self, bound: int) -> int:
        """Draw an integer from 0 below the bound, which is far below 2^53."""
        return int(self._random.random() * bound)

    def chance(self, part: int, whole: int) -> bool:
        """Draw whether something with the odds part in whole occurs."""
        return self.below(whole) < part

    def choice(self, items: Sequence[Item]) -> Item:
        """Draw one of the items."""
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """Draw an order of the items (Fisher and Yates)."""
        order = list(items)
        for last in range(len(order) - 1, 0, -1):
            other = self.below(last + 1)
            order[last], order[other] = order[other], order[last]
        return order
