"""How many tokens a step computes at most, from counts of steps alone [PROBE-17].

A prompt of t tokens takes the steps of its chunks, and those that every request takes besides; a
prompt of one token tells how many these are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Budget(NamedTuple):
    """What counts of steps say of a batch budget.

    Attributes:
        overhead: steps of a request besides those of its chunks; None where no prompt of one
            token was counted.
        least: tokens that the budget has at least; None where nothing is known.
        greatest: tokens that it has at most; None where no prompt took a second chunk.
    """

    overhead: int | None
    least: int | None
    greatest: int | None

    @property
    def exact(self) -> int | None:
        """The budget, where only one fits."""
        return self.least if self.least == self.greatest else None


def budget(seen: Sequence[tuple[int, int]]) -> Budget:
    """Give the budgets that fit all counts; least above greatest where none does.

    Args:
        seen: tokens of a prompt and steps that it took.
    """
    alone = [steps for tokens, steps in seen if tokens == 1]
    if not alone:
        return Budget(None, None, None)
    overhead = min(alone) - 1
    chunked = [(tokens, steps - overhead) for tokens, steps in seen if steps > overhead]
    least = max(-(-tokens // chunks) for tokens, chunks in chunked)
    upper = [(tokens - 1) // (chunks - 1) for tokens, chunks in chunked if chunks > 1]
    return Budget(overhead, least, min(upper, default=None))


def next_length(seen: Sequence[tuple[int, int]], hint: int | None, most: int) -> int | None:
    """Give the length of the prompt to count next; None where the budget is known, or can't be.

    Args:
        seen: tokens and steps until now.
        hint: what the server says its budget is; it is tried, not believed.
        most: tokens that a prompt may have.
    """
    tried = {tokens for tokens, _ in seen}
    if 1 not in tried:
        return 1
    found = budget(seen)
    if found.least is None or (found.greatest is not None and found.least >= found.greatest):
        return None
    if hint is not None:
        for length in (hint, hint + 1):
            if length not in tried and length <= most:
                return length
    if found.greatest is None:
        longest = max(tried)
        return min(max(64, 2 * longest), most) if longest < most else None
    # Between the two: a prompt of the middle takes one chunk or two.
    return (found.least + found.greatest + 1) // 2
