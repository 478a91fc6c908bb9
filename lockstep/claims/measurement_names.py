"""Names of a claim about measurements: told apart, and none that refers to nothing [MEAS-1]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lockstep.errors import LockstepError

_NAMED = {
    "sources": "id",
    "profiles": "id",
    "arms": "id",
    "records": "id",
    "fits": "name",
    "routes": "name",
    "published": "name",
    "gates": "name",
    "tables": "name",
}
"""Sections but for those of readings, whose names are told apart as each is computed."""

_REFERRING = (
    ("arms", "profile", "profiles"),
    ("records", "arm", "arms"),
    ("records", "against", "arms"),
    ("records", "source", "sources"),
    ("published", "source", "sources"),
    ("gates", "first", "profiles"),
    ("gates", "second", "profiles"),
)
"""Sections, a member that names something, and the section in which that stands."""


def require_names(sections: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """See that no two entries of a section have one name, and that what is named is there.

    Args:
        sections: of the claim, by name.

    Raises:
        LockstepError: BAD_VALUE, at the later of two, or at the member that names nothing.
    """
    names: dict[str, set[str]] = {section: set() for section in _NAMED}
    for section, member in _NAMED.items():
        for place, one in enumerate(sections[section]):
            if one[member] in names[section]:
                pointer = f"/{section}/{place}/{member}"
                raise LockstepError("BAD_VALUE", pointer, "a new name", one[member])
            names[section].add(one[member])
    for section, member, target in _REFERRING:
        for place, one in enumerate(sections[section]):
            name = one.get(member)
            if name is not None and name not in names[target]:
                pointer, expected = f"/{section}/{place}/{member}", f"one of {target}"
                raise LockstepError("BAD_VALUE", pointer, expected, name)
