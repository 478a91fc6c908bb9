"""What a hunt observed: plain records, which a claim folds into a predicate.

An observation is true, false or None, the last meaning that it was not made.
"""

from __future__ import annotations

from dataclasses import dataclass

from lockstep.hunt.probe import LayoutProbe
from lockstep.layouts.declaration import Layout
from lockstep.layouts.geometry import Geometry
from lockstep.layouts.realise import Realised
from lockstep.layouts.sets import Group

Observation = bool | None


@dataclass(frozen=True)
class LayoutObservation:
    """A declared layout, and what its walk found where it is realisable."""

    layout: Layout
    realised: Realised | None
    probe: LayoutProbe | None


@dataclass(frozen=True)
class RowObservation:
    """What moving one pair's contents showed ([HUNT-6], [HUNT-10]); tokens None: not decoded."""

    forward_reproduces_target: Observation = None
    roundtrip_byte_identical: Observation = None
    roundtrip_diff_is_exactly_unread_padding: Observation = None
    tokens_identical: Observation = None
    roundtrip_diff_positions: int | None = None
    decoded_tokens: tuple[int, ...] | None = None
    gather_agrees: Observation = None
    walk_is_bijective: Observation = None


@dataclass(frozen=True)
class Reference:
    """The tokens that a group's rows are held against, by the group's anchor."""

    anchor: str
    tokens: tuple[int, ...]


@dataclass(frozen=True)
class HuntObservations:
    """Everything that a hunt observed.

    Attributes:
        set_name: of the layout set.
        geometry: at which it was hunted.
        layouts: in declared order.
        groups: as declared.
        pairs: (src, dst) that the groups demand, sorted by pair_id [HUNT-3].
        rows: what was observed of each pair without a frontier code, by pair_id.
        layers: moved in each row.
        gather_payloads: contents that each row moved by recipe and by index map.
        payload_seed: of the contents.
        weights_seed: of the model.
        steps: tokens decoded.
        references: by distinct anchor; empty where nothing was decoded.
        checks: the attested checks, by name; None means not made.
        known_limits: whether each limit was found to hold, by name.
    """

    set_name: str
    geometry: Geometry
    layouts: tuple[LayoutObservation, ...]
    groups: tuple[Group, ...]
    pairs: tuple[tuple[str, str], ...]
    rows: dict[str, RowObservation]
    layers: tuple[int, ...]
    gather_payloads: int
    payload_seed: int
    weights_seed: int
    steps: int
    references: tuple[Reference, ...]
    checks: dict[str, Observation]
    known_limits: dict[str, bool]
