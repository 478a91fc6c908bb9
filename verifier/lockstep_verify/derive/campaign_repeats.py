"""Cases and trajectories that stand in two records of a campaign (FUZZ-16)."""

from __future__ import annotations

from typing import Any

from lockstep_verify.errors import Refusal

_OF_CASE = (
    "outcome", "trajectory_sha256", "requests", "steps", "events", "cells", "n_grams", "predicates",
)  # fmt: skip
_OF_TRAJECTORY = ("requests", "steps")


class Repeats:
    """What the records so far have said of each case and of each trajectory."""

    def __init__(self) -> None:
        self._cases: dict[str, dict[str, Any]] = {}
        self._trajectories: dict[str, dict[str, Any]] = {}

    def add(self, record: dict[str, Any], at: str) -> None:
        """Hold a record against earlier ones of its case and of its trajectory.

        Args:
            record: whose form has been judged.
            at: where it stands.

        Raises:
            Refusal: BAD_VALUE, at the first member that differs.
        """
        if record["outcome"] in ("failed", "not_run"):
            return
        case = self._cases.setdefault(record["case_sha256"], record)
        _require(_OF_CASE, case, record, at)
        if record["outcome"] == "clean":
            run = self._trajectories.setdefault(record["trajectory_sha256"], record)
            _require(_OF_TRAJECTORY, run, record, at)


def _require(
    members: tuple[str, ...], expected: dict[str, Any], got: dict[str, Any], at: str
) -> None:
    for member in members:
        if expected[member] != got[member]:
            raise Refusal("BAD_VALUE", f"{at}/{member}", expected[member], got[member])
