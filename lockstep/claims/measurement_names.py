"""Names of a claim about measurements: told apart, and none that refers to nothing [MEAS-1]."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
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
    names = {
        section: [one[member] for one in sections[section]] for section, member in _NAMED.items()
    }
    for section, member in _NAMED.items():
        require_once(names[section], f"/{section}", f"/{member}")
    for section, member, target in _REFERRING:
        told = [one.get(member) for one in sections[section]]
        require_known(told, set(names[target]), f"/{section}", f"/{member}")


def require_once(names: Iterable[Hashable], pointer: str, member: str = "") -> None:
    """See that each of some names stands there once.

    Args:
        names: in their order, or what else is told apart.
        pointer: of the list.
        member: of an entry of the list, `/` before it; empty where the entries are the names.

    Raises:
        LockstepError: BAD_VALUE, at the later.
    """
    seen: set[Hashable] = set()
    for place, name in enumerate(names):
        if name in seen:
            raise LockstepError("BAD_VALUE", f"{pointer}/{place}{member}", "each once", name)
        seen.add(name)


def require_known(
    names: Iterable[str | None], known: Collection[str], pointer: str, member: str = ""
) -> None:
    """See that each of some names is known; None names nothing, and need not be.

    Args:
        names: in their order.
        known: what there is.
        pointer: of the list.
        member: as of `require_once`.

    Raises:
        LockstepError: BAD_VALUE, at the first that is not.
    """
    for place, name in enumerate(names):
        if name is not None and name not in known:
            at, expected = f"{pointer}/{place}{member}", "a name that the claim has"
            raise LockstepError("BAD_VALUE", at, expected, name)
