"""What an engine is asked to write, and where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from lockstep.layouts import catalogue
from lockstep.layouts.geometry import Geometry
from lockstep.observation.environment import Environment
from lockstep.observation.numbers import DIGITS, Digits
from lockstep.observation.seen import Cache


class Wanted(NamedTuple):
    """A run that an engine is asked for: one of its caches, by name, and an element type."""

    cache: str
    dtype: str


@dataclass(frozen=True)
class Writing:
    """All runs of one engine.

    Attributes:
        wanted: runs, in the order in which they are given.
        geometry: of the request.
        values: digits by name, of shape (layers, 2, tokens, kv_heads, head_dim).
        environment: that has the engine.
    """

    wanted: Sequence[Wanted]
    geometry: Geometry
    values: Mapping[str, Digits]
    environment: Environment

    def request(self, caches: Sequence[Cache], block: int = 0) -> dict[str, Any]:
        """Give what a probe reads of it.

        Args:
            caches: those of the engine, whose layouts say the size of a block.
            block: its size where a layout has none.
        """
        blocks = {one.name: catalogue.find(one.layout).block or block for one in caches}
        return {
            "runs": [{**one._asdict(), "block": blocks[one.cache]} for one in self.wanted],
            "layers": self.geometry.layers,
            "tokens": self.geometry.tokens,
            "heads": self.geometry.kv_heads,
            "dim": self.geometry.head_dim,
            "digits": [self.values[name].astype("uint8").tobytes().hex() for name in DIGITS],
        }
