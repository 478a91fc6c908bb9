"""How many cores this process may use."""

from __future__ import annotations

import os


def cores() -> int:
    """Give the cores that the process may run on; all of the machine where that is not told."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
