"""A relation, and what comes of a run of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from lockstep.engine.model import Model
from lockstep.relations.catalogue import Declared, require_declared
from lockstep.relations.context import Context, NotRun, Violated
from lockstep.relations.observation import Observation, Subject, judge


class Relation(NamedTuple):
    """A relation that can be run.

    Attributes:
        name: as the spec declares it.
        run: executes and compares, and notes both in the context.
    """

    name: str
    run: Callable[[Context], None]

    @property
    def declared(self) -> Declared:
        """What the spec says of it."""
        return require_declared(self.name)


def observe(
    relation: Relation,
    model: Model,
    folder: Path,
    subject: Subject,
    block_size: int,
    seed: int,
    stop: bool = False,
) -> Observation:
    """Run a relation once and give its record.

    Args:
        relation: what to run.
        model: what computes.
        folder: where the model was read from.
        subject: model, backend and sources by digest.
        block_size: of the run.
        seed: of the run.
        stop: whether the first difference ends the run.
    """
    context = Context(model, folder, block_size, seed, stop)
    try:
        relation.run(context)
    except NotRun as fault:
        return Observation(relation.name, block_size, seed, subject, "not_run", str(fault))
    except Violated:
        pass  # The difference is among the notes.
    notes = context.notes
    outcome, reason = judge(relation.declared, notes.positions, notes.differences, notes.counters)
    return Observation(
        relation=relation.name,
        block_size=block_size,
        seed=seed,
        subject=subject,
        outcome=outcome,
        reason=reason,
        workloads=tuple(sorted(notes.workloads)),
        schedules=tuple(sorted(notes.schedules)),
        executions=notes.executions,
        requests=notes.requests,
        positions=notes.positions,
        differences=notes.differences,
        first_difference=notes.first_difference,
        counters=dict(sorted(notes.counters.items())),
        n_grams=dict(notes.n_grams),
    )
