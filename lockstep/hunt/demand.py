"""Which ordered pairs a hunt has to answer for, from its groups [HUNT-1, HUNT-3]."""

from __future__ import annotations

from lockstep.layouts.declaration import Layout
from lockstep.layouts.frontier import frontier_code
from lockstep.layouts.geometry import Geometry
from lockstep.layouts.sets import Group


def pair_id(src: str, dst: str) -> str:
    """Name an ordered pair."""
    return f"{src}->{dst}"


def is_lossless(name: str, group: Group, layouts: dict[str, Layout], geometry: Geometry) -> bool:
    """Decide whether a member of a group is lossless there [HUNT-3]."""
    layout, anchor = layouts[name], layouts[group.anchor]
    return layout.quantisation == "none" and frontier_code(layout, anchor, geometry) is None


def lossless_members(
    group: Group, layouts: dict[str, Layout], geometry: Geometry
) -> tuple[str, ...]:
    """List a group's lossless members in its order."""
    return tuple(name for name in group.members if is_lossless(name, group, layouts, geometry))


def demanded_by(
    group: Group, layouts: dict[str, Layout], geometry: Geometry
) -> set[tuple[str, str]]:
    """Give the ordered pairs that one group demands."""
    lossless = lossless_members(group, layouts, geometry)
    pairs = {(src, dst) for src in lossless for dst in lossless if src != dst}
    for name in group.members:
        if name not in lossless:
            pairs |= {(name, group.anchor), (group.anchor, name)}
    return pairs


def demanded_pairs(
    groups: tuple[Group, ...], layouts: dict[str, Layout], geometry: Geometry
) -> tuple[tuple[str, str], ...]:
    """Give the pairs that some group demands, each once, sorted by pair_id."""
    pairs: set[tuple[str, str]] = set()
    for group in groups:
        pairs |= demanded_by(group, layouts, geometry)
    return tuple(sorted(pairs, key=lambda pair: pair_id(*pair)))
