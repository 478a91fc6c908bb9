"""The claim of relations between executions: records, folded into the predicate [INV-1..11].

Nothing is executed, read or timed here, but for what the specification declares: the same
observations and arguments give the same predicate.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lockstep import spec
from lockstep.claims.invariance_totals import claims, counts, coverage, fold, outcomes, shown
from lockstep.errors import LockstepError
from lockstep.relations.catalogue import controls as declared_controls
from lockstep.relations.catalogue import declared
from lockstep.relations.observation import Observation, Subject

PREDICATE_TYPE = "urn:lockstep:certificate:invariance:v1"
NOT_ASKED = "not asked for"
"""Why a combination was not run that no record speaks of."""
_ONCE = ("version", "backend", "dtype", "model_digest", "binding_sha256", "sources_sha256")
"""Members of a record that stand once in a predicate [INV-4]."""


def predicate(
    observations: Sequence[Observation],
    controls: Sequence[Observation],
    *,
    model: Mapping[str, Any],
    model_digest: str,
    environment: Mapping[str, Any],
    issued_at: str,
    producer: Mapping[str, str],
) -> dict[str, Any]:
    """Fold the records of runs and controls into the predicate of their certificate.

    Combinations and controls that no record speaks of are folded as not run.

    Args:
        observations: of relations, all of one subject, in any order.
        controls: of controls, in any order.
        model: what the subject computes with, as [INV-1] states it.
        model_digest: of weights and compute dtype [ENG-8], in hex.
        environment: of the subject's backend [TUPLE-1].
        issued_at: UTC time, as the schema writes it.
        producer: name, version, python, numpy, machine and command.

    Raises:
        LockstepError: NOT_COMPARABLE, records of several subjects, or of another than the model
            and environment at hand; BAD_VALUE, a record that stands twice.
    """
    subject = _one_subject(observations, model_digest, environment)
    runs = _ordered(observations, subject)
    shown_controls = _controls(controls, subject)
    found, told = outcomes(runs), [shown(one, wanted) for one, wanted in shown_controls]
    rows, unseen = coverage(runs)
    return {
        "issued_at": issued_at,
        "critical": [],
        "producer": dict(producer),
        "model": dict(model),
        "model_digest": model_digest,
        "environment": dict(environment),
        "sources_sha256": subject.sources_sha256,
        "lifecycle": {
            "sha256": hashlib.sha256(spec.read("lifecycle.json")).hexdigest(),
            "cells": spec.load("lifecycle.json")["cells"],
        },
        "runs": [_record(run) for run in runs],
        "controls": [
            {
                "backend": run.subject.backend,
                "binding_sha256": run.subject.binding_sha256,
                "shown": word,
                **_record(run),
            }
            for (run, _), word in zip(shown_controls, told, strict=True)
        ],
        "claims": claims(found, told),
        "coverage": {"n_grams": rows, "unseen": unseen},
        "counts": counts(runs, found, told, rows),
        "verdict": fold(found.values(), told, "INVARIANT"),
    }


def _record(run: Observation) -> dict[str, Any]:
    return {name: value for name, value in run.document().items() if name not in _ONCE}


def _one_subject(
    observations: Sequence[Observation], model_digest: str, environment: Mapping[str, Any]
) -> Subject:
    """Give the subject of all runs, which is the one that the certificate names."""
    subjects = {run.subject for run in observations}
    if len(subjects) != 1:
        raise LockstepError("NOT_COMPARABLE", "/runs", "runs of one subject", len(subjects))
    (subject,) = subjects
    resolved = {entry["name"]: entry["value"] for entry in environment["resolved"]}
    named = (resolved["backend"], resolved["dtype"], model_digest, environment["binding_sha256"])
    given = (subject.backend, subject.dtype, subject.model_digest, subject.binding_sha256)
    if named != given:
        raise LockstepError("NOT_COMPARABLE", "/runs", ", ".join(named), ", ".join(given))
    return subject


def _ordered(observations: Iterable[Observation], subject: Subject) -> list[Observation]:
    """Order runs by combination and seed, and say of those without one that they were not run."""
    held: dict[tuple[str, int], dict[int, Observation]] = {}
    for run in observations:
        seeds = held.setdefault((run.relation, run.block_size), {})
        if run.seed in seeds:
            place = f"{run.relation} at {run.block_size}, seed {run.seed}"
            raise LockstepError("BAD_VALUE", "/runs", "each run once", place)
        seeds[run.seed] = run
    ordered: list[Observation] = []
    for name, relation in declared().items():
        for size in relation.block_sizes:
            absent = Observation(name, size, 0, subject, "not_run", NOT_ASKED)
            seeds = held.pop((name, size), {0: absent})
            ordered += [run for _, run in sorted(seeds.items())]
    if held:
        got = ", ".join(f"{name} at {size}" for name, size in held)
        raise LockstepError("BAD_VALUE", "/runs", "combinations of relations.json", got)
    return ordered


def _controls(controls: Sequence[Observation], subject: Subject) -> list[tuple[Observation, bool]]:
    """Give the run of each declared control, and whether it is required."""
    held = {(run.subject.backend, run.relation, run.block_size): run for run in controls}
    if len(held) < len(controls):
        raise LockstepError("BAD_VALUE", "/controls", "each control once", len(controls))
    chosen: list[tuple[Observation, bool]] = []
    for one in declared_controls():
        unknown = replace(subject, backend=one.backend, binding_sha256="0" * 64)
        absent = Observation(one.relation, one.block_size, 0, unknown, "not_run", NOT_ASKED)
        run = held.pop((one.backend, one.relation, one.block_size), absent)
        chosen.append((run, one.required))
    if held:
        got = ", ".join(backend for backend, _, _ in held)
        raise LockstepError("BAD_VALUE", "/controls", "controls of relations.json", got)
    return chosen
