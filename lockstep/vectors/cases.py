"""The reviewed cases: parents, mutations and required codes (spec/cases/README.md)."""

import tomllib
from dataclasses import dataclass, field
from typing import Any

from lockstep.vectors import keys

AREAS = (
    "bytes",
    "json",
    "envelope",
    "ed25519",
    "trust",
    "statement",
    "verdict",
    "hunt",
    "lean",
    "smt",
    "fidelity",
    "invariance",
    "replay",
    "mutation",
    "campaign",
    "finding",
    "sampling",
    "certification",
    "detection",
    "distance-calibration",
    "sampling-experiments",
    "measurement",
    "layout-observation",
    "throughput",
    "withdrawal",
)
"""The areas of conformance/README.md, in the order of the stages."""

_MEMBERS = {"id", "rule", "note", "flags", "scenario", "parent", "edits", "code", "expect"}


class CaseError(ValueError):
    """Thrown when a case file does not have the form that spec/cases/README.md gives."""


@dataclass(frozen=True)
class Case:
    """One case: a scenario of its own, or a parent with one mutation.

    Attributes:
        expect: members of the answer beside the code that are required, `pointer` and `value`.
    """

    area: str
    name: str
    rule: str
    note: str
    flags: tuple[str, ...]
    scenario: dict[str, Any] | None
    parent: str | None
    edits: tuple[dict[str, Any], ...]
    code: str
    expect: dict[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The vector's id."""
        return f"{self.area}/{self.name}"


def _case(area: str, entry: dict[str, Any]) -> Case:
    name = entry.get("id", "?")
    if unknown := sorted(entry.keys() - _MEMBERS):
        raise CaseError(f"{area}/{name}: unknown {', '.join(unknown)}")
    case = Case(
        area=area,
        name=name,
        rule=entry["rule"],
        note=entry["note"],
        flags=tuple(entry.get("flags", ())),
        scenario=entry.get("scenario"),
        parent=entry.get("parent"),
        edits=tuple(entry.get("edits", ())),
        code=entry.get("code", "OK"),
        expect=entry.get("expect", {}),
    )
    if (case.scenario is None) == (case.parent is None):
        raise CaseError(f"{case.id}: either a scenario or a parent")
    if (case.parent is None) != (not case.edits):
        raise CaseError(f"{case.id}: edits belong to a parent")
    return case


def load(area: str) -> tuple[Case, ...]:
    """Read the cases of an area.

    Raises:
        CaseError: an entry of another form, a name twice, or a parent that is none.
    """
    text = (keys.cases_root() / f"{area}.toml").read_text("utf-8")
    cases = tuple(_case(area, entry) for entry in tomllib.loads(text)["case"])
    by_name = {case.name: case for case in cases}
    if len(by_name) != len(cases):
        raise CaseError(f"{area}: a name stands twice")
    for case in cases:
        if case.parent is not None:
            parent = by_name.get(case.parent)
            if parent is None or parent.scenario is None:
                raise CaseError(f"{case.id}: {case.parent} is no valid parent")
    return cases
