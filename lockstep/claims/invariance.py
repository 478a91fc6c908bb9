"""The claim of relations between executions: records, folded into the predicate [INV-1..15].

Nothing is executed, read or timed here, but for what the specification declares: the same
observations and arguments give the same predicate.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lockstep import spec
from lockstep.claims.invariance_totals import (
    claims,
    counts,
    coverage,
    exemptions,
    fold,
    outcomes,
    shown,
)
from lockstep.engine.environment import binding_sha256, plain
from lockstep.errors import LockstepError
from lockstep.limits import RELATION_RUNS
from lockstep.relations.catalogue import controls as declared_controls
from lockstep.relations.catalogue import declared
from lockstep.relations.consistency import require_consistent, require_distinct
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
    bindings: Mapping[str, Mapping[str, str]],
    issued_at: str,
    producer: Mapping[str, str],
) -> dict[str, Any]:
    """Fold the records of runs and controls into the predicate of their certificate.

    Combinations, seeds below the highest and controls that no record speaks of are folded as not
    run.

    Args:
        observations: of relations, all of one subject, in any order.
        controls: of controls, in any order.
        model: what the subject computes with, as [INV-1] states it.
        model_digest: of weights and compute dtype [ENG-8], in hex.
        environment: of the subject's backend [TUPLE-1].
        bindings: the binding settings of each control's backend, by its name [TUPLE-4].
        issued_at: UTC time, as the schema writes it.
        producer: name, version, python, numpy, machine and command.

    Raises:
        LockstepError: NOT_COMPARABLE, records of several subjects, or of another than the model
            and environment at hand; BAD_VALUE, a record that stands twice, or that its relation
            cannot have; COUNTERS_CONTRADICT, a record that no run leaves; LIMIT_SIZE.
    """
    resolved = {entry["name"]: entry["value"] for entry in environment["resolved"]}
    subject = _one_subject(observations, model_digest, environment["binding_sha256"], resolved)
    for run in (*observations, *controls):
        require_consistent(run)
    seeds = 1 + max(run.seed for run in observations)
    require_room(seeds)
    runs = _ordered(observations, subject, seeds, resolved)
    shown_controls = _controls(controls, subject, bindings)
    require_distinct(runs, controls)
    found = outcomes(runs)
    told = [shown(run, runs, wanted, subject.backend) for run, wanted in shown_controls]
    exempt = exemptions(resolved)
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
        "seeds": seeds,
        "does_not_apply": exempt,
        "runs": [_record(run) for run in runs],
        "controls": [
            {
                "backend": run.subject.backend,
                "binding": _settings(run, bindings),
                "shown": word,
                **_record(run),
            }
            for (run, _), word in zip(shown_controls, told, strict=True)
        ],
        "claims": claims(found, told),
        "coverage": {"n_grams": rows, "unseen": unseen},
        "counts": counts(runs, found, told, rows, len(exempt)),
        "verdict": fold(found.values(), told, "INVARIANT"),
    }


def require_room(seeds: int) -> None:
    """Refuse more seeds than a certificate has room for.

    Raises:
        LockstepError: LIMIT_SIZE.
    """
    combinations = sum(len(relation.block_sizes) for relation in declared().values())
    most = RELATION_RUNS // combinations
    if seeds > most:
        raise LockstepError(
            "LIMIT_SIZE", "/seeds", f"at most {most}", seeds, "Sign some; a run may have more."
        )


def _record(run: Observation) -> dict[str, Any]:
    return {name: value for name, value in run.document().items() if name not in _ONCE}


def _one_subject(
    observations: Sequence[Observation],
    model_digest: str,
    binding: str,
    resolved: Mapping[str, str],
) -> Subject:
    """Give the subject of all runs, which is the one that the certificate names."""
    subjects = {run.subject for run in observations}
    if len(subjects) != 1:
        raise LockstepError("NOT_COMPARABLE", "/runs", "runs of one subject", len(subjects))
    (subject,) = subjects
    named = (resolved["backend"], resolved["dtype"], model_digest, binding)
    given = (subject.backend, subject.dtype, subject.model_digest, subject.binding_sha256)
    if named != given:
        raise LockstepError("NOT_COMPARABLE", "/runs", ", ".join(named), ", ".join(given))
    return subject


def _ordered(
    observations: Iterable[Observation], subject: Subject, seeds: int, resolved: Mapping[str, str]
) -> list[Observation]:
    """Give a run of each seed of each demanded combination; those without one were not run.

    Of a relation that does not apply only records that say `not_run` are passed over.
    """
    held: dict[tuple[str, int, int], Observation] = {}
    for run in observations:
        place = (run.relation, run.block_size, run.seed)
        if place in held:
            told = f"{run.relation} at {run.block_size}, seed {run.seed}"
            raise LockstepError("BAD_VALUE", "/runs", "each run once", told)
        if run.outcome != "not_run" or declared()[run.relation].applies(resolved):
            held[place] = run
    ordered = [
        held.pop((name, size, seed), Observation(name, size, seed, subject, "not_run", NOT_ASKED))
        for name, relation in declared().items()
        if relation.applies(resolved)
        for size in relation.block_sizes
        for seed in range(seeds)
    ]
    if held:
        got = ", ".join(f"{name} at {size}" for name, size, _ in held)
        raise LockstepError("BAD_VALUE", "/runs", "combinations of relations.json", got)
    return ordered


def _controls(
    controls: Sequence[Observation],
    subject: Subject,
    bindings: Mapping[str, Mapping[str, str]],
) -> list[tuple[Observation, bool]]:
    """Give the run of each declared control, and whether it is required."""
    held = {(run.subject.backend, run.relation, run.block_size, run.seed): run for run in controls}
    if len(held) < len(controls):
        raise LockstepError("BAD_VALUE", "/controls", "each control once", len(controls))
    for run in controls:
        _require_comparable(run.subject, subject, bindings)
    chosen: list[tuple[Observation, bool]] = []
    for one in declared_controls():
        unknown = replace(subject, backend=one.backend, binding_sha256="0" * 64)
        absent = Observation(one.relation, one.block_size, one.seed, unknown, "not_run", NOT_ASKED)
        run = held.pop((one.backend, one.relation, one.block_size, one.seed), absent)
        chosen.append((run, one.required))
    if held:
        got = ", ".join(backend for backend, *_ in held)
        raise LockstepError("BAD_VALUE", "/controls", "controls of relations.json", got)
    return chosen


def _require_comparable(
    control: Subject, subject: Subject, bindings: Mapping[str, Mapping[str, str]]
) -> None:
    """Refuse a control of another model, dtype, sources or machine than those at hand [REL-7]."""
    binding = binding_sha256(bindings[control.backend]) if control.backend in bindings else ""
    wanted = replace(subject, backend=control.backend, binding_sha256=binding)
    for name in Subject.__dataclass_fields__:
        expected, got = getattr(wanted, name), getattr(control, name)
        if expected != got:
            raise LockstepError("NOT_COMPARABLE", f"/controls/{control.backend}/{name}",
                                expected, got)  # fmt: skip


def _settings(run: Observation, bindings: Mapping[str, Mapping[str, str]]) -> list[dict[str, str]]:
    """Give what a control's bits depend on [INV-15]."""
    if run.outcome == "not_run":
        return []
    binding = bindings[run.subject.backend]
    return [{"name": name, "value": plain(value)} for name, value in sorted(binding.items())]
