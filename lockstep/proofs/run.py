"""Runs the proofs of a set of layouts, and of the lifecycle, and keeps what was observed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lockstep.layouts.declaration import Layout
from lockstep.layouts.sets import LayoutSet
from lockstep.proofs.geometries import Case, Excluded, plan
from lockstep.proofs.layout_queries import Guard, guards, proofs
from lockstep.proofs.query import Query
from lockstep.proofs.replay import Counterexample, replay
from lockstep.proofs.solvers import Answered, Solver, decide

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class GuardSeen:
    """A guard, the solvers' answers to it, and the counterexample that was replayed."""

    guard: Guard
    answered: Answered
    counterexample: Counterexample


@dataclass(frozen=True)
class CaseSeen:
    """A case: its queries by kind and its guards, all answered as expected."""

    case: Case
    proofs: dict[str, Answered]
    guards: tuple[GuardSeen, ...]


@dataclass(frozen=True)
class LifecycleSeen:
    """The lifecycle's queries, all answered as expected, and its traces as documents."""

    answered: tuple[Answered, ...]
    traces: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class SmtObservations:
    """What a run of the proofs saw; `lifecycle` is None where it was not asked about."""

    set_name: str
    layouts: tuple[Layout, ...]
    solvers: tuple[tuple[str, str], ...]
    cases: tuple[CaseSeen, ...]
    excluded: tuple[Excluded, ...]
    lifecycle: LifecycleSeen | None

    @property
    def queries(self) -> tuple[Query, ...]:
        """Every query that was asked, in the order of the certificate."""
        found: list[Query] = []
        for seen in self.cases:
            found += [answered.query for answered in seen.proofs.values()]
            found += [entry.answered.query for entry in seen.guards]
        if self.lifecycle is not None:
            found += [answered.query for answered in self.lifecycle.answered]
        return tuple(found)


def prove(
    layouts: LayoutSet,
    by: Sequence[Solver],
    *,
    lifecycle: bool = True,
    progress: Progress = lambda what, done, whole: None,
) -> SmtObservations:
    """Put every query of a set's layouts, and of the lifecycle, to every solver.

    Args:
        layouts: the set; its geometry is not asked for, since those of spec/smt.json are.
        by: the solvers.
        lifecycle: whether the lifecycle is proved too.
        progress: told of each case.

    Raises:
        LockstepError: QUERY_NOT_ANSWERED, COUNTEREXAMPLE_NOT_REPLAYED, at the query's name.
    """
    declared = tuple(layouts.layouts.values())
    planned = plan(declared)
    cases = [entry for entry in planned if isinstance(entry, Case)]
    seen = []
    for number, case in enumerate(cases):
        progress("asking about layouts", number, len(cases))
        seen.append(_case(case, by))
    return SmtObservations(
        set_name=layouts.name,
        layouts=declared,
        solvers=tuple((solver.name, solver.version) for solver in by),
        cases=tuple(seen),
        excluded=tuple(entry for entry in planned if isinstance(entry, Excluded)),
        lifecycle=_lifecycle(by, progress) if lifecycle else None,
    )


def _case(case: Case, by: Sequence[Solver]) -> CaseSeen:
    answered = {kind: decide(query, by) for kind, query in proofs(case).items()}
    seen = []
    for guard in guards(case).values():
        said = decide(guard.query, by)
        # Each solver's own model must break the layout; the first one's is what is kept.
        first, *_ = (replay(case, guard, model) for model in said.models.values())
        seen.append(GuardSeen(guard, said, first))
    return CaseSeen(case, answered, tuple(seen))


def _lifecycle(by: Sequence[Solver], progress: Progress) -> LifecycleSeen:
    from lockstep.proofs.lifecycle import queries
    from lockstep.proofs.lifecycle.trace import replay as run_trace
    from lockstep.proofs.lifecycle.transition_system import foils, witnesses

    asked = queries()
    answered = []
    for number, query in enumerate(asked):
        progress("asking about the lifecycle", number, len(asked))
        answered.append(decide(query, by))
    models = {entry.query.name: entry.models for entry in answered}
    traces = []
    for run in (*witnesses(), *foils()):
        first, *_ = (run_trace(run, model) for model in models[run.query.name].values())
        traces.append(first.document())
    return LifecycleSeen(tuple(answered), tuple(traces))
