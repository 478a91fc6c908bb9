"""The seven measures of F1, and their bounds [FID-5] to [FID-7]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from lockstep import spec
from lockstep.errors import LockstepError
from lockstep.fidelity.measure import ONE, Record


class Measure(NamedTuple):
    """A measure, and what is asked of it for a compute dtype."""

    name: str
    value: int
    limit: str
    bound: int

    @property
    def holds(self) -> bool:
        """Whether the measure is within its bound."""
        return self.value <= self.bound if self.limit == "at most" else self.value >= self.bound


def bound(name: str, dtype: str) -> int:
    """Give the bound of a measure for a compute dtype."""
    entry = next(entry for entry in spec.load("fidelity.json")["bounds"] if entry["name"] == name)
    return int(entry[dtype])


def near_tie(record: Record, dtype: str) -> bool:
    """Whether an admitted error may change a position's top token [FID-5]."""
    return record.margin * ONE <= 2 * record.scale * bound("error_max", dtype)


def measures(records: Sequence[Record], dtype: str) -> tuple[Measure, ...]:
    """Give the measures of records, in the order of the bounds."""
    count = len(records)
    relative = sorted(-(-record.error * ONE // record.scale) for record in records)
    agree = [record.top == record.reference_top for record in records]
    ties = [near_tie(record, dtype) for record in records]
    values: dict[str, int] = {
        "kl_max": max(record.kl for record in records),
        "kl_mean": -(-sum(record.kl for record in records) // count),
        "error_max": relative[-1],
        "error_median": relative[(count + 1) // 2 - 1],
        "near_ties": -(-1000 * sum(ties) // count),
        "top_disagreements": sum(not a and not t for a, t in zip(agree, ties, strict=True)),
        "top_agreement": 1000 * sum(agree) // count,
    }
    declared: list[dict[str, Any]] = spec.load("fidelity.json")["bounds"]
    return tuple(
        Measure(entry["name"], values[entry["name"]], entry["limit"], entry[dtype])
        for entry in declared
    )


def require_bounds(stated: Sequence[Mapping[str, Any]]) -> None:
    """Refuse measures, as a predicate holds them, of which one is out of its bound.

    Raises:
        LockstepError: FIDELITY_BOUND_EXCEEDED, at the first one.
    """
    for entry in stated:
        measure = Measure(**entry)
        if not measure.holds:
            bound = f"{measure.limit} {measure.bound}"
            raise LockstepError("FIDELITY_BOUND_EXCEEDED", measure.name, bound, measure.value)
