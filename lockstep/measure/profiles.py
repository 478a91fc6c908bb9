"""Profiles: whose numbers these are, and that none is joined to another's [MEAS-7]."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lockstep import spec
from lockstep.errors import LockstepError


def members() -> tuple[str, ...]:
    """Give the members that a profile is told by."""
    return tuple(spec.load("measurement.json")["profile"])


def varying(profiles: Mapping[str, Mapping[str, Any]], names: Iterable[str]) -> list[str]:
    """Give the members in which profiles differ, or may: what is not known equals nothing."""
    chosen = [profiles[name] for name in sorted(set(names))]
    if len(chosen) < 2:
        return []
    return [
        member
        for member in members()
        if None in (values := {one[member] for one in chosen}) or len(values) > 1
    ]


def joined(operands: Iterable[Iterable[str]], operation: str, pointer: str) -> tuple[str, ...]:
    """Give the profiles of what is made of readings, and refuse what would mix them.

    Args:
        operands: the profiles of each.
        operation: what is made; only those of `across` compare profiles.
        pointer: of the reading.

    Raises:
        LockstepError: PROFILE_MISMATCH.
    """
    found = tuple(sorted({name for one in operands for name in one}))
    if len(found) > 1 and operation not in spec.load("measurement.json")["across"]:
        raise LockstepError("PROFILE_MISMATCH", f"{pointer}/operands", "one profile", found)
    return found
