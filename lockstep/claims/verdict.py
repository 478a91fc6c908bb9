"""The verdict of one row [HUNT-7]."""

from __future__ import annotations

from itertools import product

ORDER = ("UNPROVEN", "NOT_EXACT", "EXACT_TOKEN", "EXACT_BYTE")
"""Verdicts without a frontier code, from the least to the most that they say."""

EXACT = ("EXACT_BYTE", "EXACT_TOKEN")

_VALUES = (True, False, None)


def verdict(
    frontier_code: str | None,
    forward: bool | None,
    byte: bool | None,
    difference: bool | None,
    tokens: bool | None,
) -> str:
    """Fold a frontier code and four observations, None meaning not made, into a verdict."""
    if frontier_code is not None:
        return "REFUSED"
    if None in (forward, byte, difference, tokens):
        return "UNPROVEN"
    if not (forward and difference and tokens):
        return "NOT_EXACT"
    return "EXACT_BYTE" if byte else "EXACT_TOKEN"


def weakening_never_raises() -> bool:
    """Decide over all 81 assignments whether a weakened observation ever raises the verdict.

    Weakening is true to false, or either to not made.
    """
    for seen in product(_VALUES, repeat=4):
        rank = ORDER.index(verdict(None, *seen))
        for place, value in enumerate(seen):
            for weaker in _VALUES[_VALUES.index(value) + 1 :]:
                weakened = (*seen[:place], weaker, *seen[place + 1 :])
                if ORDER.index(verdict(None, *weakened)) > rank:
                    return False
    return True
