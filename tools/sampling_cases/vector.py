"""What a vector of one function asks and what is known of its answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

V1, UPSTREAM = "sampling/v1", "upstream-1.0.0"
ROOT = Path(__file__).resolve().parents[2]
HANDED: dict[str, Any] = json.loads(
    (ROOT / "tests/sampling/upstream/vectors.json").read_text("ascii")
)
"""Outcomes of upstream's own code."""


class Vector(NamedTuple):
    """A case without its area: `value` is None where the input is refused."""

    name: str
    rule: str
    note: str
    op: str
    inputs: dict[str, Any]
    value: dict[str, Any] | None
    flags: tuple[str, ...] = ()
