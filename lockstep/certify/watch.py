"""What is told of a run while it goes on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from lockstep.certify.adapters.adapter import Adapter
    from lockstep.certify.cells import PlannedCell
    from lockstep.certify.observation import Round
    from lockstep.certify.probe import Found


class Watch(Protocol):
    """Is told how a run goes on."""

    def say(self, text: str) -> None:
        """Take a line for people."""

    def planned(
        self, adapter: Adapter, plan: dict[str, Any], cells: Sequence[PlannedCell], found: Found
    ) -> None:
        """Take the plan, before the first round."""

    def made(self, cell: int, one: Round) -> None:
        """Take a round of a cell."""


class PlanOnly(Exception):
    """Raised by a watcher that only wants the plan."""


class EnoughSeen(Exception):
    """Raised by a watcher that has seen enough: what is lacking then was interrupted."""
