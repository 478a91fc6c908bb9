"""The claim of mutation testing: records of trials, folded into the predicate [MUT-9..13].

Nothing is executed, read or timed here, but for what the specification declares: the same records
and arguments give the same predicate.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from lockstep import spec
from lockstep.claims.mutation_totals import (
    Matrix,
    counts,
    of_observers,
    outcome,
    verdict,
    verdict_of,
)
from lockstep.errors import LockstepError
from lockstep.mutation.declaration import FILE, observers, proofs

PREDICATE_TYPE = "urn:lockstep:certificate:mutation:v1"
CONTROL = "unmutated"
"""The id of the trial without operator."""


def predicate(
    trials: Sequence[Mapping[str, Any]],
    *,
    model: Mapping[str, Any],
    model_digest: str,
    environment: Mapping[str, Any],
    sources_sha256: str,
    issued_at: str,
    producer: Mapping[str, str],
) -> dict[str, Any]:
    """Fold the records of trials, that of the control among them, into the predicate.

    Args:
        trials: a record of each operator and of the control, in any order.
        model: what computed, as [INV-1] states it.
        model_digest: of weights and compute dtype, in hex.
        environment: of the backend [TUPLE-1].
        sources_sha256: digest over the producer's sources.
        issued_at: UTC time, as the schema writes it.
        producer: name, version, python, numpy, machine and command.

    Raises:
        LockstepError: MUTATION_INCOMPLETE, an operator, the control or an observer is missing,
            or a record is of other edits than the specification's.
    """
    data = spec.load(FILE)
    held = {trial["operator"]: trial for trial in trials}
    names = [observer.name for observer in observers()]
    ordered = [_complete(held, name, names) for name in (CONTROL, *proofs())]
    for declared, trial in zip(data["operators"], ordered[1:], strict=True):
        if trial["edits_sha256"] != declared["edits_sha256"]:
            where, got = f"/operators: {declared['id']}", trial["edits_sha256"]
            raise LockstepError("MUTATION_INCOMPLETE", where, declared["edits_sha256"], got)
    matrix = judged(ordered)
    return {
        "issued_at": issued_at,
        "critical": [],
        "producer": dict(producer),
        "model": dict(model),
        "model_digest": model_digest,
        "environment": dict(environment),
        "sources_sha256": sources_sha256,
        "mutation_sha256": hashlib.sha256(spec.read(FILE)).hexdigest(),
        "block_size": data["block_size"],
        "control": matrix.control,
        "rows": matrix.rows,
        "observers": of_observers(matrix),
        "counts": counts(matrix),
        "verdict": verdict(matrix),
    }


def judged(trials: Sequence[Mapping[str, Any]]) -> Matrix:
    """Give outcomes and verdicts of trials, of all operators or of some, under some observers.

    Args:
        trials: the control's record, then those of operators.
    """
    control, *others = trials
    fit = {cell["observer"] for cell in control["cells"] if cell["seen"] == "agrees"}
    rows = []
    for trial in others:
        cells = [{**cell, "outcome": outcome(cell, fit)} for cell in trial["cells"]]
        said, killers = verdict_of(cells, proofs()[trial["operator"]] is not None)
        rows.append(
            {
                "operator": trial["operator"],
                "edits_sha256": trial["edits_sha256"],
                "cells": cells,
                "verdict": said,
                "killed_by": killers,
            }
        )
    return Matrix([dict(cell) for cell in control["cells"]], rows, fit)


def _complete(
    held: Mapping[str, Mapping[str, Any]], name: str, names: Sequence[str]
) -> dict[str, Any]:
    """Give a trial with its cells in the order of the matrix."""
    where = f"/operators: {name}"
    if name not in held:
        raise LockstepError("MUTATION_INCOMPLETE", where, "its trial", "none")
    cells = {cell["observer"]: cell for cell in held[name]["cells"]}
    for observer in names:
        if observer not in cells:
            raise LockstepError("MUTATION_INCOMPLETE", where, f"a cell of {observer}", "none")
    return {**held[name], "cells": [cells[observer] for observer in names]}
