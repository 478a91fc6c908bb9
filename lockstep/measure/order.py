"""The order of a run, shuffled by a seed that is recorded [PROBE-2]."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable


def shuffled(seed: int, block: int, names: Iterable[str]) -> list[str]:
    """Give the names of a block's entries in the order in which they are taken."""

    def key(name: str) -> str:
        text = f"lockstep/order/1/{seed}/{block}/{name}"
        return hashlib.sha256(text.encode("ascii")).hexdigest()

    return sorted(names, key=key)
