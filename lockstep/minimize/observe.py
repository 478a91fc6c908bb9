"""A case reduced and proved minimal, observed for its certificate."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from lockstep.errors import LockstepError
from lockstep.fuzz.case import Case, parse_case
from lockstep.minimize.dimensions import dimensions, units
from lockstep.minimize.legality import Rules
from lockstep.minimize.memo import Memo, Outcome
from lockstep.minimize.reduce import Progress, Reduced, reduce
from lockstep.minimize.worker import Engine, Shown, Workers


@dataclass(frozen=True)
class FindingSeen:
    """A failure, the smallest case that shows it, and where it came from.

    Attributes:
        model: as [RPL-1] states it.
        environment: the environment tuple, read back by who ran the cases.
        mutation: the operator's name and the digest of its edits; None without one.
        shown: what the reduced case shows.
        reduced: the case, and the outcomes of its single removals.
        held: dimensions that were not reduced, each with the reason.
        source: where the case came from, in words.
        origin: the case that was reduced.
        unmutated: what comes of the reduced case on the engine as it is; None without a mutation.
        closed_by: the commit that mended what was found.
    """

    model: Mapping[str, Any]
    environment: Mapping[str, Any]
    mutation: Mapping[str, str] | None
    shown: Shown
    reduced: Reduced
    held: Mapping[str, str]
    source: str
    origin: Case
    unmutated: Outcome | None = None
    closed_by: str | None = None


def observe(
    case: Case,
    engine: Engine,
    *,
    source: str,
    held: Mapping[str, str],
    jobs: int = 1,
    known: dict[str, Outcome] | None = None,
    keep: dict[str, Outcome] | None = None,
    tell: Progress = lambda stage, checks: None,
) -> FindingSeen:
    """Run a case, reduce it to the same failure, and see what is left of it without a mutation.

    Args:
        case: of a policy or of steps.
        engine: what it is run on.
        source: where the case came from, in words.
        held: dimensions that are not reduced, each with the reason.
        jobs: workers.
        known: outcomes of an earlier search for the same failure.
        keep: filled with all outcomes, also where the search is interrupted.
        tell: told of each stage.

    Raises:
        LockstepError: USAGE, a dimension that there is not; FINDING_NOT_REPRODUCED, the case shows
            no failure, or shows it without the mutation too; the code by which the rules refuse
            it; as `Workers.show`.
    """
    rules, free = Rules(engine.mutation), _free(held)
    if case.schedule is not None:
        _require_legal(case, rules)
    with Workers(engine, jobs) as workers:
        shown = workers.show(case)
        steps = parse_case(shown.case)
        wanted = _signature(shown)
        _require_legal(steps, rules)
        tested = Memo(
            rules.refusal, lambda cases: workers.test(cases, wanted), ahead=jobs, known=known
        )
        try:
            where = "" if shown.failure is None else shown.failure["where"]
            reduced = reduce(steps, tested, free, where, tell)
        finally:
            if keep is not None:
                keep.update(tested.outcomes)
        last, stated = workers.show(reduced.case), workers.stated()
    return FindingSeen(
        model=stated["model"],
        environment=stated["environment"],
        mutation=mutation_of(engine),
        shown=last,
        reduced=reduced,
        held=held,
        source=source,
        origin=steps,
        unmutated=unmutated(reduced.case, engine, wanted),
    )


def _free(held: Collection[str]) -> tuple[str, ...]:
    unknown = sorted(set(held) - set(dimensions()))
    if unknown:
        expected = f"among {', '.join(dimensions())}"
        raise LockstepError("USAGE", "--hold", expected, ", ".join(unknown))
    return tuple(name for name in dimensions() if name not in held)


def _require_legal(case: Case, rules: Rules) -> None:
    if code := rules.refusal(case):
        raise LockstepError(code, "/case", "a legal case of steps", "refused by the rules")


def _signature(shown: Shown) -> tuple[str, str, str]:
    if shown.signature is None:
        raise LockstepError("FINDING_NOT_REPRODUCED", "/case", "a failure", "nothing is wrong")
    return shown.signature


def mutation_of(engine: Engine) -> dict[str, str] | None:
    """Give the operator of an engine as certificates name it.

    Raises:
        LockstepError: MUTATION_UNKNOWN.
    """
    if engine.mutation is None:
        return None
    from lockstep.mutation.load import find

    operator = find(engine.mutation)
    return {"name": operator.id, "sha256": operator.sha256}


def unmutated(case: Case, engine: Engine, wanted: tuple[str, str, str]) -> Outcome | None:
    """Give what comes of a case on the engine as it is; None where it is that already.

    Raises:
        LockstepError: FINDING_NOT_REPRODUCED, it shows the failure, which is no mutation's then.
    """
    if engine.mutation is None:
        return None
    if code := Rules().refusal(case):
        return Outcome("illegal", code)
    as_it_is = Engine(None, engine.recipe, engine.folder, engine.backend, engine.dtype)
    with Workers(as_it_is) as workers:
        (outcome,) = workers.test([case], wanted)
    if outcome.reproduces:
        expected = f"a failure under {engine.mutation} alone"
        raise LockstepError("FINDING_NOT_REPRODUCED", "/unmutated", expected, "the same without it")
    return outcome


def origin_units(seen: FindingSeen) -> int:
    """Give the number of units of the case that was reduced, in its free dimensions."""
    return len(units(seen.origin, _free(seen.held)))
