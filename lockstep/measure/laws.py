"""What a law makes of a population of records, and the split that it can tell [MEAS-8]."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from lockstep import spec
from lockstep.errors import LockstepError
from lockstep.measure.fits import Solution, solve
from lockstep.measure.records import Record

Point = tuple[tuple[Fraction, ...], Fraction]


def law(name: str, pointer: str = "") -> dict[str, Any]:
    """Give the data of a law.

    Raises:
        LockstepError: BAD_VALUE, there is none of this name.
    """
    known: dict[str, dict[str, Any]] = {
        one["name"]: one for one in spec.load("measurement.json")["laws"]
    }
    if name not in known:
        raise LockstepError("BAD_VALUE", f"{pointer}/law", f"one of {', '.join(known)}", name)
    return known[name]


def population(
    records: Sequence[Record], name: str, arms: Sequence[str], left_out: Sequence[str]
) -> list[Record]:
    """Give all records of some arms that a law can take, but for those that are left out."""
    needs = set(law(name)["needs"])
    return [
        one
        for one in records
        if one.arm in arms
        and needs <= set(one.values)
        and one.refusal is None
        and one.id not in left_out
    ]


def point(name: str, record: Record) -> Point:
    """Give the regressors and the value that a law has of a record that it can take."""
    values = {key: Fraction(value or 0) for key, value in record.values.items()}
    if name == "wall":
        return (values["steps"], values["tokens"]), values["wall_us"]
    if name == "linear":
        return (values["tokens"],), values["wall_us"]
    if name == "quadratic":
        return (values["tokens"], values["tokens"] ** 2), values["wall_us"]
    if name == "stall":
        return (Fraction(record.budget_tokens or 0),), values["stall_us"]
    before, after = values["tokens_before"], values["tokens_after"]
    return ((before + after) / 2,), values["wall_us"] / (after - before)


def fit(name: str, records: Sequence[Record], pointer: str = "") -> Solution:
    """Fit a law to a population.

    Raises:
        LockstepError: PROFILE_MISMATCH, the records are of several profiles; FIT_NOT_IDENTIFIED,
            the population cannot tell the law's coefficients apart; LIMIT_SIZE.
    """
    profiles = sorted({record.profile for record in records})
    if len(profiles) > 1:
        raise LockstepError("PROFILE_MISMATCH", pointer, "records of one profile", profiles)
    _require_identified(name, records, pointer)
    return solve([point(name, record) for record in records], pointer)


def _require_identified(name: str, records: Sequence[Record], pointer: str) -> None:
    """See that a population has what tells a law's coefficients apart.

    With one batch budget, steps are the tokens divided and rounded up: a determinant that is not
    0 because of the rounding, and two coefficients that are made of it.
    """
    wanted, most = law(name)["identified_by"], law(name)["most"]
    if len(records) > most:
        raise LockstepError("LIMIT_SIZE", pointer, f"{most} records", len(records))
    if wanted == "budgets":
        budgets = {record.budget_tokens for record in records} - {None}
        unknown = any(record.budget_tokens is None for record in records)
        if unknown or len(budgets) < 2:
            got = "a record whose budget is not known" if unknown else sorted(budgets, key=str)
            expected = "records of two batch budgets at least"
            raise LockstepError("FIT_NOT_IDENTIFIED", pointer, expected, got)
    if wanted == "lengths" and len({record.values["tokens"] for record in records}) < 3:
        raise LockstepError("FIT_NOT_IDENTIFIED", pointer, "three lengths at least", "fewer")
