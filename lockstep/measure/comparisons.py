"""Comparisons: two routes to a quantity, a printed figure, two topologies [MEAS-10 to MEAS-12]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from lockstep.errors import LockstepError
from lockstep.measure.readings import Reading
from lockstep.measure.records import Record


def distance_ppm(first: Fraction, second: Fraction, pointer: str = "") -> int:
    """Give how far a number is from another, in millionths of that, rounded up.

    Raises:
        LockstepError: ZERO_POPULATION, the other is 0.
    """
    if second == 0:
        raise LockstepError("ZERO_POPULATION", pointer, "a quantity that is not 0", 0)
    return int(-(-1_000_000 * abs(first - second) // abs(second)))


def require_agreement(first: Reading, second: Reading, envelope_ppm: int, pointer: str = "") -> int:
    """See that two routes lead to one quantity, and give the distance in millionths.

    Raises:
        LockstepError: UNIT_MISMATCH, PROFILE_MISMATCH; TWO_ROUTES_DISAGREE, they are further apart
            than the envelope.
    """
    require_comparable(first, second, pointer)
    found = distance_ppm(first.value, second.value, pointer)
    if found > envelope_ppm:
        expected = f"{first.name} within {envelope_ppm} ppm of {second.name}"
        raise LockstepError("TWO_ROUTES_DISAGREE", pointer, expected, f"{found} ppm")
    return found


def require_comparable(first: Reading, second: Reading, pointer: str) -> None:
    """See that two readings are of one unit and of the same profiles.

    Raises:
        LockstepError: UNIT_MISMATCH, PROFILE_MISMATCH.
    """
    if first.unit != second.unit:
        raise LockstepError("UNIT_MISMATCH", pointer, first.unit, second.unit)
    if first.profiles != second.profiles:
        raise LockstepError("PROFILE_MISMATCH", pointer, first.profiles, second.profiles)


def outcome(published: Mapping[str, Any], reading: Reading | None, pointer: str = "") -> str:
    """Judge a printed figure by what its samples give.

    Raises:
        LockstepError: UNIT_MISMATCH, the figure and the reading have different units.
    """
    if reading is None:
        return "not_rederivable"
    if published["unit"] != reading.unit:
        raise LockstepError("UNIT_MISMATCH", f"{pointer}/unit", reading.unit, published["unit"])
    if published["kind"] not in (None, type(reading).__name__):
        return "contradicted"
    printed, resolution = Fraction(published["value"]), Fraction(published["resolution"])
    difference = reading.value - printed
    match published["rounding"]:
        case "down":
            agrees = 0 <= difference < resolution
        case "nearest":
            agrees = 2 * abs(difference) <= resolution
        case _:
            agrees = 1_000_000 * abs(difference) <= published["envelope_ppm"] * abs(reading.value)
    return "agrees" if agrees else "contradicted"


def require_resolution(published: Mapping[str, Any], pointer: str) -> None:
    """See that the last digit of a printed figure is no larger than the figure [MEAS-11].

    Raises:
        LockstepError: BAD_VALUE.
    """
    resolution = Fraction(published["resolution"])
    most = abs(Fraction(published["value"])) or 1
    if published["rounding"] != "envelope" and not 0 < resolution <= most:
        expected = f"above 0, at most {most}"
        raise LockstepError("BAD_VALUE", f"{pointer}/resolution", expected, str(resolution))


def within_and_across(
    records: Sequence[Record], first: str, second: str
) -> tuple[dict[str, list[int]], list[int]]:
    """Sort distances by what they lie between: repeats, relaunches, two profiles [MEAS-12].

    Args:
        records: those with a distance count, unless they are refused.
        first: a profile.
        second: another.

    Returns:
        The distances within either, by `first_repeats`, `first_relaunches`, `second_repeats` and
        `second_relaunches`, and those between the two.
    """
    within: dict[str, list[int]] = {
        f"{side}_{what}": [] for side in ("first", "second") for what in ("repeats", "relaunches")
    }
    across: list[int] = []
    for one in records:
        distance = one.values.get("distance_unat")
        if distance is None or one.refusal is not None or one.against is None:
            continue
        other, launch = one.against
        for side, profile in (("first", first), ("second", second)):
            if (one.profile, other) == (profile, profile):
                what = "repeats" if one.launch == launch else "relaunches"
                within[f"{side}_{what}"].append(distance)
        if {one.profile, other} == {first, second}:
            across.append(distance)
    return within, across


def substitutable(within: Mapping[str, Sequence[int]], across: Sequence[int]) -> str:
    """Say whether one profile may stand in for another.

    An envelope that nobody measured says as little as one that was left: neither is a reason to
    substitute.

    Args:
        within: distances of repeats and of relaunches within either.
        across: distances from one to the other.
    """
    if not across or not all(within.values()):
        return "unmeasured"
    envelope = max(max(distances) for distances in within.values())
    return "interchangeable" if max(across) <= envelope else "different"


def require_substitutable(verdict: str, pointer: str = "") -> None:
    """Refuse to let one profile stand in for another unless it was measured that it may.

    Raises:
        LockstepError: SUBSTITUTION_REFUSED.
    """
    if verdict != "interchangeable":
        raise LockstepError("SUBSTITUTION_REFUSED", pointer, "interchangeable", verdict)
