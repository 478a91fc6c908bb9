"""What a step consists of: events that took effect, and the rows that they ask for."""

from collections.abc import Iterator
from typing import NamedTuple


class Work(NamedTuple):
    """The rows that one chunk or decode adds to the batch of its step.

    Attributes:
        number: the request's number.
        first: position of its first row; the others follow it.
        tokens: one token a row.
        table: the request's blocks, those it just took among them.
        emits: whether its last row yields logits, and from them a token.
    """

    number: int
    first: int
    tokens: tuple[int, ...]
    table: tuple[int, ...]
    emits: bool

    def slots(self, block_size: int) -> Iterator[tuple[int, int]]:
        """Give block and offset of each row."""
        for position in range(self.first, self.first + len(self.tokens)):
            place, offset = divmod(position, block_size)
            yield self.table[place], offset


class Event(NamedTuple):
    """An event that took effect, as the machine took it, in the step of this number."""

    step: int
    request: str
    event: str
    tokens: int
    blocks: tuple[int, ...]
    published: tuple[int, ...]
