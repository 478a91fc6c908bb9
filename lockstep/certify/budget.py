"""The time that a run may take: what would not end within it is not begun, or is ended."""

from __future__ import annotations

import asyncio
import time

_SLOWER = 4.0
"""How many times an estimate may be corrected by at most: one slow round says little of others."""


class Budget:
    """The time of a run, from the moment that this is made.

    Args:
        seconds: None for a run that may take as long as it does.
    """

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._end = None if seconds is None else time.monotonic() + seconds
        self._expected = self._took = 0.0

    @property
    def left(self) -> float | None:
        """Seconds that are left; None where there is no limit."""
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    def allows(self, expected: float) -> bool:
        """Whether what is expected to take so many seconds may be begun.

        An estimate is corrected by how much longer than expected rounds took until now.
        """
        left = self.left
        return left is None or 0 < left >= expected * self._correction

    def learn(self, expected: float, took: float) -> None:
        """Note what something took beside what was expected of it, in seconds."""
        self._expected += expected
        self._took += took

    def limit(self) -> asyncio.Timeout:
        """Give a context that raises TimeoutError, and cancels what runs in it, at the end."""
        return asyncio.timeout(self.left)

    @property
    def _correction(self) -> float:
        if self._expected <= 0:
            return 1.0
        return min(_SLOWER, max(1.0, self._took / self._expected))


class OutOfTime(Exception):
    """The time of a run ended while a server was started or asked what it is."""
