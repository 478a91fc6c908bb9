"""The claim of a build of the lemmas: what was observed, folded into the predicate (spec/lean.md).

Nothing is built, read or timed here, but for the registry of theorems that the specification
holds: the same observations and arguments give the same predicate.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lockstep import spec
from lockstep.lean.observe import LeanObservations, Theorem

PREDICATE_TYPE = "urn:lockstep:certificate:lean:v1"


def registered() -> tuple[Theorem, ...]:
    """Give the theorems that the specification registers [LEAN-4]."""
    return tuple(
        Theorem(entry["name"], entry["statement_sha256"], tuple(entry["axioms"]))
        for entry in spec.load("lemmas.json")["lemmas"]
    )


def predicate(
    seen: LeanObservations, *, issued_at: str, producer: Mapping[str, str]
) -> dict[str, Any]:
    """Fold a build's observations into the predicate of its certificate.

    Args:
        seen: the observations.
        issued_at: UTC time, as the schema writes it.
        producer: name, version, python, machine and command.
    """
    data = spec.load("lemmas.json")
    return {
        "issued_at": issued_at,
        "critical": [],
        "producer": dict(producer),
        "kernel": dict(seen.kernel),
        "host": seen.host,
        "allowed_axioms": list(data["allowed_axioms"]),
        "theorems": [
            {
                "name": theorem.name,
                "statement_sha256": theorem.statement_sha256,
                "axioms": list(theorem.axioms),
            }
            for theorem in seen.theorems
        ],
        "modules": [
            {"name": name, "path": "/".join(name.split(".")) + ".lean", "sha256": digest}
            for name, digest in sorted(seen.modules.items())
        ],
        "observations": {
            "kernel_accepted": seen.kernel_accepted,
            "gates_passed": seen.gates_passed,
            "official_toolchain_agrees": seen.official_toolchain_agrees,
        },
        "counts": {
            "theorems": len(seen.theorems),
            "accepted": len(seen.theorems) if seen.kernel_accepted is True else 0,
            "axiom_free": len([one for one in seen.theorems if one.axioms == ()]),
            "row_lemmas": len(data["rows"]),
            "layout_lemmas": len(set().union(*data["layouts"].values())),
            "modules": len(seen.modules),
        },
        "export": None
        if seen.export is None
        else {"path": seen.export[0], "sha256": seen.export[1]},
    }
