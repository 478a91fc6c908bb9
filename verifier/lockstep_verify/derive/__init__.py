"""Claim kinds. Each is a module of its own, imported when a certificate of it is judged."""

import importlib
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    # Importing it costs a tenth of a whole verification, and few runs need it.
    from pathlib import Path

    from lockstep_verify.solvers import Program

KINDS: dict[str, str] = {
    "urn:lockstep:certificate:hunt:v1": "hunt",
    "urn:lockstep:certificate:lean:v1": "lean",
    "urn:lockstep:certificate:smt:v1": "smt",
    "urn:lockstep:certificate:invariance:v1": "invariance",
    "urn:lockstep:certificate:fidelity:v1": "fidelity",
    "urn:lockstep:certificate:replay:v1": "replay",
    "urn:lockstep:certificate:campaign:v1": "campaign",
    "urn:lockstep:certificate:finding:v1": "finding",
    "urn:lockstep:certificate:mutation:v1": "mutation",
    "urn:lockstep:certificate:certification:v1": "certification",
    "urn:lockstep:certificate:sampling:v1": "sampling",
    "urn:lockstep:certificate:detection:v1": "detection",
    "urn:lockstep:certificate:throughput:v1": "throughput",
    "urn:lockstep:certificate:distance-calibration:v1": "distance-calibration",
    "urn:lockstep:certificate:sampling-experiments:v1": "sampling-experiments",
    "urn:lockstep:certificate:measurement:v1": "measurement",
    "urn:lockstep:certificate:withdrawal:v1": "withdrawal",
    "urn:lockstep:certificate:layout-observation:v1": "layout-observation",
}
"""The stem of the spec's files, by predicate type; the module below this package is named alike,
with `_` for `-`."""


class Options(NamedTuple):
    """What the user asks of a re-derivation.

    Attributes:
        exhaustive: enumerate without the usual bound on positions.
        evidence: the folder of sidecar files, if one was given.
        solvers: programs that answer the queries of proofs again, None where nobody asked.
        replay: execute again what a certificate says was executed.
    """

    exhaustive: bool = False
    evidence: "Path | None" = None
    solvers: "tuple[Program, ...] | None" = None
    replay: bool = False


class Derivation(NamedTuple):
    """What was re-derived.

    Attributes:
        verdict: one word for people and tools.
        counts: what floors of the policy are compared with.
        lines: a report for people, one line each.
        solved: whether a solver answered a query again here.
    """

    verdict: str
    counts: dict[str, int]
    lines: tuple[str, ...] = ()
    solved: bool = False


def kind_of(predicate_type: str) -> str | None:
    """Give the kind that a predicate type names, or None for one that this verifier lacks."""
    return KINDS.get(predicate_type)


def derive(statement: dict[str, Any], options: Options) -> Derivation:
    """Re-derive a statement whose shape has been checked.

    Raises:
        Refusal: the code of the kind's first rule that the statement breaks.
    """
    kind = KINDS[statement["predicateType"]]
    module = importlib.import_module(f"{__name__}.{kind.replace('-', '_')}")
    derivation: Derivation = module.derive(statement, options)
    return derivation


def derive_published(data: bytes, options: Options) -> Derivation:
    """Re-derive a published document that has a form of its own and no signature to check.

    Raises:
        Refusal: the code of the first rule that the document breaks.
    """
    module = importlib.import_module("lockstep_verify.published.seed_004")
    derivation: Derivation = module.derive(data, options)
    return derivation
