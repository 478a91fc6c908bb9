"""Records: what was observed at one point, and why a record may enter no figure [MEAS-4]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lockstep import spec
from lockstep.errors import LockstepError
from lockstep.measure.registry import require_answer

_NEVER_ZERO = ("steps", "tokens", "wall_us")


@dataclass(frozen=True)
class Record:
    """What was observed at one point.

    Attributes:
        id: its name.
        arm: under which it was made.
        profile: of the arm.
        launch: of the arm.
        budget_tokens: batch budget of the arm, in tokens a step; None where it is not known.
        values: by quantity, each in the quantity's unit; None where nothing was read.
        refusal: why it may enter no figure; None where it may.
        against: profile and launch of the arm that a distance is measured to; None for anything
            else.
    """

    id: str
    arm: str
    profile: str
    launch: int
    budget_tokens: int | None
    values: Mapping[str, int | None]
    refusal: str | None
    against: tuple[str, int] | None = None


def quantities() -> dict[str, dict[str, Any]]:
    """Give the data of each quantity by its name."""
    return {one["name"]: one for one in spec.load("measurement.json")["quantities"]}


def refusal(
    values: Mapping[str, int | None], attribution: Mapping[str, int | None] | None
) -> str | None:
    """Give the first reason why a record may enter no figure, or None.

    Args:
        values: by quantity.
        attribution: own_tokens, booked_tokens, own_requests, running_requests of its window;
            None where nothing was booked there.
    """
    if None in values.values():
        return "missing_reading"
    before, after = values.get("tokens_before"), values.get("tokens_after")
    if before is not None and after is not None and after < before:
        return "metric_backwards"
    if attribution is not None and foreign(attribution):
        return "foreign_work"
    if any(values.get(name) == 0 for name in _NEVER_ZERO) or (
        before is not None and before == after
    ):
        return "zero_population"
    return None


def foreign(attribution: Mapping[str, int | None]) -> bool:
    """Decide whether somebody else's work was in a window, as far as it can be seen."""
    own, booked = attribution["own_tokens"] or 0, attribution["booked_tokens"] or 0
    permille: int = spec.load("measurement.json")["attribution"]["allowance_permille"]
    if 1000 * abs(booked - own) > permille * own:
        return True
    mine, running = attribution["own_requests"], attribution["running_requests"]
    return mine is not None and running is not None and running > mine


def cause(setting: Mapping[str, str | None]) -> str:
    """Say how a setting came by its effective value [MEAS-3]."""
    if setting["requested"] is not None:
        return "requested" if setting["requested"] == setting["effective"] else "altered"
    return "resolved_default" if setting["failure"] is None else "absorbed_failure"


def require_metrics(values: list[dict[str, Any]], engine: str, pointer: str) -> None:
    """See that each metric that was read answers what it was read for [MEAS-5].

    Raises:
        LockstepError: BAD_VALUE, no such quantity; METRIC_NOT_AN_ANSWER, naming the metric that
            would answer.
    """
    known = quantities()
    for place, one in enumerate(values):
        if one["quantity"] not in known:
            expected = f"one of {', '.join(known)}"
            raise LockstepError(
                "BAD_VALUE", f"{pointer}/{place}/quantity", expected, one["quantity"]
            )
        if one["metric"] is not None:
            question = known[one["quantity"]]["question"]
            require_answer(engine, one["metric"], question, f"{pointer}/{place}/metric")


def require_usable(record: Record, pointer: str) -> None:
    """See that a record may enter a figure.

    Raises:
        LockstepError: RECORD_REFUSED with the reason.
    """
    if record.refusal is not None:
        raise LockstepError("RECORD_REFUSED", pointer, "a record that is not refused",
                            f"{record.id}: {record.refusal}")  # fmt: skip
